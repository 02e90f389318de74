"""Which symptoms only follow from which others, as `echoes.txt` lists them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from trainrx.knowledge.load import load
from trainrx.model.facts import Fact, Facts, Scalar
from trainrx.reason.conditions import Situation
from trainrx.reason.echoes import echoes
from trainrx.reason.reasoner import Reasoning

# by the links alone: as an echo by its role a symptom follows from any failure
SYMPTOMS = {
    name: msgspec.structs.replace(entry, role="failure") for name, entry in load().symptoms.items()
}
Fields = dict[str, Scalar]


class Row(NamedTuple):
    echo: str
    by: str
    words: tuple[str, ...]


def rows() -> Iterator[Row]:
    text = Path(__file__).with_name("echoes.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if not line.startswith("#"):
            echo, by, *words = line.split()
            yield Row(echo, by, tuple(words))


def follows(row: Row, echo: Fields, root: Fields) -> bool:
    facts = (_fact(row.by, root), _fact(row.echo, echo))
    done = Reasoning(
        situation=Situation(Facts(facts), {}, SYMPTOMS),
        suggestions=(),
        explanations=(),
        asks=(),
        firings=(),
        engine_name="",
        notes=(),
    )
    return echoes([row.by, row.echo], SYMPTOMS, done).get(row.echo) == row.by


def _fact(symptom: str, fields: Fields) -> Fact:
    return Fact(kind=f"symptom.{symptom}", fields=tuple(fields.items()))


def as_listed(row: Row) -> tuple[Fields, Fields]:
    """Give the fields of an echo and of its origin such as the row asks for."""
    echo: Fields = {"at": 700, "clock": "wall", "rank": 3}
    root: Fields = {"at": 100, "clock": "wall", "rank": 0 if "other-rank" in row.words else 3}
    for word in row.words:
        name, given, value = word.partition("=")
        if given:
            fields = root if name.startswith("by.") else echo
            fields.pop(name.removeprefix("by."), None)
            if value:
                text = value.replace("_", " ") if "by.reason" in name else value
                fields[name.removeprefix("by.")] = int(text) if text.isdigit() else text
    return echo, root


def unlike(row: Row) -> Iterator[tuple[str, Fields, Fields]]:
    """Give what differs in one point from what the row asks for."""
    echo, root = as_listed(row)
    if {"after", "since"} & set(row.words):
        yield "the other order", {**echo, "at": 99}, root
        yield "another clock", {**echo, "clock": "b.log"}, root
        yield "no time", {k: v for k, v in echo.items() if k != "at"}, root
    if "after" in row.words:
        yield "the same line", {**echo, "at": 100}, root
    if "other-rank" in row.words:
        yield "the same rank", {**echo, "rank": 0}, root
    for word in row.words:
        name, given, value = word.partition("=")
        if given and not (row.echo == "nccl-watchdog-timeout" and name == "by.rank"):
            other: Scalar = 1 if value.isdigit() or not value else "x"
            side = {name.removeprefix("by."): other}
            by = name.startswith("by.")
            yield word, echo if by else {**echo, **side}, {**root, **side} if by else root


def alike(row: Row) -> Iterator[tuple[str, Fields, Fields]]:
    """Give what differs in points the row does not ask about."""
    echo, root = as_listed(row)
    yield "as listed", echo, root
    if "since" in row.words:
        yield "the same line", {**echo, "at": 100}, root
    if not {"after", "since"} & set(row.words):
        yield "the other order", {**echo, "at": 1}, root
        yield "another clock", {**echo, "clock": "b.log"}, root


def test_every_link_of_an_entry_is_listed() -> None:
    listed = {(row.echo, row.by) for row in rows()}

    made = {(entry.id, by) for entry in SYMPTOMS.values() for e in entry.echo_of for by in e.by}

    assert made == listed


def test_a_listed_symptom_follows_from_its_origin_and_only_so() -> None:
    wrong = [(row, what) for row in rows() for what, *at in alike(row) if not follows(row, *at)]
    wrong += [(row, what) for row in rows() for what, *at in unlike(row) if follows(row, *at)]

    assert wrong == []
