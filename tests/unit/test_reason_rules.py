"""YAML rules become engine rules, or are refused with file and key path."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from engine_rules import given

from trainrx.model.errors import KnowledgeError
from trainrx.model.knowledge import Rule
from trainrx.reason.base import Check, Copy, Join, Pattern, RuleError
from trainrx.reason.rules import LOG_GIVEN, RuleNames, compile_rule, misfit

NAMES = RuleNames(
    symptoms={"cuda-oom", "nccl-watchdog-timeout"}, causes={"small-card"}, facts={"oom.ranks", "x"}
)


def yaml_rule(when: list[dict[str, Any]], *then: dict[str, Any], stage: str = "explain") -> Rule:
    entry = {
        "schema": 1,
        "id": "test-rule",
        "title": {"en": "t", "zh": "题"},
        "stage": stage,
        "since": "0.1.0",
        "why": {"en": "w", "zh": "因"},
        "when": when,
        "then": list(then) or [{"ask": "x"}],
    }
    return msgspec.convert(entry, Rule)


def test_a_clause_becomes_a_pattern_with_checks_and_joins():
    made = compile_rule(
        yaml_rule(
            [
                {"symptom": "cuda-oom", "as": "oom", "if": {"asked": {"ge": 4, "lt": 9}}},
                {
                    "symptom": "nccl-watchdog-timeout",
                    "if": {"rank": {"ne": "$oom.rank"}, "gpu": "$oom.gpu", "at": {"gt": "$oom.at"}},
                },
            ]
        ),
        NAMES,
    )

    assert made.when == (
        Pattern(
            kind="symptom.cuda-oom",
            checks=(Check("asked", "ge", 4), Check("asked", "lt", 9)),
            alias="oom",
        ),
        Pattern(kind="symptom.nccl-watchdog-timeout", alias="#1"),
    )
    assert [(j.left, j.left_field, j.op, j.right_field, j.same) for j in made.joins] == [
        ("#1", "rank", "ne", "rank", ()),
        ("#1", "gpu", "eq", "gpu", ()),
        ("#1", "at", "gt", "at", ("clock",)),
    ]


def test_times_are_compared_within_one_clock_only():
    made = compile_rule(
        yaml_rule(
            [
                {"symptom": "cuda-oom", "as": "oom"},
                {"symptom": "nccl-watchdog-timeout", "if": {"at": {"gt": "$oom.at"}}},
            ]
        )
    )

    assert made.joins == (
        Join(left="#1", left_field="at", op="gt", right="oom", right_field="at", same=("clock",)),
    )


def test_known_asks_whether_a_field_is_there():
    made = compile_rule(
        yaml_rule(
            [{"symptom": "cuda-oom", "if": {"rank": {"known": False}, "at": {"known": True}}}]
        )
    )

    assert made.when[0].checks == (Check("rank", "missing"), Check("at", "known"))


def test_the_absence_of_a_symptom_needs_a_log():
    made = compile_rule(
        yaml_rule([{"fact": "x"}, {"symptom": "cuda-oom", "absent": True, "if": {"rank": 0}}])
    )

    assert made.when[1].absent
    assert made.when[1].lenient
    assert made.when[2] == LOG_GIVEN


def test_a_conclusion_may_copy_a_field():
    made = compile_rule(
        yaml_rule(
            [{"fact": "x", "as": "it"}],
            {"fact": {"name": "oom.ranks", "value": "$it.value"}},
            {"fact": {"name": "x", "value": "plain text"}},
            stage="derive",
        ),
        NAMES,
    )

    assert made.derive[0].fields == (("value", Copy("it", "value")),)
    assert made.derive[1].fields == (("value", "plain text"),)


OOM = {"symptom": "cuda-oom", "as": "oom"}
TIMEOUT = {"symptom": "nccl-watchdog-timeout", "as": "timeout"}
ABSENT = {"symptom": "nccl-watchdog-timeout", "as": "timeout", "absent": True}


@pytest.mark.parametrize(
    ("when", "then", "key", "message"),
    [
        ([{"symptom": "cuda-oom", "fact": "x"}], None, "when[0]", "exactly one"),
        ([{}], None, "when[0]", "exactly one"),
        ([{"symptom": "nonsense"}], None, "when[0].symptom", "no symptom 'nonsense'"),
        ([{"fact": "nonsense"}], None, "when[0].fact", "no fact 'nonsense'"),
        ([OOM, {"fact": "x", "as": "oom"}], None, "when[1].as", "twice"),
        ([{"fact": "x", "as": "a b"}], None, "when[0].as", "plain word"),
        ([{"fact": "x", "if": {"value": {"like": 1}}}], None, "when[0].if", "no operator 'like'"),
        ([{"fact": "x", "if": {"value": {"known": 1}}}], None, "when[0].if", "true or false"),
        ([{"fact": "x", "if": {"value": 1e400}}], None, "when[0].if", "cannot be compared"),
        ([{"fact": "x", "if": {"v": "$b.v"}}], None, "when[0].if.v", "no clause is called 'b'"),
        ([ABSENT, {"fact": "x", "if": {"v": "$timeout.v"}}], None, "when[1].if.v", "absent"),
        ([OOM, {**ABSENT, "if": {"at": "$oom.at"}}], None, "when[1].if.at", "absent clause"),
        ([ABSENT], None, "when", "not absent"),
        ([{"fact": "x"}] * 9, None, "when", "more than 8"),
        ([OOM], {}, "then[0]", "exactly one of"),
        ([OOM], {"ask": "x", "fact": {"name": "x", "value": 1}}, "then[0]", "exactly one of"),
        ([OOM], {"fact": {"name": "y", "value": 1}}, "then[0].fact.name", "no fact 'y'"),
        ([OOM], {"fact": {"name": "x", "value": "$b.v"}}, "then[0].fact.value", "$b.v"),
        (
            [OOM, ABSENT],
            {"fact": {"name": "x", "value": "$timeout.at"}},
            "then[0].fact.value",
            "$timeout.at",
        ),
        ([OOM], {"ask": "y"}, "then[0].ask", "no fact 'y'"),
        (
            [OOM],
            {"suggest": {"cause": "c", "weight": 1, "why": {"en": "a", "zh": "b"}}},
            "then[0].suggest.cause",
            "no cause 'c'",
        ),
        ([OOM], {"explain": {"effect": "$oom", "by": "small-card"}}, "then[0].explain", "mixes"),
        ([OOM], {"explain": {"effect": "$oom", "by": "$b"}}, "then[0].explain.by", "$b"),
        (
            [OOM, ABSENT],
            {"explain": {"effect": "$timeout", "by": "$oom"}},
            "then[0].explain.effect",
            "$timeout",
        ),
        (
            [OOM, {"fact": "x", "as": "it"}],
            {"explain": {"effect": "$it", "by": "$oom"}},
            "then[0].explain.effect",
            "$it",
        ),
        (
            [OOM],
            {"explain": {"effect": "small-card", "by": "large-card"}},
            "then[0].explain.by",
            "no cause 'large-card'",
        ),
    ],
)
def test_a_malformed_rule_is_refused_with_file_and_key(when, then, key, message):
    made = yaml_rule(when, *([] if then is None else [then]))

    with pytest.raises(KnowledgeError) as refused:
        compile_rule(made, NAMES)

    assert refused.value.path == "rules/explain/test-rule.yaml"
    assert refused.value.key == key
    assert message in refused.value.message


def test_a_path_that_is_given_is_named():
    with pytest.raises(KnowledgeError, match=r"^my/pack\.yaml: when\[0\]"):
        compile_rule(yaml_rule([{}]), path="my/pack.yaml")


def test_a_rule_base_s_refusal_names_the_rule_s_file():
    made = yaml_rule([OOM])

    assert misfit(RuleError("test-rule", "no"), {"test-rule": made}).path.endswith("test-rule.yaml")
    assert misfit(RuleError("", "too many"), {}).path == "rules"


def test_the_kit_makes_facts_with_origins():
    assert str(given("x", "a.log").origins[0]) == "a.log"
