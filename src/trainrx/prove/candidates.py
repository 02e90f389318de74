"""A job that can be worked out with other values: quickly for a search, in full for a proof."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

import msgspec

from trainrx.catalog.catalog import plain
from trainrx.catalog.names import framework_facts
from trainrx.diagnosis.foreseen import facts_with
from trainrx.evidence.arguments import Dump
from trainrx.facts.all import derive, derive_memory
from trainrx.fix.changes import Target, change_to
from trainrx.knowledge.conditions import arguments_of
from trainrx.launch.job import Launch, argument_facts, find_launch, launch_facts, settle
from trainrx.memory.model import Model
from trainrx.memory.predict import peak, predict
from trainrx.memory.workload import workload_of
from trainrx.model.facts import Facts, Origin, Scalar
from trainrx.model.job import EnvVar, RawArg, RawLaunch
from trainrx.model.memory import Figure, Prediction, Refusal, Workload
from trainrx.model.planning import Move
from trainrx.model.result import Change
from trainrx.models.facts import shape_of
from trainrx.prove.checks import (
    batch_check,
    engine_check,
    generations_check,
    guards_check,
    hardware_check,
    host_check,
    read_again_check,
    refusals_of,
    refused_by,
)
from trainrx.prove.mending import Ways, begun, join, move_of
from trainrx.prove.planner import Proved
from trainrx.prove.reread import OF_THE_JOB, LaunchContext
from trainrx.prove.worst_case import at_worst, seen_scale, tower_attention

FAILED = ("oom.asked_gib", "oom.allocated_gib", "oom.phase", "oom.site")
HERE = Origin(source="plan")


class Subject(NamedTuple):
    """A job as it was read: its launch settled, and all facts of it."""

    around: LaunchContext
    launch: Launch
    facts: Facts


def subject_of(around: LaunchContext) -> Subject | None:
    """Find the launch of a job; None when there is none."""
    raw, _ = find_launch(around.given, around.dumps)
    if raw is None:
        return None
    launch = settle(
        raw,
        around.given,
        versions=around.versions,
        knowledge=around.knowledge,
        dumps=around.dumps,
    )
    return Subject(around, launch, _facts(around, launch))


def _facts(around: LaunchContext, launch: Launch) -> Facts:
    """Derive all facts of a launch, with what else is known of the job."""
    own = (
        *launch_facts(launch, around.versions),
        *argument_facts(launch, _arguments(around, launch.raw.framework)),
    )
    told = [f for f in around.known if f.how != "derived" and f.kind.startswith(OF_THE_JOB)]
    seen = [f for f in around.known if f.kind.startswith("oom.")]
    known = Facts((*around.given.facts, *own, *told, *seen))
    known.add(*framework_facts(known, around.versions))
    torch = around.versions.get("torch", "")
    return derive(known, around.knowledge, launch.shape, torch=torch)


def _arguments(around: LaunchContext, framework: str) -> tuple[str, ...]:
    tests = refusals_of(around.knowledge.guards.values(), framework).values()
    named = (name for test in tests for name in arguments_of(test))
    return tuple(dict.fromkeys((*around.knowledge.arguments, *named)))


def scaled(figure: Figure, scale: float) -> Figure:
    """Correct a figure by what the job was seen to take."""
    if scale == 1.0:
        return figure
    return Figure(gib=figure.gib * scale, low=figure.low * scale, high=figure.high * scale)


class CandidateJob:
    """Works a job out with other values: quickly for the search, in full for the proof."""

    def __init__(self, subject: Subject, *, failed: bool | None = None) -> None:
        self._subject = subject
        self._known = subject.around.knowledge
        self.failed = any(k in subject.facts for k in FAILED) if failed is None else failed
        self.factor = 1.0
        launch = subject.launch
        self.target = Target(
            facts=subject.facts,
            knowledge=self._known,
            versions=subject.around.versions,
            style="config" if launch.style == "config" else "arg",
            lang=subject.around.lang,
            launch=launch.raw,
        )
        framework = subject.facts.text("launch.framework") or ""
        self._tests = refusals_of(self._known.guards.values(), framework)
        self._refused = refused_by(self._tests, subject.facts, subject.around.versions)
        self._begun = begun(subject.around.known)
        # no value tried here names another model: one name to compare with is enough
        self._shape = launch.shape or shape_of(subject.facts, self._known.models)
        own = () if self._shape is None else (self._shape,)
        self._brief = msgspec.structs.replace(self._known, models=own)

    def work(self, values: Mapping[str, Scalar]) -> Workload | Refusal:
        """Give the workload, at its worst, with some values applied."""
        found = self._plain(self._with(values))
        return found if isinstance(found, Refusal) else at_worst(found, failed=self.failed)

    def predicted(self, values: Mapping[str, Scalar]) -> Prediction | Refusal:
        """Predict the job with some values applied, as an estimate would."""
        found = self._plain(self._with(values))
        return found if isinstance(found, Refusal) else predict(found, self._known.memory)

    def _with(self, values: Mapping[str, Scalar]) -> Facts:
        known = facts_with(self._subject.facts, self._card() | dict(values))
        torch = self._subject.around.versions.get("torch", "")
        return derive_memory(known, self._brief, self._subject.launch.shape, torch=torch)

    def _card(self) -> dict[str, Scalar]:
        seen = self._subject.facts.number("oom.card_gib")
        return {"hardware.gpu_gib": seen} if seen and not self._knows_card() else {}

    def _knows_card(self) -> bool:
        return "hardware.gpu_gib" in self._subject.facts

    def _plain(self, facts: Facts) -> Workload | Refusal:
        found = workload_of(
            facts,
            self._shape,
            self._subject.around.lengths,
            models=self._known.models,
            datasets=self._known.datasets,
        )
        return found if isinstance(found, Refusal) else found[0]

    def scale(self, base: Workload, model: Model) -> float:
        """Give by how much the job takes more than predicted, if it failed: at least its card."""
        if not self.failed:
            return 1.0
        found = peak(base, model, self._known.memory)
        need = found.need + tower_attention(base)
        if need > (base.card_gib or 0.0):
            return 1.0
        least = (base.card_gib or 0.0) / need
        return max(least, seen_scale(self._subject.facts, need))

    def prove(self, values: Mapping[str, Scalar]) -> Proved | None:
        """Write the values into the launch, read it again, and predict what comes of it."""
        spelled = self._spelled(values)
        if spelled is None:
            return None
        subject = _changed(self._subject, spelled, values)
        facts, before = subject.facts, self._subject.facts
        if not self._knows_card() and (card := self._card()):
            facts = facts_with(facts, card)
        found = self._plain(facts)
        if isinstance(found, Refusal):
            return None
        prediction = predict(found, self._known.memory)
        if isinstance(prediction, Refusal):
            return None
        refused = refused_by(self._tests, facts, subject.around.versions)
        return Proved(
            work=at_worst(found, failed=self.failed),
            after=scaled(prediction.card, self.factor),
            changes=tuple(change for change in spelled if change.spelled),
            checks=(
                read_again_check(values, facts),
                guards_check(self._refused, self._counted(refused)),
                generations_check(before, facts),
                batch_check(before, facts),
                engine_check(before, facts),
                hardware_check(values, facts),
                host_check(facts, prediction.host.peak),
            ),
            batch=_whole(facts.number("batch.effective")),
            refused=tuple(sorted(self._counted(refused))),
            worse=not refused <= self._refused,
        )

    def _counted(self, refused: frozenset[str]) -> frozenset[str]:
        """Leave out what refuses the launch by the book, and was seen to let it train."""
        return refused - self._refused if self._begun else refused

    def mend(self, values: Mapping[str, Scalar], keep: AbstractSet[str]) -> tuple[Move, ...]:
        """Give what must change besides, or the framework refuses the launch with some values."""
        changed = self._read(values)
        if changed is None:
            return ()
        ways = Ways(
            job=self.target,
            read=lambda more: self._read(dict(values) | dict(more)),
            refused=lambda facts: self._counted(
                refused_by(self._tests, facts, self._subject.around.versions)
            ),
            held=keep | values.keys(),
        )
        return tuple(map(move_of, join(changed, ways)))

    def _read(self, values: Mapping[str, Scalar]) -> Facts | None:
        """Give the facts of the launch with values written into it."""
        changes = self._spelled(values)
        return None if changes is None else _changed(self._subject, changes, values).facts

    def _spelled(self, values: Mapping[str, Scalar]) -> tuple[Change, ...] | None:
        changes = [change_to(name, value, self.target) for name, value in values.items()]
        spelled = [change for change in changes if change is not None]
        if len(spelled) < len(changes):
            return None
        # one argument may be what several parameters mean
        return tuple({(item.param, item.to): item for item in reversed(spelled)}.values())[::-1]


def _changed(subject: Subject, changes: Iterable[Change], values: Mapping[str, Scalar]) -> Subject:
    """Give the job with its launch changed: written in its own spelling and settled again."""
    around, raw = subject.around, subject.launch.raw
    names = {plain(change.param) for change in changes}
    for change in changes:
        raw = with_change(raw, change)
    dumps = tuple(_without(dump, names) for dump in around.dumps)
    known = Facts(facts_with(around.known, values)) if values else around.known
    given = msgspec.structs.replace(
        around.given, facts=tuple(f for f in around.given.facts if f.kind not in values)
    )
    told = Facts(f for f in known if f.kind not in values or f.kind.startswith("hardware."))
    around = msgspec.structs.replace(around, dumps=dumps, given=given, known=told)
    launch = settle(raw, given, versions=around.versions, knowledge=around.knowledge, dumps=dumps)
    return Subject(around, launch, _facts(around, launch))


def _without(dump: Dump, names: Collection[str]) -> Dump:
    kept = tuple(arg for arg in dump.values if plain(arg.name) not in names)
    return msgspec.structs.replace(dump, values=kept)


def with_change(raw: RawLaunch, change: Change) -> RawLaunch:
    """Give a launch with one setting in it changed or added, under the name the change has."""
    if change.kind == "env":
        kept = tuple(item for item in raw.env if item.name != change.param)
        new = EnvVar(name=change.param, value=change.to or "", origin=HERE)
        return msgspec.structs.replace(raw, env=(*kept, new))
    if change.kind not in ("arg", "config_file"):
        return raw
    words = () if change.to in (None, "") else (change.to or "",)
    new_arg = RawArg(name=change.param, values=words, origin=HERE)
    if any(plain(arg.name) == plain(change.param) for arg in raw.launcher):
        return msgspec.structs.replace(raw, launcher=_put(raw.launcher, new_arg))
    return msgspec.structs.replace(raw, args=_put(raw.args, new_arg))


def _put(args: Sequence[RawArg], new: RawArg) -> tuple[RawArg, ...]:
    kept = tuple(arg for arg in args if plain(arg.name) != plain(new.name))
    return (*kept, new)


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
