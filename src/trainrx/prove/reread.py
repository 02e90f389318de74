"""Read a launch again once its files are changed: the proof is made on that, not on the plan."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from trainrx.catalog.catalog import plain
from trainrx.catalog.names import framework_facts
from trainrx.evidence.arguments import Dump
from trainrx.facts.all import derive
from trainrx.facts.packages import package_facts
from trainrx.knowledge.guards import broken
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.knowledge.store import Knowledge
from trainrx.launch.given import Given
from trainrx.launch.job import Launch, argument_facts, find_launch, launch_facts, settle
from trainrx.memory.predict import predict
from trainrx.memory.workload import workload_of
from trainrx.model.facts import STATED, Facts
from trainrx.model.findings import Finding
from trainrx.model.hardware import TokenStats
from trainrx.model.job import Input
from trainrx.model.memory import Prediction, Refusal
from trainrx.model.planning import FilePatch
from trainrx.model.refusal import RefusedArgument
from trainrx.model.text import Lang
from trainrx.models.facts import shape_of
from trainrx.prove.recheck import LaunchReading
from trainrx.reason.conditions import holds

NONE: Mapping[str, str] = {}
OF_THE_JOB = ("hardware.", STATED, "model.", "oom.card_gib")
"""What a log tells of a job that no edit of its launch changes."""


class LaunchContext(msgspec.Struct, frozen=True, kw_only=True):
    """All that stays as it is while the launch is edited.

    `known` are the facts of the whole job, the log's included; `refused` the arguments its program
    does not take. Nothing is linted without the rules of `linted`; `found` is what
    lint finds before any edit, where that is known. `unmended` are the texts as they lie on disk of
    files that were mended before anything else is tried.
    """

    given: Given
    knowledge: Knowledge
    versions: Mapping[str, str]
    known: Facts
    refused: tuple[RefusedArgument, ...] = ()
    dumps: tuple[Dump, ...] = ()
    lengths: TokenStats | None = None
    lang: Lang = "en"
    linted: LoadedKnowledge | None = None
    found: tuple[Finding, ...] | None = None
    unmended: Mapping[str, str] = {}


class LaunchReader:
    """Reads a launch before and after edits, with the checks its packages make of it."""

    def __init__(self, around: LaunchContext) -> None:
        self._around = around
        framework = around.known.text("launch.framework") or ""
        self._guards = tuple(
            (guard, when)
            for guard in around.knowledge.guards.values()
            if guard.effect == "reject"
            and (guard.package == framework or guard.package in around.versions)
            and (when := broken(guard)) is not None
        )

    def read(
        self,
        files: Sequence[FilePatch] = (),
        changed: Collection[str] = (),
        *,
        lint: bool = True,
        edited: Mapping[str, str] = NONE,
    ) -> LaunchReading:
        """Read the launch with some files changed.

        Args:
            files: the changed files; none for the launch as it is.
            changed: names of arguments that were edited: what a log printed of them is void.
            lint: whether the files are linted too.
            edited: changed texts of files that say what data is, which no launch reads.
        """
        around = self._around
        given = with_files(around.given, files)
        names = {plain(name) for name in changed}
        given = _outdated(given, names) if names else given
        dumps = tuple(_without(dump, names) for dump in around.dumps)
        raw, _ = find_launch(given, dumps)
        if raw is None:
            no = Refusal(kind="unknown", id="no-launch", reason="no launch is found")
            return LaunchReading(launch=None, facts=Facts(), guards={}, memory=no)
        launch = settle(
            raw, given, versions=around.versions, knowledge=around.knowledge, dumps=dumps
        )
        facts = self._facts(launch)
        return LaunchReading(
            launch=raw,
            facts=facts,
            guards=self.refused(facts),
            memory=self._memory(facts, launch),
            findings=self._errors(given, files, edited) if lint else None,
            style="config" if launch.style == "config" else "arg",
            arguments=launch.resolved.arguments,
            edited=edited,
        )

    def _facts(self, launch: Launch) -> Facts:
        around = self._around
        files = {item.name for item in (*around.given.scripts, *around.given.configs)}
        own = (
            *launch_facts(launch, around.versions),
            *argument_facts(launch, around.knowledge.arguments),
        )
        told = (
            item
            for item in around.known
            if item.how != "derived"
            and item.kind.startswith(OF_THE_JOB)
            # what stands in the files is read from them again
            and not any(at.source in files for at in item.origins)
        )
        known = Facts((*around.given.facts, *own, *told))
        known.add(*framework_facts(known, around.versions))
        torch = around.versions.get("torch", "")
        facts = derive(known, around.knowledge, launch.shape, torch=torch)
        facts.add(*package_facts(facts, around.versions))
        return facts

    def _errors(
        self, given: Given, files: Sequence[FilePatch], edited: Mapping[str, str]
    ) -> Mapping[str, str] | None:
        """Lint the scripts, or else the configurations: errors by rule and message.

        Where its data is at fault, the data is read again too.
        """
        around = self._around
        if around.linted is None:
            return None
        # the linter is loaded only where something is to be proved
        from trainrx.linter.given import lint_given

        known = None if files or edited else around.found
        if known is None:
            rules = around.linted.lint.rules
            of_data = any(
                item.severity == "error" and item.rule in rules and rules[item.rule].group == "data"
                for item in around.found or ()
            )
            known = lint_given(
                given,
                around.versions,
                around.linted,
                around.lang,
                data="" if of_data else None,
                brief=True,
                edited=edited,
            )
        return {i.rule: f"{i.rule}: {i.message}" for i in known if i.severity == "error"}

    def refused(self, facts: Facts) -> Mapping[str, str]:
        """Give the checks that refuse a launch of such facts, id to title."""
        around = self._around
        return {
            guard.id: guard.title.in_(around.lang)
            for guard, when in self._guards
            if holds(when, facts, around.versions) is True
        }

    def _memory(self, facts: Facts, launch: Launch) -> Prediction | Refusal:
        known = self._around.knowledge
        shape = launch.shape or shape_of(facts, known.models)
        found = workload_of(
            facts, shape, self._around.lengths, models=known.models, datasets=known.datasets
        )
        if isinstance(found, Refusal):
            return found
        work, assumed = found
        predicted = predict(work, known.memory)
        if isinstance(predicted, Refusal):
            return predicted
        return msgspec.structs.replace(predicted, assumptions=assumed)


def with_files(given: Given, files: Iterable[FilePatch]) -> Given:
    """Give the inputs with changed texts; a file that was not among them is a further config."""
    changed = {file.name: file.after for file in files}
    if not changed:
        return given
    scripts, configs = (_with(items, changed) for items in (given.scripts, given.configs))
    named = {item.name for item in (*scripts, *configs)}
    new = (
        Input(kind="config", name=name, text=text)
        for name, text in changed.items()
        if name not in named
    )
    return msgspec.structs.replace(given, scripts=scripts, configs=(*configs, *new))


def _with(items: Sequence[Input], changed: Mapping[str, str]) -> tuple[Input, ...]:
    return tuple(
        msgspec.structs.replace(item, text=changed[item.name]) if item.name in changed else item
        for item in items
    )


def _outdated(given: Given, names: Collection[str]) -> Given:
    """Leave out of the arguments a former run saved what is edited: the next run saves anew."""
    return msgspec.structs.replace(given, configs=tuple(_less(i, names) for i in given.configs))


def _less(item: Input, names: Collection[str]) -> Input:
    if item.kind != "args" or not item.text:
        return item
    try:
        held = msgspec.json.decode(item.text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return item
    if not isinstance(held, dict) or not any(plain(key) in names for key in held):
        return item
    left = {key: value for key, value in held.items() if plain(key) not in names}
    return msgspec.structs.replace(item, text=msgspec.json.encode(left).decode())


def _without(dump: Dump, names: Collection[str]) -> Dump:
    values = tuple(arg for arg in dump.values if plain(arg.name) not in names)
    return msgspec.structs.replace(dump, values=values)
