"""What a finder is given: one launch with all that is known of it, or one script."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from trainrx.catalog.catalog import catalog, plain
from trainrx.catalog.resolved import Resolved
from trainrx.catalog.signature import Signature, catalog_command, signature
from trainrx.catalog.tables import judges, tables_of
from trainrx.frameworks import framework_of
from trainrx.frameworks.base import Framework
from trainrx.linter.places import FileLines, LineRange
from trainrx.model.facts import Facts
from trainrx.model.findings import Edit
from trainrx.model.job import RawArg, RawLaunch, Script
from trainrx.model.lint import LintGuard
from trainrx.model.parts import Param, Safety


class RuleHit(msgspec.Struct, frozen=True):
    """One hit of a rule; `values` fill its message. `severity` is "" where the rule's own holds."""

    rule: str
    at: LineRange
    values: Mapping[str, str] = {}
    edits: tuple[Edit, ...] = ()
    safety: Safety | None = None
    severity: str = ""


class LintedJob(msgspec.Struct, frozen=True):
    """One launch, resolved.

    `configs` are the keys of the framework's own config files. `version` is the framework's as
    given, or the range in which all names of the launch exist; `certain` says that it was given.
    `versions` hold it too. `files` are the texts of files at hand by base name.
    """

    launch: RawLaunch
    configs: tuple[RawArg, ...]
    resolved: Resolved
    facts: Facts
    version: str | None
    certain: bool
    versions: Mapping[str, str]
    files: Mapping[str, str]
    texts: FileLines
    params: Mapping[str, Param]
    guards: tuple[LintGuard, ...]

    @property
    def framework(self) -> Framework:
        """Give what is known of the framework of the launch."""
        return framework_of(self.launch.framework)

    @property
    def args(self) -> tuple[RawArg, ...]:
        """Give all arguments as written, command line first."""
        return (*self.launch.args, *self.configs)

    def taken(self, version: str | None = None) -> Signature:
        """Give what the command takes at the job's version, or at another one."""
        owner = self.launch.framework
        tables = tables_of(self.launch, self.configs)
        bits = catalog(owner).of(version or self.version)
        return signature(owner, tables.command, bits, self._given(), tables.beside)

    def ever(self) -> Signature:
        """Give what the command takes at any release."""
        owner = self.launch.framework
        tables = tables_of(self.launch, self.configs)
        return signature(owner, tables.command, catalog(owner).all, self._given(), tables.beside)

    def judged(self) -> bool:
        """Tell whether the catalog lists all that this program takes, and it takes nothing else."""
        closed = self.framework.takes_only_listed(self.launch)
        return closed and is_listed(self.launch, self.configs, self.version)

    def _given(self) -> dict[str, str]:
        return {name: text for name, text in self.versions.items() if name != self.launch.framework}

    def written(self, name: str) -> RawArg | None:
        """Give the argument of this name as the launch has it, the decisive one."""
        wanted = plain(name)
        for arg in reversed(self.launch.args):
            if plain(arg.name) == wanted:
                return arg
        return next((arg for arg in self.configs if plain(arg.name) == wanted), None)


def is_listed(launch: RawLaunch, configs: tuple[RawArg, ...], version: str | None) -> bool:
    """Tell whether a catalog lists all that a program takes, with its defaults."""
    owner = launch.framework
    tables = tables_of(launch, configs)
    known = catalog(owner)
    listed = bool(known.releases) and catalog_command(owner, launch.command) != ""
    listed = listed or tables.command in known.contents.commands
    return listed and judges(tables, owner, known.of(version))


class Page(msgspec.Struct, frozen=True):
    """One script with the launches it holds."""

    script: Script
    launches: tuple[RawLaunch, ...]
    texts: FileLines
