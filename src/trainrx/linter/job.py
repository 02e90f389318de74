"""A launch as rules judge it: all that is known of it; and a script with its launches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from trainrx.catalog.catalog import catalog, plain
from trainrx.catalog.resolved import Resolved
from trainrx.catalog.signature import Signature, catalog_command, signature
from trainrx.catalog.tables import judges, tables_of
from trainrx.facts.engine import engine_facts, request_facts
from trainrx.facts.guards import guard_facts
from trainrx.facts.layout import layout_facts
from trainrx.facts.training import training_facts, vision_facts
from trainrx.frameworks import framework_of
from trainrx.frameworks.base import Framework
from trainrx.knowledge.conditions import ARGUMENT
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.facts import counted
from trainrx.linter.places import FileLines, LineRange
from trainrx.model.catalog import Value
from trainrx.model.facts import Fact, Facts, Scalar, fact
from trainrx.model.findings import Edit, Unread
from trainrx.model.hardware import ModelShape
from trainrx.model.job import RawArg, RawLaunch, Script
from trainrx.model.lint import LintGuard, LintKnowledge
from trainrx.model.parts import Param, Safety
from trainrx.models.facts import model_facts, shape_of

if TYPE_CHECKING:
    from trainrx.data.job import DataJob


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
    `versions` hold it too. `files` are the texts of files at hand by base name, `unread` what of
    them could not be read. `loaded` is all that is known beside the rules.
    `data` says how its data is read, None where that is not asked for.
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
    loaded: LoadedKnowledge
    data: DataJob | None = None
    unread: tuple[Unread, ...] = ()

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


VARIABLE = "env."
_NONE = "none"
_OF_DATA = ("dataset", "val_dataset", "cached_dataset", "split_dataset_ratio", "streaming")
"""Arguments ms-swift takes from the checkpoint with `load_data_args`: what is not given is not
known."""


def facts_of(
    launch: RawLaunch,
    resolved: Resolved,
    given: Sequence[Fact],
    *,
    wanted: Iterable[str],
    knowledge: LintKnowledge,
    versions: Mapping[str, str],
    shape: ModelShape | None = None,
) -> Facts:
    """Put together what stands in the launch and what follows from it.

    What is only assumed (the default of the newest release, where the version is not known) is
    left out: no finding may rest on it.

    Args:
        launch: the command.
        resolved: what it sets.
        given: what the caller says of the hardware.
        wanted: arguments (`arg.NAME`) that conditions ask for.
        knowledge: shapes of models, and what facts that compare others are made of.
        versions: package name to version text.
        shape: the model's own, from its config.json.
    """
    own = [i for i in _launch_facts(launch, resolved, versions) if _is_sure(i, launch)]
    asked = (*_argument_facts(launch, resolved, wanted), *_variable_facts(launch))
    facts = Facts((*given, *own, *asked))
    facts.add(*model_facts(facts, knowledge.models, shape))
    facts.add(*training_facts(facts))
    facts.add(*layout_facts(facts))
    facts.add(*vision_facts(facts))
    facts.add(*engine_facts(facts, shape or shape_of(facts, knowledge.models)))
    facts.add(*request_facts(facts))
    facts.add(*guard_facts(facts, knowledge.relations))
    return facts


def _is_sure(item: Fact, launch: RawLaunch) -> bool:
    """Tell what follows from the launch from what is only assumed.

    That `swift` starts one process where nothing asks for more is how its program works; of a
    program of someone's own that is not at hand it is a guess.
    """
    counts = item.kind == "parallel.processes_per_node" and not launch.alone
    return item.how != "assumed" or counts


def without_defaults(resolved: Resolved) -> Resolved:
    """Give what a launch sets itself: its program starts from a configuration of its own."""
    given = {n: a for n, a in resolved.arguments.items() if a.via not in ("default", "computed")}
    facts = tuple(item for item in resolved.facts if item.how != "default")
    return msgspec.structs.replace(resolved, arguments=given, facts=facts)


def _launch_facts(
    launch: RawLaunch, resolved: Resolved, versions: Mapping[str, str]
) -> Iterable[Fact]:
    here = (launch.origin,)
    for item in resolved.facts:
        yield msgspec.structs.replace(item, origins=here) if not item.origins else item
    version = versions.get(launch.framework)
    if version:
        yield fact("launch.framework_version", version, launch.origin)


def _argument_facts(launch: RawLaunch, resolved: Resolved, wanted: Iterable[str]) -> Iterable[Fact]:
    saved = resolved.arguments.get("load_data_args")
    taken_back = _OF_DATA if saved is not None and saved.known and saved.value is True else ()
    for name in wanted:
        item = resolved.arguments.get(name.removeprefix(ARGUMENT))
        if item is not None and item.known and (item.origins or item.name not in taken_back):
            origins = item.origins or (launch.origin,)
            yield fact(name, _plain(item.value), *origins, how=item.how)
            yield from counted(item.name, item.value, *origins, how=item.how)


def _variable_facts(launch: RawLaunch) -> Iterable[Fact]:
    for item in launch.env:
        if item.value is not None:
            yield fact(f"{VARIABLE}{item.name}", item.value, item.origin)


def _plain(value: Value) -> Scalar:
    if value is None:
        return _NONE
    if isinstance(value, list):
        return " ".join(str(item) for item in value)
    return str(value) if isinstance(value, dict) else value
