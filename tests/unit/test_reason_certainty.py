"""What may be called likely: an observation that bears on the cause, and known preconditions."""

from __future__ import annotations

from typing import Any

import entries
import pytest
from entries import vote

from trainrx.model.facts import Fact, Facts, Origin, Scalar, fact
from trainrx.model.knowledge import Cause
from trainrx.model.text import Text
from trainrx.reason.certainty import FEW, FEW_PRINTED, LIKELY, SUSPECTED, lacking
from trainrx.reason.conclusions import Suggested
from trainrx.reason.conditions import Situation
from trainrx.reason.order import rank, verdict, word
from trainrx.reason.reasoner import Reasoning
from trainrx.reason.score import Scored

STRONG = 5.0
LINE = "line"
OTHER_FIX = {
    "id": "other",
    "title": entries.WORDS,
    "safety": "safe",
    "cost": entries.WORDS,
    "unset": ["train.packing"],
}


def cause(ident: str = "it", *when: dict[str, object], **more: object) -> Cause:
    votes = [vote(f"v{at}", STRONG, one) for at, one in enumerate(when)]
    return entries.cause(ident, votes, **more)


def told(name: str, value: Scalar = True) -> dict[str, object]:
    return {"fact": name, "eq": value}


def sighting(symptom: str, source: str, **fields: Scalar) -> Fact:
    return Fact(
        kind=f"symptom.{symptom}",
        fields=tuple(fields.items()),
        origins=(Origin(source=source, line=1, text=symptom),),
    )


def found(
    *causes: Cause,
    facts: tuple[Fact, ...] = (),
    versions: dict[str, str] | None = None,
    suggestions: tuple[Suggested, ...] = (),
) -> dict[str, Scored]:
    known = Situation(Facts(facts), versions or {}, {})
    reasoning = Reasoning(
        situation=known,
        suggestions=suggestions,
        explanations=(),
        asks=(),
        firings=(),
        engine_name="",
        notes=(),
    )
    table = {item.id: item for item in causes}
    ranked = rank(table, reasoning, active={"cuda-oom"}, failed=True, lang="en")
    return {item.cause.id: item for item in ranked.causes}


def test_what_only_stands_in_the_launch_is_possible_however_much_of_it_there_is() -> None:
    made = cause("it", told("train.packing"), told("rlhf.type"), told("arg.use_vllm"))
    launch = tuple(fact(name, True) for name in ("train.packing", "rlhf.type", "arg.use_vllm"))

    it = found(made, facts=launch)["it"]

    assert word(it) == "possible"
    assert SUSPECTED <= it.probability < LIKELY


@pytest.mark.parametrize(
    ("name", "likely"),
    [
        ("oom.site", True),
        ("series.first_nan_step", True),
        ("collective.seqnum_differs", True),
        ("changed.train.max_length", True),
        ("guard.weights_match", True),
        ("packages.fit", True),
        ("memory.static_fits", True),
        ("memory.activations_share", False),
        ("failure.family", False),
        ("framework.releases_behind", False),
        ("repair.share", False),
        ("repair.traced", True),
        ("model.is_moe", False),
    ],
)
def test_what_was_observed_or_computed_makes_likely_and_nothing_else_does(
    name: str,
    likely: bool,
) -> None:
    it = found(cause("it", told(name)), facts=(fact(name, True),))["it"]

    assert (it.probability >= LIKELY) is likely


def test_an_installed_release_alone_is_possible() -> None:
    made = cause("it", {"package": "torch", "versions": ">=2.9"})

    assert word(found(made, versions={"torch": "2.9.0"})["it"]) == "possible"


@pytest.mark.parametrize(
    ("source", "sharing", "likely"),
    [
        ("train.log", FEW_PRINTED, True),
        ("train.log", FEW_PRINTED + 1, False),
        ("note", FEW, True),
        ("note", FEW + 1, False),
    ],
)
def test_a_symptom_that_many_causes_share_bears_on_none_of_them(
    source: str,
    sharing: int,
    likely: bool,
) -> None:
    others = [cause(f"other-{at}", explains=["cuda-oom", LINE]) for at in range(sharing - 1)]
    made = cause("it", {"symptom": LINE})

    it = found(made, *others, facts=(sighting(LINE, source),))["it"]

    assert (it.probability >= LIKELY) is likely


def test_what_a_shared_line_says_bears_on_the_cause() -> None:
    others = [cause(f"other-{at}", explains=["cuda-oom", LINE]) for at in range(FEW_PRINTED)]
    made = cause("it", {"symptom": LINE, "if": {"name": "x"}})

    it = found(made, *others, facts=(sighting(LINE, "train.log", name="x"),))["it"]

    assert word(it) == "likely"


