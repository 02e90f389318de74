from __future__ import annotations

import msgspec
import pytest

from trainrx.knowledge.load import load
from trainrx.model.knowledge import Amount, EchoOf, FactClause, FactEntry, Rule
from trainrx.model.parts import Condition, Param
from trainrx.model.text import Lang
from trainrx.reason.phrasing import amount_text, clause_text, condition_text
from trainrx.render.document import View
from trainrx.render.explain import Entry, echo_text, explained
from trainrx.render.formats.text import page, plain

TITLE = {"en": "A title", "zh": "标题"}
RULE = {
    "schema": 1,
    "id": "oom-explains-timeout",
    "title": TITLE,
    "stage": "explain",
    "since": "0.1.0",
    "why": {"en": "The others wait for the dead rank.", "zh": "其他 rank 在等已退出的 rank。"},
    "when": [
        {"as": "oom", "symptom": "cuda-oom"},
        {"symptom": "nccl-watchdog-timeout", "if": {"rank": {"ne": "$oom.rank"}}},
        {"symptom": "tcp-client-timeout", "absent": True},
    ],
    "then": [
        {"explain": {"effect": "$hang", "by": "$oom"}},
        {"fact": {"name": "collective.silent_rank", "value": 3}},
        {
            "suggest": {
                "cause": "dead-rank",
                "weight": 1.5,
                "why": {"en": "It died.", "zh": "挂了。"},
            }
        },
        {"ask": "oom.phase"},
    ],
}
FACT = {
    "schema": 1,
    "id": "oom.phase",
    "type": "text",
    "title": TITLE,
    "unit": "GiB",
    "values": ["load", "train"],
    "ask": {"en": "Give the whole log.", "zh": "请提供完整日志。"},
}
PARAM = {
    "schema": 1,
    "id": "train.gradient_checkpointing",
    "type": "bool",
    "title": TITLE,
    "spelled": {
        "llamafactory": [
            {"arg": "disable_gradient_checkpointing", "inverted": True, "default": False}
        ],
        "ms-swift": [{"env": "X_CHECKPOINT", "values": {"true": "on"}, "versions": ">=3"}],
    },
}


def shown(entry: Entry, lang="en") -> str:
    return plain(page(explained(entry, View(lang, 100)), View(lang, 100)))


def condition(**fields: object) -> Condition:
    return msgspec.convert(fields, Condition)


def test_a_rule_page_says_when_and_then():
    text = shown(msgspec.convert(RULE, Rule))

    for part in (
        "oom: cuda-oom",
        "nccl-watchdog-timeout [rank != $oom.rank]",
        "tcp-client-timeout not seen",
        "$hang follows from $oom",
        "collective.silent_rank = 3",
        "+1.5 dead-rank: It died.",
        "ask for oom.phase",
    ):
        assert part in text


def test_a_fact_page_says_unit_values_and_how_to_supply_it():
    text = shown(msgspec.convert(FACT, FactEntry), "zh")

    for part in ("事实", "GiB", "load | train", "请提供完整日志。"):
        assert part in text


def test_a_parameter_page_tells_an_inverted_spelling():
    text = shown(msgspec.convert(PARAM, Param))

    assert "--disable_gradient_checkpointing (says the opposite), default false" in text
    assert "ms-swift >=3\n    X_CHECKPOINT, true -> on" in text


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({"fact": "a.b", "eq": True}, "a.b = true"),
        ({"fact": "a.b", "ge": 2, "lt": 4.5}, "a.b < 4.5, >= 2"),
        ({"fact": "a.b", "one_of": ["x", 2]}, "a.b = x | 2"),
        ({"fact": "a.b", "known": True}, "a.b is known"),
        ({"fact": "a.b", "known": False}, "a.b is not known"),
        ({"symptom": "s"}, "s seen"),
        ({"symptom": "s", "seen": False}, "s not seen"),
        ({"symptom": "s", "if": {"rank": {"gt": 0}, "gpu": 1}}, "s seen [rank > 0, gpu = 1]"),
        ({"package": "vllm", "versions": "<0.8"}, "vllm <0.8"),
        ({"package": "vllm", "versions": "<0.8", "known": False}, "vllm <0.8 is not known"),
        ({"not": {"symptom": "s"}}, "not (s seen)"),
        (
            {"all": [{"symptom": "s"}, {"any": [{"symptom": "t"}, {"symptom": "u"}]}]},
            "s seen and (t seen or u seen)",
        ),
    ],
)
def test_a_condition_is_one_readable_line(fields, wanted):
    assert condition_text(condition(**fields), "en") == wanted


