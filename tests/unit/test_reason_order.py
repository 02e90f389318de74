from __future__ import annotations

import itertools
import math
from typing import Any

import entries
import msgspec
import pytest
from entries import vote

from trainrx.model.facts import Facts, fact
from trainrx.model.knowledge import Cause
from trainrx.model.text import Text
from trainrx.reason.conclusions import Explained, Suggested
from trainrx.reason.conditions import Situation
from trainrx.reason.order import LIKELY, SUSPECTED, rank, verdict
from trainrx.reason.reasoner import Reasoning
from trainrx.reason.score import logit, score


def cause(ident: str = "too-big", **more: object) -> Cause:
    votes = [
        vote("a", 2.0, holding(f"{ident}/for/a")),
        vote("b", 1.0, holding(f"{ident}/for/b")),
    ]
    return entries.cause(ident, votes, [vote("c", 1.5, holding(f"{ident}/against/c"))], **more)


def holding(name: str) -> dict[str, object]:
    return {"fact": name, "eq": True}


def reasoning(truths: dict[str, bool | None], **more: object) -> Reasoning:
    made = [fact(name, holds) for name, holds in truths.items() if holds is not None]
    whole: dict[str, Any] = {
        "situation": Situation(Facts(made), {}, {}),
        "suggestions": (),
        "explanations": (),
        "asks": (),
        "firings": (),
        "engine_name": "",
        "notes": (),
    }
    return Reasoning(**(whole | more))


def test_without_evidence_the_score_is_the_prior() -> None:
    assert score(cause(), reasoning({}), "en").score == pytest.approx(logit(0.2))


def test_true_votes_add_and_false_or_unknown_ones_do_not() -> None:
    known = reasoning({"too-big/for/a": True, "too-big/for/b": False, "too-big/against/c": None})

    assert score(cause(), known, "en").score == pytest.approx(logit(0.2) + 2.0)


def test_contradicting_evidence_lowers_the_score() -> None:
    known = reasoning({"too-big/against/c": True})

    assert score(cause(), known, "en").score == pytest.approx(logit(0.2) - 1.5)


def test_one_group_has_one_vote() -> None:
    grouped = msgspec.convert(
        {
            **msgspec.to_builtins(cause()),
            "evidence": {
                "supports": [
                    {**vote(i, w, holding(f"too-big/for/{i}")), "group": "g"}
                    for i, w in (("a", 2.0), ("b", 1.0))
                ]
            },
        },
        Cause,
    )
    known = reasoning({"too-big/for/a": True, "too-big/for/b": True})

    assert score(grouped, known, "en").score == pytest.approx(logit(0.2) + 2.0)


def test_a_rule_that_fires_often_votes_once() -> None:
    votes = tuple(
        Suggested(
            rule="r", cause="too-big", weight=1.0, why=Text(en="a", zh="一"), group="", facts=()
        )
        for _ in range(8)
    )

    assert score(cause(), reasoning({}, suggestions=votes), "en").score == pytest.approx(
        logit(0.2) + 1
    )


def test_the_order_of_votes_changes_nothing() -> None:
    votes = tuple(
        Suggested(
            rule=f"r{i}", cause="too-big", weight=w, why=Text(en="a", zh="一"), group="", facts=()
        )
        for i, w in enumerate((0.1, 0.2, 0.3, -0.7))
    )

    scores = {
        score(cause(), reasoning({}, suggestions=order), "en").score
        for order in itertools.permutations(votes)
    }

    assert len(scores) == 1


def test_an_unknown_fact_never_raises_a_score() -> None:
    for name in ("too-big/for/a", "too-big/for/b", "too-big/against/c"):
        unknown = score(cause(), reasoning({name: None}), "en").score
        assert unknown <= max(
            score(cause(), reasoning({name: holds}), "en").score for holds in (True, False)
        )


def test_the_first_true_prior_counts() -> None:
    sized = cause(priors=[{"when": holding("too-big/prior/0"), "prior": 0.5}])

    assert score(sized, reasoning({"too-big/prior/0": True}), "en").prior == 0.5
    assert score(sized, reasoning({"too-big/prior/0": None}), "en").prior == 0.2


def ranked(*causes: Cause, known: Reasoning, failed: bool = True) -> list[str]:
    table = {item.id: item for item in causes}
    ranking = rank(table, known, active={"cuda-oom"}, failed=failed, lang="en")
    return [item.cause.id for item in ranking.causes]


def test_a_cause_nothing_speaks_for_is_open_and_no_cause() -> None:
    table = {"shown": cause("shown"), "common": cause("common", prior=0.5)}

    found = rank(
        table, reasoning({"shown/for/a": True}), active={"cuda-oom"}, failed=True, lang="en"
    )

    assert [item.cause.id for item in found.causes] == ["shown"]
    assert [item.cause.id for item in found.open] == ["common"]


def test_an_answer_that_rests_on_frequency_alone_is_unknown() -> None:
    common = rank(
        {"common": cause("common", prior=0.5)},
        reasoning({}),
        active={"cuda-oom"},
        failed=True,
        lang="en",
    )

    assert verdict(common, failed=True, finished=False, log_given=True) == "unknown"


def test_a_false_precondition_rules_out_and_an_unknown_one_does_not() -> None:
    strict = cause(requires=holding("too-big/requires"))

    out = ranked(strict, known=reasoning({"too-big/for/a": True, "too-big/requires": False}))
    kept = ranked(strict, known=reasoning({"too-big/for/a": True, "too-big/requires": None}))

    assert (out, kept) == ([], ["too-big"])


