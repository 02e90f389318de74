"""What notes state of the job that failed, as facts and versions.

They are a person's word: what a machine printed or what was given as an option, a command or a
configuration goes before them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from trainrx.catalog.framework_choice import FrameworkChoice
from trainrx.inputs.hardware import read_gpu
from trainrx.knowledge.store import Knowledge
from trainrx.launch.cards import card_facts
from trainrx.launch.prose import hardware, names
from trainrx.launch.prose.clauses import Clause, Statement, agreed, clauses
from trainrx.launch.prose.framework import framework_meant
from trainrx.launch.prose.phases import PHASES, phases
from trainrx.launch.prose.settings import KINDS, settings, settled
from trainrx.model.facts import STATED, Fact, fact
from trainrx.model.job import Input


class Stated(msgspec.Struct, frozen=True, kw_only=True):
    """What notes state: facts, versions by package, and the framework they are about."""

    facts: tuple[Fact, ...] = ()
    versions: dict[str, str] = {}
    framework: FrameworkChoice | None = None


def stated(
    notes: Sequence[Input], knowledge: Knowledge, listed: Mapping[str, str] | None = None
) -> Stated:
    """Read what notes state; nothing where two statements differ.

    Args:
        notes: what people wrote.
        knowledge: names of cards and models.
        listed: versions of packages that were listed beside them.
    """
    parts = (clause for note in notes for clause in clauses(note))
    said = {item.kind: item for item in agreed(s for part in parts for s in _read(part, knowledge))}
    versions = {
        kind.removeprefix(names.VERSION): str(item.value)
        for kind, item in said.items()
        if kind.startswith(names.VERSION)
    }
    return Stated(
        facts=(*_hardware(said, knowledge), *_model(said), *_settings(said), *_phase(said)),
        versions=versions,
        framework=framework_meant(notes, {**versions, **(listed or {})}),
    )


def _read(clause: Clause, knowledge: Knowledge) -> Iterator[Statement]:
    yield from hardware.hardware(clause, knowledge.gpus)
    yield from names.models(clause, knowledge.models)
    yield from names.versions(clause)
    yield from settings(clause)
    yield from phases(clause)


def _hardware(said: Mapping[str, Statement], knowledge: Knowledge) -> Iterator[Fact]:
    named, memory = said.get(hardware.CARD), said.get(hardware.MEMORY)
    first = named or memory
    if first is not None:
        # the memory of a card may stand apart from its name
        words = dict.fromkeys(str(item.value) for item in (named, memory) if item is not None)
        reading = read_gpu(" ".join(words), knowledge.gpus)
        yield from map(_of_hardware, card_facts(reading, first.clause.origin))
    counts = {kind: said[kind] for kind in COUNTS if kind in said}
    for name, number in hardware.whole_job({k: int(v.value) for k, v in counts.items()}):
        origins = dict.fromkeys(item.clause.origin for item in counts.values())
        yield _of_hardware(fact(name, number, *origins, how="given"))


def _of_hardware(item: Fact) -> Fact:
    return msgspec.structs.replace(item, kind=STATED + item.kind, how="given")


def _model(said: Mapping[str, Statement]) -> Iterator[Fact]:
    item = said.get(names.MODEL) or said.get(names.FAMILY)
    if item is not None:
        yield fact("model.name", item.value, item.clause.origin, how="given")


def _settings(said: Mapping[str, Statement]) -> Iterator[Fact]:
    for kind in KINDS:
        if kind in said:
            for name, value in settled(kind, said[kind].value).items():
                yield fact(name, value, said[kind].clause.origin, how="given")


def _phase(said: Mapping[str, Statement]) -> Iterator[Fact]:
    item = next((said[kind] for kind in PHASES if kind in said), None)
    if item is not None:
        yield fact("failure.phase", item.value, item.clause.origin, how="given")


COUNTS = (hardware.GPUS, hardware.NODES, hardware.PER_NODE, hardware.IN_ALL, hardware.SEVERAL)