def test_a_condition_is_chinese_in_chinese():
    both = condition(all=[{"symptom": "s"}, {"fact": "a.b", "known": False}])

    assert condition_text(both, "zh") == "s 出现 且 a.b 未知"


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({"by": ["a", "b"]}, "a | b: why"),
        ({"by": ["a"], "at": "after", "rank": "other"}, "a (before it, on another rank): why"),
        ({"by": ["a"], "at": "since", "by_if": {"xid": 79}}, "a [xid = 79] (not after it): why"),
        (
            {"by": ["a"], "if": {"reason": {"known": False}, "n": {"ge": 2}}},
            "a (where reason is not known, n >= 2): why",
        ),
    ],
)
def test_an_echo_says_of_what_and_how_it_shows(fields, wanted):
    echo = msgspec.convert({"why": {"en": "why", "zh": "因为"}, **fields}, EchoOf)

    assert echo_text(echo, "en") == wanted


def test_a_clause_keeps_its_constants():
    clause = msgspec.convert({"fact": "a.b", "if": {"value": {"ge": 2}}}, FactClause)

    assert clause_text(clause, "en") == "a.b [value >= 2]"


@pytest.mark.parametrize(
    ("amount", "wanted"),
    [
        (True, "true"),
        (1e-5, "1e-05"),
        ("zero3", "zero3"),
        (Amount(times=0.5, at_least=1), "x 0.5, >= 1"),
        (Amount(plus=-0.1, at_most=0.9), "-0.1, <= 0.9"),
        (Amount(fact="hardware.gpus_per_node"), "hardware.gpus_per_node"),
        (Amount(value=0.5), "0.5"),
    ],
)
def test_an_amount_says_how_it_is_computed(amount, wanted):
    assert amount_text(amount) == wanted


@pytest.mark.parametrize(
    ("lang", "lines"),
    [
        ("en", ("Steps, in this order", "py-spy dump --pid", "all ranks but one report it ->")),
        ("zh", ("按此顺序排查", "py-spy dump --pid", "只有一个 rank 没有报 ->")),
    ],
)
def test_explain_shows_the_steps_with_what_their_output_means(
    lang: Lang, lines: tuple[str, ...]
) -> None:
    text = shown(load().protocols["hang"], lang)

    assert [line for line in lines if line not in text] == []


@pytest.mark.parametrize(
    ("lang", "lines"),
    [
        ("en", ("state of a thread", "it waits until other ranks come", "barrier (torch/")),
        ("zh", ("线程状态", "在等待其他 rank", "barrier (torch/")),
    ],
)
def test_explain_shows_the_frames_that_tell_a_state(lang: Lang, lines: tuple[str, ...]) -> None:
    text = shown(load().states["waits-in-collective"], lang)

    assert [line for line in lines if line not in text] == []


@pytest.mark.parametrize(
    ("lang", "title"), [("en", "What each xid means"), ("zh", "各 xid 的含义")]
)
def test_explain_shows_what_each_code_of_a_symptom_means(lang: Lang, title: str) -> None:
    lines = shown(load().symptoms["xid-error"], lang).splitlines()

    assert title in lines
    (lost,) = (line.split() for line in lines if "GPU_HAS_FALLEN_OFF_THE_BUS" in line)
    assert lost == ["79", "GPU_HAS_FALLEN_OFF_THE_BUS", "card", "RESTART_BM"]
