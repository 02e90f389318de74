"""The driver: rules on one job."""

from __future__ import annotations

import sys

import msgspec
import pytest
from test_reason_rules import OOM, TIMEOUT, yaml_rule

from trainrx.model.errors import KnowledgeError
from trainrx.model.facts import Fact, Facts, Origin, fact
from trainrx.model.parts import Condition
from trainrx.reason.base import EngineError
from trainrx.reason.conditions import Situation, decide
from trainrx.reason.durable import DurableEngine, load_native
from trainrx.reason.reasoner import Reasoner
from trainrx.reason.reference import PyEngine
from trainrx.reason.rulebase import RuleBase
from trainrx.reason.stage import infer_safely, select_engine

ENGINES = pytest.mark.parametrize("engine", ["durable", "reference"])
WHY = {"en": "because", "zh": "因为"}
VOTE = {"suggest": {"cause": "small-card", "weight": 1.5, "why": WHY}}
AFTER = {**TIMEOUT, "if": {"rank": {"ne": "$oom.rank"}, "at": {"gt": "$oom.at"}}}
LINK = yaml_rule([OOM, AFTER], {"explain": {"effect": "$timeout", "by": "$oom"}})


def named(rule, ident):
    return msgspec.structs.replace(rule, id=ident)


def seen(symptom, line=1, **fields):
    origin = Origin(source="train.log", line=line)
    return Fact(kind=f"symptom.{symptom}", fields=tuple(fields.items()), origins=(origin,))


def reason(facts, rules, engine="durable"):
    return Reasoner(rules, engine).reason(Situation(Facts(facts), {}, {}))


@ENGINES
def test_an_explanation_names_both_sightings(engine):
    oom, timeout = seen("cuda-oom", rank=0, at=100), seen("nccl-watchdog-timeout", rank=3, at=700)

    (found,) = reason([timeout, oom], [LINK], engine=engine).explanations

    assert (found.rule, found.effect, found.by) == (
        "test-rule",
        "nccl-watchdog-timeout",
        "cuda-oom",
    )
    assert (found.effect_fact, found.by_fact) == (timeout, oom)


@ENGINES
@pytest.mark.parametrize("clocks", [("wall", "a.log"), ("wall", None)])
def test_lines_of_two_clocks_have_no_order(engine, clocks):
    fields = [{} if clock is None else {"clock": clock} for clock in clocks]
    facts = [
        seen("cuda-oom", rank=0, at=100, **fields[0]),
        seen("nccl-watchdog-timeout", rank=3, at=700, **fields[1]),
    ]

    assert reason(facts, [LINK], engine=engine).explanations == ()


def test_causes_are_explained_by_their_ids():
    rule = yaml_rule([{"fact": "x"}], {"explain": {"effect": "few-shards", "by": "one-process"}})

    (found,) = reason([fact("x", 1)], [rule]).explanations

    assert (found.effect, found.by, found.effect_fact) == ("few-shards", "one-process", None)


def test_a_vote_carries_its_facts_and_a_group_of_its_rule():
    rule = yaml_rule([{"fact": "x", "if": {"value": {"ge": 2}}}], VOTE, stage="suggest")

    (vote,) = reason([fact("x", 3)], [rule]).suggestions

    assert (vote.cause, vote.weight, vote.group) == ("small-card", 1.5, "rule:test-rule")
    assert vote.facts == (fact("x", 3),)
    assert vote.why.zh == "因为"


def test_the_log_that_proves_an_absence_is_no_evidence_of_a_vote():
    rule = yaml_rule([{"fact": "x"}, {"symptom": "cuda-oom", "absent": True}], VOTE)

    (vote,) = reason([fact("x", 3), fact("log.given", True)], [rule]).suggestions

    assert vote.facts == (fact("x", 3),)
    assert reason([fact("x", 3)], [rule]).suggestions == ()


def test_a_rule_asks():
    rule = yaml_rule([{"fact": "x"}], {"ask": "hardware.gpu"})

    (ask,) = reason([fact("x", 3)], [rule]).asks

    assert (ask.what, ask.facts) == ("hardware.gpu", (fact("x", 3),))


DERIVE = yaml_rule(
    [{"fact": "x", "as": "it"}], {"fact": {"name": "y", "value": "$it.value"}}, stage="derive"
)
CHAIN = named(
    yaml_rule(
        [{"fact": "y", "as": "it", "if": {"value": {"ge": 2}}}, {"fact": "x"}],
        {"fact": {"name": "z", "value": True}},
        stage="derive",
    ),
    "chain",
)


@ENGINES
def test_derived_facts_reach_rules_and_conditions_with_the_origins_they_rest_on(engine):
    here = Origin(source="launch.sh", line=3)
    vote = named(yaml_rule([{"fact": "z"}], VOTE, stage="suggest"), "vote")

    done = reason(
        [fact("x", 3, here)],
        [vote, CHAIN, DERIVE],
        engine=engine,
    )

    assert done.facts.value("y") == 3
    assert done.facts.origins("z") == (here,)
    assert decide(Condition(fact="z", eq=True), done.situation) is True
    assert [vote.rule for vote in done.suggestions] == ["vote"]
    assert {applied.rule for applied in done.firings} == {"test-rule", "chain", "vote"}


@ENGINES
def test_what_was_given_outranks_what_would_be_derived(engine):
    done = reason([fact("x", 3), fact("y", 1)], [DERIVE, CHAIN], engine=engine)

    assert done.facts.value("y") == 1
    assert "z" not in done.facts