def test_a_vote_marked_computed_is_worth_an_observation() -> None:
    plain = vote("v", STRONG, told("train.packing"))

    one = entries.cause("one", [plain])
    two = entries.cause("two", [{**plain, "computed": True}])

    seen = (fact("train.packing", True),)
    assert word(found(one, facts=seen)["one"]) == "possible"
    assert word(found(two, facts=seen)["two"]) == "likely"


@pytest.mark.parametrize(
    ("kind", "likely"),
    [("oom.site", True), ("answered.hang.stacks", True), ("train.packing", False)],
)
def test_a_rule_is_worth_what_it_rests_on(kind: str, likely: bool) -> None:
    why = Text(en="a", zh="一")
    rests = (fact(kind, True),)
    by_rule = Suggested(rule="r", cause="it", weight=STRONG, why=why, group="", facts=rests)

    it = found(cause("it"), suggestions=(by_rule,))["it"]

    assert (it.probability >= LIKELY) is likely


@pytest.mark.parametrize(
    ("more", "versions", "likely"),
    [
        ({"applies_to": {"trl": "<0.20"}}, {}, False),
        ({"applies_to": {"trl": "<0.20"}}, {"trl": "0.19.0"}, True),
        ({"requires": told("model.is_vision")}, {}, False),
        ({"requires": {"all": [told("model.is_vision"), told("oom.site")]}}, {}, False),
        ({"requires": {"not": told("model.is_vision")}}, {}, True),
        ({"requires": {"fact": "train.preprocess_workers", "ne": 1}}, {}, True),
    ],
)
def test_a_precondition_that_is_not_known_to_hold_keeps_a_cause_possible(
    more: dict[str, Any],
    versions: dict[str, str],
    likely: bool,
) -> None:
    made = cause("it", told("oom.site"), **more)

    it = found(made, facts=(fact("oom.site", True),), versions=versions)["it"]

    assert (it.probability >= LIKELY) is likely
    assert bool(lacking(made, Situation(Facts([fact("oom.site", True)]), versions))) is not likely


def test_a_line_of_this_cause_alone_stands_for_what_it_requires_but_not_for_the_release() -> None:
    own = {"explains": ["cuda-oom", LINE]}
    needs = cause("needs", {"symptom": LINE}, requires=told("model.is_vision"), **own)
    ranged = cause("ranged", {"symptom": LINE}, applies_to={"trl": "<0.20"}, **own)
    line = (sighting(LINE, "train.log"),)

    assert word(found(needs, facts=line)["needs"]) == "likely"
    assert word(found(ranged, facts=line)["ranged"]) == "possible"


def test_two_causes_as_strong_that_ask_for_different_remedies_leave_the_choice_open() -> None:
    seen = (fact("oom.site", True),)
    one = cause("one", told("oom.site"))

    rivals = found(one, cause("two", told("oom.site"), fixes=[OTHER_FIX]), facts=seen)
    alike = found(
        cause("one", told("oom.site"), fixes=[OTHER_FIX]),
        cause("two", told("oom.site"), fixes=[OTHER_FIX]),
        facts=seen,
    )

    assert {word(item) for item in rivals.values()} == {"possible"}
    assert {word(item) for item in alike.values()} == {"likely"}


def test_causes_held_down_keep_their_order() -> None:
    weak = entries.cause("a-weak", [vote("v", 3.0, told("train.packing"))])
    strong = cause("b-strong", told("train.packing"))

    order = found(weak, strong, facts=(fact("train.packing", True),))

    assert list(order) == ["b-strong", "a-weak"]
    assert order["b-strong"].score == order["a-weak"].score


@pytest.mark.parametrize(
    ("kind", "prior", "first"),
    [
        ("oom.site", 0.1, "specific"),
        ("train.packing", 0.1, "generic"),
        ("oom.site", 0.01, "generic"),
    ],
)
def test_a_generic_cause_stands_behind_a_specific_one_that_something_told_speaks_for(
    kind: str, prior: float, first: str
) -> None:
    seen = tuple(fact(name, True) for name in ("repair.share", kind))
    generic = cause("generic", told("repair.share"), generic=True)
    specific = entries.cause("specific", [vote("v", 0.5, told(kind))], prior=prior)

    assert next(iter(found(generic, specific, facts=seen))) == first


def test_an_answer_is_diagnosed_only_with_a_likely_cause() -> None:
    launch = Reasoning(
        situation=Situation(Facts([fact("train.packing", True)]), {}, {}),
        suggestions=(),
        explanations=(),
        asks=(),
        firings=(),
        engine_name="",
        notes=(),
    )
    table = {"it": cause("it", told("train.packing"))}

    ranked = rank(table, launch, active={"cuda-oom"}, failed=True, lang="en")

    assert verdict(ranked, failed=True, finished=False, log_given=True) == "suspected"
