"""Root before echo: what only follows from another failure."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from entries import WORDS

from trainrx.model.facts import Fact, Facts, Origin, Scalar
from trainrx.model.knowledge import Symptom
from trainrx.reason.conclusions import Explained
from trainrx.reason.conditions import Situation
from trainrx.reason.echoes import echoes
from trainrx.reason.reasoner import Reasoning


def symptom(ident: str, *echo_of: dict[str, Any], role: str = "failure") -> Symptom:
    entry = {"schema": 1, "id": ident, "role": role, "title": WORDS}
    entry |= {"since": "0.1.0", "updated": "2026-11-21", "patterns": []}
    entry |= {"samples": {"match": [], "near_miss": []}}
    return msgspec.convert(
        entry | {"echo_of": [{"why": WORDS, **echo} for echo in echo_of]}, Symptom
    )


def sighting(ident: str, line: int = 1, **fields: Scalar) -> Fact:
    here = Origin(source="train.log", line=line)
    return Fact(kind=f"symptom.{ident}", fields=tuple(fields.items()), origins=(here,))


def found(*facts: Fact, table: dict[str, Symptom], links: tuple[Explained, ...] = ()) -> Any:
    done = Reasoning(
        situation=Situation(Facts(facts), {}, table),
        suggestions=(),
        explanations=links,
        asks=(),
        firings=(),
        engine_name="",
        notes=(),
    )
    return echoes(table, table, done)


def follows(echo: dict[str, Any], root: dict[str, Scalar], effect: dict[str, Scalar]) -> bool:
    table = {"oom": symptom("oom"), "timeout": symptom("timeout", {"by": ["oom"], **echo})}
    facts = (sighting("oom", **root), sighting("timeout", **effect))
    return found(*facts, table=table) == {"timeout": "oom"}


@pytest.mark.parametrize(
    ("echo", "root", "effect", "expected"),
    [
        ({}, {}, {}, True),
        ({"at": "after"}, {"at": 1}, {"at": 2}, True),
        ({"at": "after"}, {"at": 1}, {"at": 1.0}, False),
        ({"at": "after"}, {"at": 2}, {"at": 1}, False),
        ({"at": "after"}, {}, {"at": 1}, False),
        ({"at": "after"}, {"at": 1}, {}, False),
        ({"at": "since"}, {"at": 1}, {"at": 1}, True),
        ({"at": "since"}, {"at": 2}, {"at": 1}, False),
        ({"at": "after"}, {"at": 1, "clock": "a"}, {"at": 2, "clock": "a"}, True),
        ({"at": "after"}, {"at": 1, "clock": "a"}, {"at": 2, "clock": "b"}, False),
        ({"at": "after"}, {"at": 1, "clock": "a"}, {"at": 2}, False),
        ({}, {"at": 1, "clock": "a"}, {"at": 0, "clock": "b"}, True),
        ({"rank": "other"}, {"rank": 0}, {"rank": 1}, True),
        ({"rank": "other"}, {"rank": 0}, {"rank": 0}, False),
        ({"rank": "other"}, {}, {"rank": 0}, False),
        ({"if": {"xid": 43}}, {}, {"xid": 43}, True),
        ({"if": {"xid": 43}}, {"xid": 43}, {"xid": 31}, False),
        ({"if": {"xid": 43}}, {}, {}, False),
        ({"by_if": {"xid": {"ge": 79}}}, {"xid": 79}, {}, True),
        ({"by_if": {"xid": {"ge": 79}}}, {"xid": 78}, {"xid": 79}, False),
        ({"if": {"reason": {"known": False}}}, {}, {}, True),
        ({"if": {"reason": {"known": False}}}, {}, {"reason": "x"}, False),
        ({"by_if": {"rank": {"known": True}}}, {"rank": 0}, {}, True),
    ],
)
def test_a_symptom_follows_as_its_entry_says(
    echo: dict[str, Any], root: dict[str, Scalar], effect: dict[str, Scalar], expected: bool
) -> None:
    assert follows(echo, root, effect) is expected


def test_one_sighting_that_follows_from_nothing_is_no_echo() -> None:
    table = {
        "oom": symptom("oom"),
        "timeout": symptom("timeout", {"by": ["oom"], "at": "after"}),
    }
    oom, before, behind = (
        sighting("oom", 5, at=5),
        sighting("timeout", 1, at=1),
        sighting("timeout", 9, at=9),
    )

    assert found(oom, before, behind, table=table) == {}
    assert found(oom, behind, table=table) == {"timeout": "oom"}


def test_of_several_it_follows_from_the_first_by_name_is_shown() -> None:
    table = {name: symptom(name) for name in ("b", "a")}
    table["echo"] = symptom("echo", {"by": ["b"]}, {"by": ["a"], "at": "after"})
    seen = (sighting("echo", 3, at=3), sighting("b", 1, at=1), sighting("a", 2, at=2))

    assert found(*seen, table=table) == {"echo": "a"}


def test_a_chain_leads_to_its_root() -> None:
    table = {"oom": symptom("oom"), "timeout": symptom("timeout", {"by": ["oom"]})}
    table["ended"] = symptom("ended", {"by": ["timeout"]})

    assert found(*map(sighting, table), table=table) == {"timeout": "oom", "ended": "oom"}


def test_a_circle_hides_nothing() -> None:
    table = {"a": symptom("a", {"by": ["b"]}), "b": symptom("b", {"by": ["a"]})}

    assert found(sighting("a"), sighting("b"), table=table) == {}


def test_a_rule_explains_what_no_entry_does() -> None:
    table = {"oom": symptom("oom"), "timeout": symptom("timeout")}
    oom, first, second = sighting("oom"), sighting("timeout", 1), sighting("timeout", 2)
    links = tuple(
        Explained(rule="r", effect="timeout", by="oom", effect_fact=effect, by_fact=oom)
        for effect in (first, second)
    )

    assert found(oom, first, second, table=table, links=links[:1]) == {}
    assert found(oom, first, second, table=table, links=links) == {"timeout": "oom"}


def test_what_is_only_ever_an_echo_stays_visible_alone() -> None:
    table = {"child-failed": symptom("child-failed", role="echo")}
    beside = {"oom": symptom("oom"), **table}

    assert found(sighting("child-failed"), table=table) == {}
    assert found(*map(sighting, beside), table=beside) == {"child-failed": "oom"}


def test_of_several_roots_the_first_by_name_is_told() -> None:
    table = {
        "timeout": symptom("timeout", {"by": ["oom", "disk-full"]}),
        "oom": symptom("oom"),
        "disk-full": symptom("disk-full"),
    }

    roots = found(*map(sighting, ("oom", "disk-full", "timeout")), table=table)

    assert roots == {"timeout": "disk-full"}