def test_a_field_that_is_missing_is_not_copied():
    rule = yaml_rule(
        [{"symptom": "cuda-oom", "as": "oom"}], {"fact": {"name": "y", "value": "$oom.rank"}}
    )

    assert "y" not in reason([seen("cuda-oom")], [rule]).facts
    assert reason([seen("cuda-oom", rank=2)], [rule]).facts.value("y") == 2


def test_a_rule_outside_the_safe_subset_is_named():
    rules = [
        named(yaml_rule([{"fact": "x", "if": {"value": value}}]), f"rule-{at}")
        for at, value in enumerate([1, "text"])
    ]

    with pytest.raises(KnowledgeError, match=r"rules/explain/rule-1\.yaml: when: .*two types"):
        Reasoner(rules)


def many(symptom, number):
    return [seen(symptom, at, rank=at % 40, at=at) for at in range(number)]


@ENGINES
def test_thousands_of_sightings_are_thinned_out_and_said_so(engine):
    facts = [*many("cuda-oom", 3000), *many("nccl-watchdog-timeout", 3000)]

    done = reason(facts, [LINK], engine=engine)

    assert done.explanations
    assert any("sightings" in note for note in done.notes)


def test_the_first_of_every_rank_is_kept():
    rule = yaml_rule([{"symptom": "cuda-oom", "if": {"rank": 9}}], VOTE)
    facts = [seen("cuda-oom", at, rank=min(9, at // 100), at=at) for at in range(1000)]

    assert len(reason(facts, [rule]).suggestions) >= 1


def test_a_rule_with_many_clauses_sees_fewer_sightings():
    clauses = [{"symptom": "cuda-oom"} for _ in range(8)]

    done = reason(many("cuda-oom", 50), [yaml_rule(clauses, VOTE)])

    assert done.suggestions == ()
    assert any("at most 3" in note for note in done.notes)


def test_rules_beyond_all_limits_are_left_out_and_noted():
    clauses = [{"symptom": f"s{i}"} for i in range(3)]
    rules = [
        named(yaml_rule(clauses, {"fact": {"name": f"f{i}", "value": True}}), f"rule-{i}")
        for i in range(2)
    ]
    pairs = [
        named(
            yaml_rule(
                [{"symptom": "s0", "as": "a"}],
                *({"fact": {"name": f"many.{i}", "value": j}} for j in range(100)),
            ),
            f"more-{i}",
        )
        for i in range(3)
    ]
    cross = named(
        yaml_rule([{"fact": f"many.{i}"} for i in range(3)], {"fact": {"name": "q", "value": 1}}),
        "cross",
    )

    done = reason([seen("s0")], [*rules, *pairs, cross])

    assert "q" not in done.facts
    assert done.notes == ("the facts were too many to apply the rules to",)


def test_the_engine_that_ran_is_named():
    assert reason((), [DERIVE]).engine_name == "durable_rules 2.0.28"
    assert reason((), [DERIVE], engine="reference").engine_name == "reference (as asked)"
    assert reason((), ()).engine_name == "none"


def test_without_the_c_module_the_reference_engine_runs_and_says_why(monkeypatch):
    monkeypatch.setitem(sys.modules, "durable_rules_engine", None)

    done = reason([fact("x", 1)], [DERIVE])

    assert done.facts.value("y") == 1
    assert done.engine_name == "reference (durable_rules is not installed: extra `durable`)"


class _Failing:
    """Stands for a C module that fails while it runs, which none does on demand."""

    error = load_native().error

    def __getattr__(self, name):
        return getattr(load_native(), name)

    def __init__(self, message):
        self.message = message

    def assert_fact(self, *_):
        raise self.error(self.message)


@pytest.mark.parametrize(
    ("message", "reason_given"),
    [("Could not assert fact, error code: 303", "more than 64 patterns"), ("odd", "odd")],
)
def test_an_engine_that_fails_while_it_runs_is_replaced_and_noted(message, reason_given):
    base = RuleBase([])
    engine = DurableEngine(base)
    engine.native = _Failing(message)

    inference, note = infer_safely(engine, base, [])

    assert inference == PyEngine(base).infer([])
    assert note is not None
    assert reason_given in note


def test_a_refused_fact_is_an_error():
    base = RuleBase([])
    engine = DurableEngine(base)
    engine.native = _Refusing()

    with pytest.raises(EngineError, match="code 7"):
        engine.infer([])


class _Refusing(_Failing):
    def __init__(self):
        super().__init__("")

    def assert_fact(self, *_):
        return 7, None


def test_a_fallback_shows_in_the_notes(monkeypatch):
    made = Reasoner([DERIVE])
    for stage in made._stages():
        monkeypatch.setattr(stage.engine, "native", _Failing("odd"))

    done = made.reason(Situation(Facts([fact("x", 1)]), {}))

    assert done.facts.value("y") == 1
    assert any("reference engine used" in note for note in done.notes)


def test_a_reasoner_serves_many_jobs_until_it_is_closed():
    made = Reasoner([DERIVE])
    jobs = [Situation(Facts([fact("x", value)]), {}) for value in (1, 2, 1)]

    answers = [made.reason(job).facts.value("y") for job in jobs]
    made.close()

    assert answers == [1, 2, 1]


def test_the_engine_may_be_chosen():
    base = RuleBase([])

    assert select_engine(base)[1] is None
    assert select_engine(base, "reference")[1] == "as asked"
