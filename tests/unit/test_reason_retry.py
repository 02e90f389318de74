from __future__ import annotations

import pytest

from trainrx.knowledge.retry import read_retry
from trainrx.model.errors import KnowledgeError
from trainrx.model.facts import Facts, Origin, fact
from trainrx.model.fixing import EXIT, RetryRule
from trainrx.model.parts import Condition
from trainrx.model.result import CauseOut, Reason, SymptomSeen
from trainrx.model.text import Text
from trainrx.reason.conditions import Situation
from trainrx.reason.retry import judge, leading

WHY = Text(en="why", zh="理由")
AGAIN = RetryRule(id="again", verdict="deterministic", why=WHY, families=("oom",))
PASSES = RetryRule(id="passes", verdict="transient", why=WHY, causes=("shared",))
NODE = RetryRule(id="node", verdict="bad-node", why=WHY, symptoms=("ecc-error",))
NOTHING = Situation(Facts(), {})
LINE = Origin(source="train.log", line=7, text="boom")


def cause(ident, probability, *, family="oom", holds=True):
    reason = Reason(id="r", text="", weight=2.0, holds=holds, evidence=(LINE,))
    return CauseOut(
        id=ident,
        title=ident,
        summary="",
        family=family,
        verdict="likely",
        score=1.0,
        probability=probability,
        prior=0.1,
        reasons=(reason,),
    )


def seen(ident, *, echo_of=None, family="crash_other", ranks=()):
    return SymptomSeen(
        id=ident, title=ident, family=family, evidence=(LINE,), ranks=ranks, echo_of=echo_of
    )


def test_the_first_rule_that_speaks_of_the_best_cause_counts():
    judged = judge([cause("shared", 0.9)], [], [PASSES, AGAIN], NOTHING)

    assert judged.verdict == "transient"
    assert judged.rule == PASSES
    assert judged.evidence == (LINE,)


def test_the_family_counts_where_no_rule_names_the_cause():
    assert judge([cause("other", 0.9)], [], [PASSES, AGAIN], NOTHING).verdict == "deterministic"


def test_two_close_causes_that_disagree_are_unknown_and_both_are_named():
    judged = judge([cause("shared", 0.9), cause("other", 0.85)], [], [PASSES, AGAIN], NOTHING)

    assert judged.verdict == "unknown"
    assert "“other” would fail again" in judged.why.en
    assert "“shared”" in judged.why.zh


def test_a_cause_far_behind_has_no_say():
    judged = judge([cause("shared", 0.9), cause("other", 0.5)], [], [PASSES, AGAIN], NOTHING)

    assert judged.verdict == "transient"


def test_a_cause_nothing_speaks_for_has_no_say():
    bare = cause("other", 0.6, holds=None)

    assert leading([bare]) == ()
    assert judge([bare], [seen("ecc-error", ranks=(3,))], [AGAIN, NODE], NOTHING).ranks == (3,)


def test_an_echo_says_nothing():
    symptoms = [seen("ecc-error", echo_of="cuda-oom")]

    assert judge([], symptoms, [NODE], NOTHING).verdict == "unknown"


@pytest.mark.parametrize(
    ("known", "verdict"), [([fact("x", 1)], "transient"), ([], "deterministic")]
)
def test_a_condition_counts_only_where_it_is_known_to_hold(known, verdict):
    when = RetryRule(id="late", verdict="transient", why=WHY, families=("oom",))
    conditional = RetryRule(
        id="late", verdict="transient", why=WHY, families=("oom",), when=Condition(fact="x", eq=1)
    )

    judged = judge([cause("other", 0.9)], [], [conditional, AGAIN], Situation(Facts(known), {}))

    assert judged.verdict == verdict
    assert judge([cause("other", 0.9)], [], [when, AGAIN], NOTHING).verdict == "transient"


def test_a_healthy_job_is_no_reason_to_restart():
    assert judge([], [], [AGAIN], NOTHING, healthy=True).verdict == "unknown"


def test_statuses_are_told_apart_from_those_any_program_may_end_with():
    assert EXIT == {"transient": 0, "deterministic": 10, "bad-node": 11, "unknown": 12}


def test_the_own_table_goes_before_the_shipped_one(tmp_path):
    (tmp_path / "retry.yaml").write_text(
        "- {id: mine, verdict: unknown, causes: [disk-full], why: {en: Own., zh: 自定。}}\n"
    )

    rules = read_retry([tmp_path])

    assert rules[0].id == "mine"
    assert len(rules) > 10


def test_a_malformed_table_names_file_and_key(tmp_path):
    (tmp_path / "retry.yaml").write_text("- {id: mine, verdict: never, why: {en: a, zh: 乙}}\n")

    with pytest.raises(KnowledgeError, match=r"retry\.yaml.*verdict"):
        read_retry([tmp_path])


def test_two_close_causes_that_agree_are_followed():
    judged = judge([cause("one", 0.9), cause("other", 0.85)], [], [PASSES, AGAIN], NOTHING)

    assert (judged.verdict, judged.rule) == ("deterministic", AGAIN)
