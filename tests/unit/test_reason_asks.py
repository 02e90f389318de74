"""Questions: the observation that moves the order most comes first, with its command."""

from __future__ import annotations

import entries
import msgspec
from entries import vote

from trainrx.knowledge.store import Knowledge
from trainrx.model.facts import Facts, fact
from trainrx.model.knowledge import Cause, FactEntry, Symptom
from trainrx.reason.asks import asks
from trainrx.reason.conditions import Situation
from trainrx.reason.order import candidates
from trainrx.reason.reasoner import Reasoning

GIVEN = Facts([fact("launch.given", True), fact("log.given", True)])


def cause(ident: str, *votes: tuple[str, float], prior: float = 0.2) -> Cause:
    supports = [vote(name, weight, _when(name)) for name, weight in votes]
    return entries.cause(ident, supports, prior=prior)


def _when(name: str) -> dict[str, object]:
    return {"symptom": name} if name.startswith("line-") else {"fact": name, "eq": True}


def knowledge(*facts: str, symptoms: tuple[Symptom, ...] = ()) -> Knowledge:
    entries = {
        name: FactEntry(
            schema=1,
            id=name,
            type="bool",
            title=msgspec.convert({"en": name, "zh": name}, type(symptom().title)),
            ask=msgspec.convert({"en": f"Run `look {name}`.", "zh": "看"}, type(symptom().title)),
        )
        for name in facts
    }
    return Knowledge(
        symptoms={item.id: item for item in symptoms},
        causes={},
        params={},
        facts=entries,
        rules={},
        ranges={},
        gpus=(),
        models=(),
    )


def symptom(ident: str = "line-a", **more: object) -> Symptom:
    entry = {
        "schema": 1,
        "id": ident,
        "role": "failure",
        "title": {"en": ident, "zh": "一"},
        "since": "0.1.0",
        "updated": "2026-11-21",
        "patterns": [],
        "samples": {"match": [], "near_miss": []},
    }
    return msgspec.convert(entry | more, Symptom)


def asked(known: Knowledge, *causes: Cause) -> list[tuple[str, str, tuple[str, ...]]]:
    reasoning = Reasoning(
        situation=Situation(GIVEN, {}, known.symptoms),
        suggestions=(),
        explanations=(),
        asks=(),
        firings=(),
        engine_name="",
        notes=(),
    )
    table = {item.id: item for item in causes}
    scored = candidates(table, reasoning, active={"cuda-oom"}, failed=True, lang="en")
    scored.sort(key=lambda item: (-item.score, item.cause.id))
    return [(ask.what, ask.command, ask.splits) for ask in asks(scored, GIVEN, known, "en")]


def test_the_observation_that_moves_the_order_most_is_asked_first_with_its_command() -> None:
    causes = (cause("a", ("weak", 0.3), ("strong", 3.0)), cause("b"))

    found = asked(knowledge("weak", "strong"), *causes)

    assert [item[:2] for item in found] == [("strong", "look strong"), ("weak", "look weak")]


def test_of_two_tied_causes_it_is_said_what_tells_them_apart() -> None:
    causes = (cause("a", ("x", 2.0), ("both", 1.0)), cause("b", ("both", 1.0)))

    found = {what: splits for what, _, splits in asked(knowledge("x", "both"), *causes)}

    assert found == {"x": ("a", "b"), "both": ()}


def test_nothing_tells_apart_what_is_not_tied() -> None:
    causes = (cause("a", ("x", 2.0), prior=0.5), cause("b", prior=0.05))

    assert asked(knowledge("x"), *causes) == [("x", "look x", ())]


def test_a_line_that_stands_elsewhere_is_asked_for_where_it_stands() -> None:
    found_by = {"en": "Run `dmesg -T`.", "zh": "看"}
    known = knowledge(symptoms=(symptom("line-a", found_by=found_by), symptom("line-b")))

    found = asked(known, cause("a", ("line-a", 2.0), ("line-b", 2.0)))

    assert found == [("line-a", "dmesg -T", ())]


def test_a_cause_as_likely_as_not_is_asked_about_like_any_other() -> None:
    found = asked(knowledge("x"), cause("a", ("x", 2.0), prior=0.5))

    assert found == [("x", "look x", ())]
