"""What people write into an issue is read as the trouble it tells; where it tells none, as none."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

from trainrx.evidence.detector import Detector
from trainrx.knowledge.load import load
from trainrx.knowledge.yaml12 import read_yaml
from trainrx.launch.prose.statements import stated
from trainrx.model.facts import STATED, Scalar
from trainrx.model.job import Detection, Input
from trainrx.model.knowledge import Family

UNTOLD = "crash_other"


class Note(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A note, and what it tells: the first family must be read, the others may be."""

    note: str
    families: tuple[Family, ...]
    facts: dict[str, Scalar] = {}


NOTES = [
    note
    for notes in msgspec.convert(
        read_yaml(Path(__file__).with_name("notes.yaml")), dict[str, tuple[Note, ...]]
    ).values()
    for note in notes
]
TROUBLE = [note for note in NOTES if note.families]
NO_TROUBLE = [note for note in NOTES if not note.families]


@cache
def detector() -> Detector:
    return Detector(tuple(load().symptoms.values()))


def read(note: Note) -> Detection:
    return detector().detect([Input(kind="note", name="note", text=note.note)])


def facts_of(note: Note) -> dict[str, Scalar | None]:
    said = stated([Input(kind="note", name="note", text=note.note)], load()).facts
    told = {item.kind: item.value for item in read(note).facts}
    return told | {item.kind.removeprefix(STATED): item.value for item in said}


def families(note: Note) -> set[Family]:
    """Name the families read; what is vague stands back, and "it crashed" stands back most."""
    seen = [load().symptoms[hits.symptom] for hits in read(note).symptoms]
    told = [entry for entry in seen if entry.is_failure and entry.family is not None]
    plain = {entry.family for entry in told if not entry.vague and entry.family}
    hinted = {entry.family for entry in told if entry.family}
    return plain or hinted - {UNTOLD} or hinted


def test_the_trouble_is_read_and_no_other() -> None:
    found = {note.note: (note.families, families(note)) for note in TROUBLE}

    wrong = {
        note: both
        for note, both in found.items()
        if both[0][0] not in both[1] or not both[1] <= set(both[0])
    }
    assert wrong == {}


def test_no_trouble_is_read_where_none_is_told() -> None:
    assert {note.note: found for note in NO_TROUBLE if (found := families(note))} == {}


def test_what_a_note_tells_of_the_job_is_a_fact() -> None:
    for note in NOTES:
        facts = facts_of(note) if note.facts else {}

        assert {name: facts.get(name) for name in note.facts} == note.facts, note.note


def test_a_fifth_of_the_notes_tells_no_trouble() -> None:
    assert len(NO_TROUBLE) * 5 >= len(NOTES)
