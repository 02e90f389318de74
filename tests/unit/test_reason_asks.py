"""Questions: an expert's first one, then the observation that says most, with its command."""

from __future__ import annotations

from typing import Any

import entries
import msgspec
from entries import vote

from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.knowledge.store import Knowledge
from trainrx.model.facts import Facts, fact
from trainrx.model.knowledge import Cause, FactEntry, Symptom
from trainrx.model.protocols import Protocol
from trainrx.model.result import Ask
from trainrx.reason.asks import Inquiry, asks
from trainrx.reason.conditions import Situation
from trainrx.reason.order import candidates
from trainrx.reason.reasoner import Reasoning

GIVEN = Facts([fact("launch.given", True), fact("log.given", True)])


def cause(ident: str, *votes: tuple[str, float], prior: float = 0.2) -> Cause:
    supports = [vote(name, weight, _when(name)) for name, weight in votes]
    return entries.cause(ident, supports, prior=prior, title={"en": ident, "zh": "一"})


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


def asked(
    known: Knowledge,
    *causes: Cause,
    facts: Facts = GIVEN,
    versions: dict[str, str] | None = None,
    **more: Any,
) -> list[Ask]:
    reasoning = Reasoning(
        situation=Situation(facts, versions or {}, known.symptoms),
        suggestions=(),
        explanations=(),
        asks=(),
        firings=(),
        engine_name="",
        notes=(),
    )
    table = {item.id: item for item in causes}
    scored = candidates(table, reasoning, active={"cuda-oom"}, failed=True, lang="en")
    loaded = LoadedKnowledge.of(msgspec.structs.replace(known, causes=table))
    return list(asks(scored, Inquiry(reasoning=reasoning, loaded=loaded, **more)))


def told(found: list[Ask]) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(ask.id, ask.command, ask.splits) for ask in found]


def test_the_observation_that_says_most_is_asked_first_with_its_command() -> None:
    causes = (cause("a", ("weak", 0.3), ("strong", 3.0)), cause("b"))

    found = asked(knowledge("weak", "strong"), *causes)

    assert [item[:2] for item in told(found)] == [
        ("strong", "look strong"),
        ("weak", "look weak"),
    ]


def test_what_all_causes_expect_alike_is_asked_last() -> None:
    causes = (cause("a", ("x", 2.0), ("both", 1.0)), cause("b", ("both", 1.0)))

    found = {ident: splits for ident, _, splits in told(asked(knowledge("x", "both"), *causes))}

    assert found == {"x": ("a", "b"), "both": ()}


def test_nothing_tells_apart_what_is_not_close() -> None:
    causes = (cause("a", ("x", 2.0), prior=0.5), cause("b", prior=0.05))

    assert told(asked(knowledge("x"), *causes)) == [("x", "look x", ())]


def test_a_line_that_stands_elsewhere_is_asked_for_where_it_stands() -> None:
    found_by = {"en": "Run `dmesg -T`.", "zh": "看"}
    known = knowledge(symptoms=(symptom("line-a", found_by=found_by), symptom("line-b")))

    found = asked(known, cause("a", ("line-a", 2.0), ("line-b", 2.0)))

    assert told(found) == [("symptom.line-a", "dmesg -T", ())]
    assert found[0].reading == ("yes -> a",)


def test_what_a_person_saw_is_asked_in_the_words_of_its_entry() -> None:
    question = {"en": "Does one card alone run?", "zh": "单卡正常吗？"}
    seen = symptom("line-a", role="observation", question=question)

    (ask,) = asked(knowledge(symptoms=(seen,)), cause("a", ("line-a", 2.0)))

    assert (ask.what, ask.answer) == ("Does one card alone run?", "yes_no")


def test_a_file_in_back_quotes_is_no_command() -> None:
    known = knowledge("x")
    entry = known.facts["x"]
    ask = msgspec.convert({"en": "Add `logging.jsonl` by `--log`.", "zh": "看"}, type(entry.title))
    known.facts["x"] = msgspec.structs.replace(entry, ask=ask)

    assert told(asked(known, cause("a", ("x", 2.0)))) == [("x", "", ())]


def test_what_a_missing_launch_states_is_one_question() -> None:
    facts = Facts([fact("log.given", True)])
    causes = (cause("a", ("train.x", 2.0), ("train.y", 2.0)), cause("b", ("series.z", 1.0)))

    found = asked(knowledge("train.x", "train.y", "series.z"), *causes, facts=facts)

    assert [ask.id for ask in found] == ["launch", "series.z"]


def test_releases_are_one_question_that_names_the_packages() -> None:
    old = {"package": "torch", "versions": "<2.5"}
    found = asked(knowledge(), entries.cause("a", [vote("old", 2.0, old)]))

    assert [ask.id for ask in found] == ["versions"]
    assert "torch" in found[0].what


