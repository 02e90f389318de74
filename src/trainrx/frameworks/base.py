"""The protocol of a framework: all that sets one apart, with what holds where it says nothing.

One module or folder of `trainrx.frameworks` per framework makes a subclass of `Framework` and its
only instance, `FRAMEWORK`. What can be said as data is an attribute; a method takes plain values or
records of lower floors. Everything that is not said is unknown or not so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, TypeVar

from trainrx.frameworks.common.layout import LayoutTraits
from trainrx.frameworks.common.memory import MemoryTraits

if TYPE_CHECKING:
    import re

    from trainrx.frameworks.common.dumps import DumpForm, Kind
    from trainrx.frameworks.common.processes import Processes
    from trainrx.frameworks.common.saved import Loaded
    from trainrx.frameworks.common.tables import TableContext, Tables
    from trainrx.frameworks.common.task import TaskFound
    from trainrx.frameworks.common.view import View, Worked
    from trainrx.launchers.entries import EntryPoint, RecognisedLaunch
    from trainrx.model.job import RawArg, RawLaunch, Role, Setting, Word

T = TypeVar("T")


class CommandRename(NamedTuple):
    """A command that has another name since a release, and the argument that goes with it."""

    since: str
    old: str
    new: str
    argument: tuple[str, str] | None = None


Algorithm = Literal["ppo", "grpo"]
Parser = Literal["hf", "argparse", "hydra", "keys"]
"""hf: HfArgumentParser (argparse with `no_x` for switches that are on, `a-b` for `a_b`); hydra and
keys take exact names only, in which dots lead inside."""


class Framework(MemoryTraits, LayoutTraits):
    """What trains, or is served, under a name of its own."""

    __slots__ = ()
    name: ClassVar[str] = ""

    # What it is -----------------------------------------------------------------------------------
    spelled: ClassVar[bool] = False
    """Its arguments are spelled in kb/params; of the others knowledge speaks by name only."""
    library: ClassVar[bool] = False
    """Others install it as a library, so that its release may matter to any job."""
    lends_names: ClassVar[bool] = False
    """Its arguments reach programs of many hands: such a name tells nothing of what runs."""
    fork_of: ClassVar[str] = ""
    """What it goes on from: its logs and files show that one too."""
    installed_as: ClassVar[str] = ""
    """The framework under whose name it is installed, as a fork may be."""
    builds_on: ClassVar[tuple[str, ...]] = ()
    """Frameworks whose names it takes beside its own."""

    repository: ClassVar[str] = ""
    """Its place on GitHub, where the address does not name it."""

    # How it is installed --------------------------------------------------------------------------
    checkout: ClassVar[tuple[str, str] | None] = None
    """Where its source is, and what installs it again after a pull: it runs from its source. The
    package index does not have it, or under its name an empty package 0.0.0."""
    folders: ClassVar[tuple[str, ...]] = ()
    """Its modules, and folders of a checkout: what a path of its code has in it."""
    plain_folders: ClassVar[bool] = False
    """Folders of anybody's own may be called so."""

    # How it is started ----------------------------------------------------------------------------
    precedence: ClassVar[int] = 0
    """Of several that know a launch the one with the lowest is right."""
    programs: ClassVar[tuple[str, ...]] = ()
    """Its commands: `trl`, as in `trl sft`."""
    commands: ClassVar[frozenset[str]] = frozenset()
    """What stands behind them."""
    path: ClassVar[re.Pattern[str] | None] = None
    """Its scripts and modules by their path; `name` is the part that becomes the command."""
    spoken: ClassVar[str] = ""
    """The program as people type it, where it is not called after the framework."""
    renamed_commands: ClassVar[Sequence[CommandRename]] = ()
    bare_programs: ClassVar[Sequence[tuple[str, str]]] = ()
    """What is run with arguments alone: the first whose mark stands among them."""
    default_command: ClassVar[str] = ""
    """The command a configuration is for that comes without one."""
    positional: ClassVar[str] = ""
    """The argument its first word is, without a name."""

    def recognise(self, entry: EntryPoint) -> RecognisedLaunch | None:
        """Read a launch of its programs, scripts and modules; None for any other."""
        return self.by_program(entry) or self.by_path(entry)

    def by_program(self, entry: EntryPoint) -> RecognisedLaunch | None:
        """Read `trl sft ...`, and `python -m trl sft ...`."""
        if entry.name.partition(".")[0] not in self.programs or not entry.args:
            return None
        return self.by_command(entry.args)

    def by_command(self, args: Sequence[Word], prefix: str = "") -> RecognisedLaunch | None:
        """Read what stands behind a program: the command and its arguments."""
        first = args[0].text if args else ""
        known = (
            name for name in (first, first.replace("_", "-")) if prefix + name in self.commands
        )
        command = next(known, "")
        return self.launch(prefix + command, args[1:]) if command else None

    def by_path(self, entry: EntryPoint) -> RecognisedLaunch | None:
        """Read a launch of a script or module of its own."""
        found = self.matched(entry)
        return None if found is None else self.launch(self.named_by(found["name"]), entry.args)

    def matched(self, entry: EntryPoint) -> re.Match[str] | None:
        """Match the path of a script or module of its own."""
        return None if self.path is None else self.path.fullmatch(entry.path.text)

    def named_by(self, name: str) -> str:
        """Give the command a script's name stands for: `main_ppo`, `train_sft`."""
        return name.removeprefix("main_").removeprefix("train_").replace("_", "-")

    def launch(self, command: str, args: Sequence[Word]) -> RecognisedLaunch:
        """Say that a launch is of this framework."""
        from trainrx.launchers.entries import RecognisedLaunch

        return RecognisedLaunch(self.name, command, tuple(args))

    def typed(self, command: str) -> str:
        """Give a command as people type it; Megatron's stand alone."""
        alone = command.startswith("megatron ")
        return command if alone else f"{self.spoken or self.name} {command}".strip()

    def releases_starting(self, launch: RawLaunch) -> str | None:
        """Tell the releases that have the program of a launch, or take its file so."""

    def python_class(self, name: str) -> Literal["", "Config", "Trainer"]:
        """Tell a class of its own that programs make: a configuration or a trainer."""
        return ""

    def in_python(self, classes: Sequence[str], imports: Collection[str]) -> str | None:
        """Give the command a program is that makes objects of classes; None where it is another's.

        Args:
            classes: configurations and trainers it makes, the telling one first.
            imports: modules it imports.
        """

    # What a launch does ---------------------------------------------------------------------------
    command_roles: ClassVar[Mapping[str, Role]] = {}
    """Its commands that do not train."""
    servers: ClassVar[frozenset[str]] = frozenset()
    """Commands that may serve a trainer: its arguments tell as what."""
    policy_gradient: ClassVar[frozenset[str]] = frozenset()
    """Commands that are GRPO or PPO by their advantage estimator."""
    unset_advantage: ClassVar[Algorithm] = "ppo"
    """What these are where it is not set."""
    default_tasks: ClassVar[Mapping[str, str]] = {}
    """What a command trains with where nothing says so."""

    def role(self, command: str, program: str, names: Collection[str]) -> Role:
        """Name the role of one launch by itself: command, program, names of its arguments."""
        return self.command_roles.get(command.removeprefix("megatron "), "trainer")

    def task(
        self,
        command: str,
        launch: RawLaunch,
        configs: Sequence[RawArg],
        settings: Mapping[str, Setting],
    ) -> TaskFound | None:
        """Name the task by arguments of its own and where it stands; None where none tells."""

    runs_engine: ClassVar[bool] = False
    """An inference engine takes part in all it does."""
    is_engine: ClassVar[bool] = False
    """Runs inside the jobs of other frameworks."""
    names_data: ClassVar[bool] = False
    """Every run names its data by arguments."""

    def lone_process(self, launch: RawLaunch) -> bool:
        """Tell whether one process has all cards of the launch: its program starts no more."""
        return False

    # How its arguments are written ----------------------------------------------------------------
    parser: ClassVar[Parser] = "hf"
    """What reads its command line."""
    training_arguments: ClassVar[bool] = False
    """Its arguments are TrainingArguments of transformers, with more."""
    catalog_commands: ClassVar[tuple[str, ...]] = ()
    """What its catalog calls its commands, by what the launch calls them."""
    lineage: ClassVar[tuple[str, ...]] = ()
    """Whose arguments it takes, its own first; versions are those of each."""
    also_called: ClassVar[tuple[str, ...]] = ()
    """Further names people give it by, in lower case with dashes."""
    two_dashes: ClassVar[bool] = False
    """A name behind one dash is another thing."""
    composed: ClassVar[bool] = False
    """Hydra composes its configuration of groups, whose defaults are those of the launch."""
    ships_presets: ClassVar[bool] = False
    """Brings DeepSpeed configurations, called by name."""
    type_named_model: ClassVar[str] = ""
    """Releases in which the type of a model named the model itself."""
    refuses_uneven_groups: ClassVar[bool] = False
    """Stops where the generations of a prompt do not divide a generation batch."""
    handed_on: ClassVar[str | None] = None
    """The command of its catalog whose arguments frameworks hand on; "" is all of them."""
    usage_names: ClassVar[Mapping[str, str]] = {}
    """Its commands by the name their parser puts in front of its message."""
    places_engine: ClassVar[str] = ""
    """Releases in which workers for inference say where the engine runs."""
    renames_model_types: ClassVar[bool] = False
    """Its names of model types change with releases."""
    unchecked_files: ClassVar[bool] = False
    """What a file gives is handed on as it is: no parser looks at types and choices."""
    overrides_since: ClassVar[str] = ""
    """Releases that read what stands behind a file; before, nothing was."""
    bare_assigns: ClassVar[bool] = False
    """`name=value` without dashes replaces what its file says."""
    file_flags: ClassVar[tuple[str, ...]] = ()
    """Flags whose value is the file with the settings."""
    refuses_unknown: ClassVar[bool] = False
    """Stops on an argument it does not know."""
    takes_overrides: ClassVar[bool] = False
    """Takes `name=value` without dashes."""
    only_assigns: ClassVar[bool] = False
    """Takes nothing but `name=value`."""
    edits_assigned: ClassVar[bool] = False
    """What is added behind a file is written `name=value`."""
    omegaconf: ClassVar[bool] = False
    """`${a.b}` in a file stands for another key."""
    nested_files: ClassVar[bool] = False
    """Its files are mappings of mappings, read by dotted names."""
    nests_changes: ClassVar[bool] = False
    """A change of its files is written as mappings of mappings."""
    sections: ClassVar[bool] = False
    """`enabled: false` in a mapping of a file turns the mapping off."""

    def takes_only_listed(self, launch: RawLaunch) -> bool:
        """Tell whether its catalog lists all that this program takes, and it takes nothing else."""
        return self.refuses_unknown

    def is_own_program(self, program: str) -> bool:
        """Tell whether a program is its own: another one may add names before it calls it."""
        bare = program.replace("\\", "/").rpartition("/")[2].removesuffix(".exe")
        own = bare in ("", *self.programs)
        return own or (self.path is not None and self.path.fullmatch(program) is not None)

    def tables(self, context: TableContext) -> Tables:
        """Choose the tables of its catalog a launch is read with."""
        from trainrx.frameworks.common.tables import Tables

        return Tables(context.command)

    # Its files ------------------------------------------------------------------------------------
    telling_keys: ClassVar[frozenset[str]] = frozenset()
    """Keys only its configuration has."""
    usual_keys: ClassVar[frozenset[str]] = frozenset()
    """Keys that stand in its configuration, and in others."""
    keeps_arguments: ClassVar[bool] = False
    """Writes all its arguments beside what it trains: args.json."""
    environment_key: ClassVar[str] = ""
    """The key of its file below which variables stand."""

    def parents(self, args: Iterable[RawArg]) -> Iterable[str]:
        """Give the files a configuration builds on."""
        return ()

    def named_files(self, args: Sequence[RawArg]) -> Iterable[str]:
        """Give the files several flags together stand for."""
        return ()

    def in_order(self, texts: Mapping[str, str]) -> Iterable[tuple[str, str]]:
        """Give files in the order their values count, the decisive last."""
        return texts.items()

    def shell_first(self, version: str | None) -> bool:
        """Tell whether variables of the shell go before those of its file."""
        return False

    def appended_file(self, launch: RawLaunch, version: str | None) -> str:
        """Name the file whose values are put behind the command line, "" for none."""
        return ""

    def takes_config(self, launch: RawLaunch, version: str | None) -> bool:
        """Tell whether `--config` is taken before its parser sees it."""
        return True

    def command_in_file(self, args: Sequence[RawArg]) -> str:
        """Give the command a configuration is for, "" where it does not tell."""
        return self.default_command

    def command_with_files(self, launch: RawLaunch, args: Sequence[RawArg]) -> str:
        """Give the command, with what the files say of it."""
        return launch.command

    def is_part(self, launch: RawLaunch, args: Sequence[RawArg], files: Collection[str]) -> bool:
        """Tell whether the files at hand are less than what the program needs to begin."""
        return False

    def run_folders(self, launch: RawLaunch, version: str | None) -> tuple[str, ...]:
        """Give the folders whose saved arguments a launch takes back, in the order it looks."""
        return ()

    def loaded_back(
        self, launch: RawLaunch, saved: Sequence[RawArg], version: str | None
    ) -> Loaded:
        """Choose what of saved arguments a launch takes back."""
        from trainrx.frameworks.common.saved import Loaded

        return Loaded()

    def saved_beyond(self, args: Sequence[RawArg]) -> tuple[RawArg, ...]:
        """Give what saved arguments hold inside of others."""
        return ()

    def takes_file_first(self, version: str | None) -> bool:
        """Tell whether a file must be the first argument, without a flag."""
        return False

    # What the catalog and the linter ask ----------------------------------------------------------
    inner_packages: ClassVar[frozenset[str]] = frozenset()
    """Packages whose checks run inside its jobs."""
    parses_values: ClassVar[bool] = False
    """Which of its arguments it reads as JSON is listed by release."""
    held_out_argument: ClassVar[str] = ""
    """The argument with the samples of an evaluation."""
    group_keys: ClassVar[frozenset[str]] = frozenset()
    """Keys of a file that is for several programs at once."""
    file_of_any_command: ClassVar[bool] = False
    """A file does not say which command it is for."""

    def counts_samples(self, version: str | None) -> bool:
        """Tell whether `#` behind a data set counts samples of its training."""
        return False

    # What its log prints --------------------------------------------------------------------------
    def dumps(self) -> Iterable[DumpForm]:
        """Give the forms in which it prints its arguments."""
        return ()

    def printed_object(self, name: str, before: str) -> tuple[str, Kind] | None:
        """Tell an object as it prints it: the command it is of, and what it is; None for others'.

        Args:
            name: the class.
            before: what stands in front on its line.
        """

    # What it computes -----------------------------------------------------------------------------
    def effective(self, view: View) -> Worked:
        """Give the arguments whose values after parsing differ from those parsed."""
        return {}

    def processes(self, launch: RawLaunch, env: Mapping[str, str | None]) -> Processes:
        """Count the processes its own program starts."""
        from trainrx.frameworks.common.processes import Processes

        return Processes()

    own_adapters: ClassVar[bool] = False
    """Adapters are in the dtype of the model; peft makes them fp32."""

    # What follows from the above ------------------------------------------------------------------
    @property
    def only_trains(self) -> bool:
        """It is installed for nothing but training."""
        return self.spelled and not self.library

    @property
    def only_named(self) -> bool:
        """People train with it and knowledge speaks of it; its arguments are not listed."""
        return bool(self.name) and not self.spelled and not self.library

    @property
    def owns_names(self) -> bool:
        """Its names mean nothing to other frameworks."""
        return bool(self.name) and not self.lends_names

    @property
    def is_lent(self) -> bool:
        """Other frameworks install it as a library, though its names are its own."""
        return self.library and self.owns_names

    def own_versions(self, versions: Mapping[str, T]) -> dict[str, T]:
        """Give versions in which a fork is called by its own name, not by that of its origin.

        Its releases are no releases of the origin: verl 0.3.2 of EasyR1 is not verl.
        """
        named = dict(versions)
        if self.installed_as in named:
            own = named.pop(self.installed_as)
            named.setdefault(self.name, own)
        return named
