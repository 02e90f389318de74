"""How a framework is given arguments and what it makes of them; what holds where it is silent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

if TYPE_CHECKING:
    import re

    from trainrx.frameworks.common.dumps import DumpForm, Kind
    from trainrx.frameworks.common.renames import ValueRenames
    from trainrx.frameworks.common.tables import TableContext, Tables
    from trainrx.frameworks.common.view import ArgumentView, Worked
    from trainrx.model.job import RawLaunch

Parser = Literal["hf", "argparse", "hydra", "keys"]
"""hf: HfArgumentParser (argparse with `no_x` for switches that are on, `a-b` for `a_b`); hydra and
keys take exact names only, in which dots lead inside."""


class ArgumentTraits:
    """The part of the protocol that catalogs, fixes and logs ask of arguments."""

    __slots__ = ()
    programs: ClassVar[tuple[str, ...]]
    path: ClassVar[re.Pattern[str] | None]

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
    model_arguments: ClassVar[frozenset[str]] = frozenset(
        {"model", "model_id_or_path", "model_name_or_path", "base_model"}
    )
    """What names the model."""
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

    def value_renames(self) -> ValueRenames | None:
        """Give what knows the names of models, templates and data sets that changed."""
        return None

    def tables(self, context: TableContext) -> Tables:
        """Choose the tables of its catalog a launch is read with."""
        from trainrx.frameworks.common.tables import Tables

        return Tables(context.command)

    # What the catalog and the linter ask ----------------------------------------------------------
    inner_packages: ClassVar[frozenset[str]] = frozenset()
    """Packages whose checks run inside its jobs."""
    parses_values: ClassVar[bool] = False
    """Which of its arguments it reads as JSON is listed by release."""
    switch_packages: ClassVar[Mapping[str, str]] = {}
    """Arguments that, switched on, end the job where a package is not installed."""
    command_packages: ClassVar[tuple[tuple[str, str, str], ...]] = ()
    """Release range, command, and the package it imports whatever is asked of it."""
    held_out_argument: ClassVar[str] = ""
    """The argument with the samples of an evaluation."""
    does_without_flash: ClassVar[bool] = False
    """Where flash-attn is missing, another attention is taken with a warning."""
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
    def effective(self, view: ArgumentView) -> Worked:
        """Give the arguments whose values after parsing differ from those parsed."""
        return {}