def test_a_precondition_that_nobody_knows_is_asked_for() -> None:
    needing = entries.cause("a", [], prior=0.4, requires=_when("needed"))
    ranged = entries.cause("b", [], prior=0.3, applies_to={"trl": "<0.20"})

    found = asked(knowledge("needed"), needing, ranged)

    assert {ask.id for ask in found} == {"needed", "versions"}


def test_what_an_answer_says_is_not_less_where_the_score_is_held_down() -> None:
    launch = fact("train.packing", True)
    held = entries.cause("a", [vote("v", 5.0, _when("train.packing")), vote("w", 1.0, _when("x"))])
    known = Facts([*GIVEN, launch])

    found = asked(knowledge("x"), held, cause("b"), facts=known)

    assert [(ask.id, ask.reading) for ask in found] == [("x", ("yes -> a",))]


def test_a_release_that_is_known_is_not_asked_for() -> None:
    old = {"package": "torch", "versions": "<2.5"}
    one = entries.cause("a", [vote("old", 2.0, old)])

    assert asked(knowledge(), one, versions={"torch": "2.6.0"}) == []


def step(ident: str, *causes: str, **more: object) -> dict[str, object]:
    outcomes = [
        {"id": name, "reads": {"en": name, "zh": "一"}, "causes": [name]} for name in causes
    ]
    return {"id": ident, "question": {"en": ident, "zh": "一"}, "outcomes": outcomes, **more}


def protocol(*steps: dict[str, object], **more: object) -> dict[str, Protocol]:
    entry = {
        "schema": 1,
        "id": "p",
        "title": {"en": "p", "zh": "一"},
        "since": "0.1.0",
        "updated": "2026-11-26",
        "families": ["oom"],
        "references": [],
        "steps": steps,
    }
    return {"p": msgspec.convert(entry | more, Protocol)}


def following(protocols: dict[str, Protocol], *facts: str) -> Knowledge:
    return msgspec.structs.replace(knowledge(*facts), protocols=protocols)


TWO = (cause("a", ("x", 3.0)), cause("b"))


def test_what_an_expert_asks_first_stands_first_whatever_says_more() -> None:
    known = following(protocol(step("look", "a", "b", effort="rerun"), step("then", "a")), "x")

    found = asked(known, *TWO, families=("oom",))

    assert [ask.id for ask in found][:2] == ["p.look", "x"]
    assert found[0].reading == ("a -> a", "b -> b")


def test_what_was_answered_gives_place_to_the_next_step() -> None:
    known = following(protocol(step("look", "a", "b"), step("then", "a", "b")), "x")

    found = asked(known, *TWO, families=("oom",), answered=("p.look",))

    assert [ask.id for ask in found] == ["p.then", "x"]


def test_what_the_output_of_a_step_answers_too_is_not_asked_apart() -> None:
    known = following(protocol(step("look", "a", "b", answers=["x"])), "x")

    assert [ask.id for ask in asked(known, *TWO, families=("oom",))] == ["p.look"]


def test_a_protocol_of_another_kind_of_failure_is_not_followed() -> None:
    known = following(protocol(step("look", "a", "b")), "x")

    assert [ask.id for ask in asked(known, *TWO, families=("hang",))] == ["x"]


def test_a_step_may_be_a_question_that_stands_elsewhere() -> None:
    known = following(protocol({"ask": "weak"}, step("look", "a", "b")), "weak", "strong")
    causes = (cause("a", ("weak", 0.3), ("strong", 3.0)), cause("b"))

    found = asked(known, *causes, families=("oom",))

    assert found[0].id == "weak"


def test_a_step_whose_fact_is_known_is_done() -> None:
    known = following(protocol({"ask": "x"}, step("look", "a", "b")), "x")
    facts = Facts([*GIVEN, fact("x", True)])

    assert [ask.id for ask in asked(known, *TWO, families=("oom",), facts=facts)] == ["p.look"]


def test_steps_apply_where_when_holds_and_unless_does_not() -> None:
    on = {"fact": "y", "eq": True}
    known = following(protocol(step("if", "a", "b", when=on), step("not", "a", "b", unless=on)))

    unknown = asked(known, *TWO, families=("oom",))
    true = asked(known, *TWO, families=("oom",), facts=Facts([*GIVEN, fact("y", True)]))

    assert [ask.id for ask in unknown] == ["p.not"]
    assert [ask.id for ask in true] == ["p.if"]


def test_of_a_log_that_shows_nothing_its_end_and_what_was_seen_is_asked_first() -> None:
    causes = (cause("a", ("x", 2.0)), cause("b"))

    assert [ask.id for ask in asked(knowledge("x"), *causes, silent=True)] == ["whole-log", "x"]
    assert [ask.id for ask in asked(knowledge("x"), *causes)] == ["x"]