def test_equal_scores_are_ordered_by_id() -> None:
    known = reasoning({"b/for/a": True, "a/for/a": True})

    assert ranked(cause("b"), cause("a"), known=known) == ["a", "b"]


def test_a_weaker_consequence_is_listed_as_an_effect() -> None:
    known = reasoning(
        {"root/for/a": True, "root/for/b": True, "effect/for/a": True},
        explanations=(Explained(rule="r", effect="effect", by="root"),),
    )
    table = {name: cause(name) for name in ("root", "effect")}

    ranking = rank(table, known, active={"cuda-oom"}, failed=True, lang="en")

    assert [item.cause.id for item in ranking.causes] == ["root"]
    assert ranking.effects == {"root": ("effect",)}


def test_a_launch_alone_names_only_foreseeable_causes() -> None:
    known = reasoning({f"{c}/for/{e}": True for c in ("a", "b") for e in ("a", "b")})

    named = ranked(cause("a"), cause("b", foreseeable=True, explains=[]), known=known, failed=False)

    assert "b" in named


def test_no_cause_and_no_end_is_unknown_not_healthy() -> None:
    nothing = rank({}, reasoning({}), active=(), failed=False, lang="en")

    assert verdict(nothing, failed=False, finished=False, log_given=True) == "unknown"
    assert verdict(nothing, failed=False, finished=True, log_given=True) == "healthy"


def test_probability_is_the_logistic_of_the_score() -> None:
    item = score(cause(), reasoning({"too-big/for/a": True}), "en")

    assert item.probability == pytest.approx(1 / (1 + math.exp(-item.score)))


def test_what_is_only_foreseen_is_less_sure() -> None:
    known = reasoning({"too-big/for/a": True})

    foreseen = score(cause(), known, "en", failed=False)

    assert foreseen.score < score(cause(), known, "en").score
    assert foreseen.reasons[0].holds
    assert "foreseen" in next(r for r in foreseen.reasons if r.weight < 0 and r.holds).text


def residual(ident: str = "what-is-left", weight: float = 2.0) -> Cause:
    made = entries.cause(
        ident, [vote("nothing-else", weight, holding(f"{ident}/for/nothing-else"))], []
    )
    alone = tuple(msgspec.structs.replace(item, alone=True) for item in made.evidence.supports)
    return msgspec.structs.replace(
        made, evidence=msgspec.structs.replace(made.evidence, supports=alone)
    )


def spoken_for(truths: dict[str, bool | None], *causes: Cause) -> list[str]:
    seen = {item.id: item for item in causes}
    active = {symptom for item in causes for symptom in item.explains}
    found = rank(seen, reasoning(truths), active=active, failed=True, lang="en")
    return [item.cause.id for item in found.causes if item.supported]


def test_what_is_left_counts_while_nothing_speaks_for_another_cause() -> None:
    truths: dict[str, bool | None] = {"what-is-left/for/nothing-else": True}

    assert spoken_for(truths, residual(), cause()) == ["what-is-left"]


def test_what_is_left_gives_way_to_evidence() -> None:
    truths: dict[str, bool | None] = {"what-is-left/for/nothing-else": True, "too-big/for/a": True}

    assert spoken_for(truths, residual(), cause()) == ["too-big"]


def test_two_residual_causes_do_not_silence_each_other() -> None:
    truths: dict[str, bool | None] = {
        "one/for/nothing-else": True,
        "two/for/nothing-else": True,
    }

    assert spoken_for(truths, residual("one"), residual("two")) == ["one", "two"]


def test_what_holds_alone_is_suspected_at_most() -> None:
    known = reasoning({"what-is-left/for/nothing-else": True})

    found = score(residual(weight=6.0), known, "en")

    assert SUSPECTED <= found.probability < LIKELY


def test_votes_of_a_group_for_and_against_both_count() -> None:
    made = entries.cause(
        "too-big",
        [{**vote("a", 2.0, holding("too-big/for/a")), "group": "g"}],
        [{**vote("c", 1.5, holding("too-big/against/c")), "group": "g"}],
    )
    known = reasoning({"too-big/for/a": True, "too-big/against/c": True})

    assert score(made, known, "en").score == pytest.approx(logit(0.2) + 2.0 - 1.5)


def suggested(ident: str, weight: float) -> Suggested:
    why = Text(en="a", zh="一")
    return Suggested(rule="r", cause=ident, weight=weight, why=why, group="", facts=())


def test_a_rule_that_speaks_against_a_cause_makes_it_no_candidate() -> None:
    other = cause("other", explains=[])
    known = reasoning({}, suggestions=(suggested("other", -1.0),))

    found = rank({"other": other}, known, active={"cuda-oom"}, failed=True, lang="en")

    assert (found.causes, found.open) == ((), ())


def test_beside_a_likely_cause_only_what_a_symptom_asks_for_is_named() -> None:
    known = reasoning(
        {"guard.best": True, "asked/for/b": True},
        suggestions=(suggested("suggested", 0.5),),
    )

    named = ranked(
        entries.cause("best", [vote("a", 3.0, holding("guard.best"))]),
        cause("asked", prior=0.1),
        cause("suggested", explains=[]),
        known=known,
    )

    assert named == ["best", "asked"]
