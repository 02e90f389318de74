"""How a framework is started, and what a launch of it does; what holds where it says nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

if TYPE_CHECKING:
    import re

    from trainrx.frameworks.common.processes import Processes
    from trainrx.frameworks.common.task import TaskFound
    from trainrx.launchers.entries import EntryPoint, RecognisedLaunch
    from trainrx.model.job import RawArg, RawLaunch, Role, Setting, Word

Algorithm = Literal["ppo", "grpo"]


class CommandRename(NamedTuple):
    """A command that has another name since a release, and the argument that goes with it."""

    since: str
    old: str
    new: str
    argument: tuple[str, str] | None = None


class StartTraits:
    """The part of the protocol that recognises a launch and names its roles and tasks."""

    __slots__ = ()
    name: ClassVar[str] = ""

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
    makes_output_first: ClassVar[str] = ""
    """The option for the folder of its output, where it makes that before it trains."""

    def lone_process(self, launch: RawLaunch) -> bool:
        """Tell whether one process has all cards of the launch: its program starts no more."""
        return False

    def processes(self, launch: RawLaunch, env: Mapping[str, str | None]) -> Processes:
        """Count the processes its own program starts."""
        from trainrx.frameworks.common.processes import Processes

        return Processes()
