"""Causes behind a failure nobody can name: by prior, each with what would decide it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from entries import cause, vote

from trainrx.model.facts import Facts, fact
from trainrx.model.knowledge import Cause
from trainrx.model.result import DifferentialItem
from trainrx.reason.conditions import Situation
from trainrx.reason.differential import MOST, close, differential, less_if_open
from trainrx.reason.order import candidates
from trainrx.reason.reasoner import Reasoning
from trainrx.reason.score import Scored, logit


def said(ident: str, weight: float, when: dict[str, object]) -> dict[str, object]:
    return vote(ident, weight, when) | {"why": {"en": ident, "zh": "一"}}


def on(name: str, value: object = True) -> dict[str, object]:
    return {"fact": name, "eq": value}


def found(causes: Sequence[Cause], **facts: bool | int) -> tuple[DifferentialItem, ...]:
    known = Situation(Facts([fact(name, value) for name, value in facts.items()]), {}, {})
    reasoning = Reasoning(
        situation=known,
        suggestions=(),
        explanations=(),
        asks=(),
        firings=(),
        engine_name="",
        notes=(),
    )
    table = {item.id: item for item in causes}
    scored = candidates(table, reasoning, active={"cuda-oom"}, failed=True, lang="en")
    scored = [less_if_open(item, known) for item in scored]
    return differential(scored, known.facts, "en")


def test_the_common_stand_before_the_rare_and_there_are_few() -> None:
    causes = [cause(f"c{at}", [], prior=0.05 * (at + 1)) for at in range(MOST + 2)]

    items = found(causes)

    assert [item.id for item in items] == ["c6", "c5", "c4", "c3", "c2"]
    assert sum(item.probability for item in items) < 1


def test_what_fits_any_failure_stands_behind_what_is_special() -> None:
    items = found([cause("any", [], prior=0.4, generic=True), cause("one", [], prior=0.1)])

    assert [item.id for item in items] == ["one", "any"]


def test_the_order_of_entries_changes_nothing() -> None:
    causes = [cause(name, [], prior=0.1) for name in "dbca"]

    assert found(causes) == found(causes[::-1])


def test_a_cause_that_one_card_cannot_have_is_left_out_on_one_card() -> None:
    network = cause("network", [], requires={"not": on("cards", 1)}, prior=0.3)
    other = cause("other", [], prior=0.1)

    assert [item.id for item in found([network, other], cards=1)] == ["other"]
    assert [item.id for item in found([network, other], cards=8)] == ["network", "other"]


def test_what_is_not_known_to_apply_stands_back() -> None:
    special = cause("special", [], requires=on("images"), prior=0.2)
    plain = cause("plain", [], prior=0.2)

    assert [item.id for item in found([special, plain])] == ["plain", "special"]
    assert [item.id for item in found([special, plain], images=True)] == ["plain", "special"]


def test_the_strongest_open_vote_confirms_and_rules_out() -> None:
    one = cause(
        "one",
        [said("weak", 0.3, on("a")), said("strong", 2.0, on("b")), said("decided", 3.0, on("c"))],
        [said("against", 1.0, on("d"))],
    )

    (item,) = found([one], c=False)

    assert (item.confirm, item.rule_out) == ("strong", "against")


def test_a_test_of_whether_a_fact_is_known_is_open_while_it_is_not() -> None:
    one = cause("one", [said("named", 2.0, {"fact": "silent", "known": True})])

    assert found([one])[0].confirm == "named"
    assert found([one], silent=3)[0].confirm == ""


def test_of_two_votes_the_one_that_asks_for_less_is_named() -> None:
    one = cause(
        "one",
        [said("plain", 1.5, on("a")), said("joined", 2.0, {"all": [on("b"), on("c"), on("d")]})],
    )

    assert found([one])[0].confirm == "plain"


def test_close_are_those_between_which_the_odds_are_below_two_to_one() -> None:
    base = Scored(cause=cause("a", []), prior=0.1, score=0, reasons=(), supported=True)
    items = [
        msgspec.structs.replace(base, cause=cause(name, []), score=logit(probability))
        for name, probability in (("a", 0.5), ("b", 0.4), ("c", 0.2))
    ]

    assert [item.cause.id for item in close(items)] == ["a", "b"]
    assert close(items[2:]) == ()
    assert close([]) == ()
