"""Remedies are called what they are: by the table for every entry, and on every screen."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import msgspec
import pytest

from trainrx.entries.check_safety import safety_problems, step_problems
from trainrx.entries.sources import read_source
from trainrx.fix.plan import destructive_step
from trainrx.knowledge.load import load
from trainrx.knowledge.places import shipped
from trainrx.model.knowledge import Cause, Fix
from trainrx.model.levers import LeverStep
from trainrx.model.result import FixOut
from trainrx.model.safety import SafetyRule
from trainrx.model.text import Lang
from trainrx.render.cause import remedy
from trainrx.render.document import Document, View
from trainrx.render.formats import markdown, text

WORDS = {"en": "a", "zh": "一"}
DESTROYS = re.compile(
    r"\brm -|-delete\b|\bray stop|\b(?:p?kill|killall|scancel)\b|gpu-reset|systemctl (?:re|stop)"
)
RESULT = re.compile(
    r"(?:train\.(?:packing|precision|max_length|truncation|max_steps)|model\.load_dtype|"
    r"tuner\.(?:type|quant_bits)|(?:freeze|vision)\..*)"
)


@lru_cache(maxsize=1)
def rules() -> tuple[SafetyRule, ...]:
    folder = shipped()[0]
    source = read_source(folder / "safety.yaml", folder, SafetyRule, table=True)
    return tuple(r for r in source.records if isinstance(r, SafetyRule))


def fix(**parts: Any) -> Fix:
    made = {"id": "a", "title": WORDS, "safety": "safe", "cost": WORDS, **parts}
    return msgspec.convert(made, Fix)


def refused(remedy: Fix) -> list[str]:
    return [problem.message for problem in safety_problems(remedy, "entry", rules(), "fixes.a")]


@pytest.mark.parametrize(
    ("parts", "class_"),
    [
        ({"commands": ["rm -rf /tmp/ray"]}, "destructive"),
        ({"commands": ["find ~/.cache -name lock -delete"]}, "destructive"),
        ({"commands": ["ray stop --force"]}, "destructive"),
        ({"steps": {"en": "On each node: ray stop; then start.", "zh": "一"}}, "destructive"),
        ({"steps": {"en": "save_total_limit 2 keeps two.", "zh": "一"}}, "destructive"),
        ({"set": {"train.packing": False}}, "changes-results"),
        ({"unset": ["tuner.quant_bits"]}, "changes-results"),
        ({"set": {"train.precision": "bf16"}}, "changes-results"),
        ({"set": {"train.micro_batch": 8}}, "changes-results"),
        ({"set": {"parallel.param_offload": True}}, "costs"),
        (
            {"measures": [{"kind": "arg", "param": "--data.max_length", "action": "lower"}]},
            "changes-results",
        ),
    ],
)
def test_no_remedy_is_called_better_than_the_table_says(parts: dict[str, Any], class_: str) -> None:
    assert any(f"kb/safety.yaml says {class_}" in said for said in refused(fix(**parts)))


@pytest.mark.parametrize(
    "parts",
    [
        {"set": {"train.micro_batch": {"times": 0.5}, "train.grad_accum": {"times": 2}}},
        {"set": {"train.packing": True}, "safety": "changes-results"},
        {"set": {"parallel.param_offload": False}},
        {"commands": ["kill -CONT PID", "rmdir empty", "ray status"]},
        {"set": {"train.gradient_checkpointing": True}},
    ],
)
def test_what_keeps_the_result_or_says_that_it_does_not_passes(parts: dict[str, Any]) -> None:
    assert refused(fix(**parts)) == []


def test_what_is_destroyed_is_named_with_a_look_at_it_before() -> None:
    target = {"target": WORDS, "look_first": ["ls x"], "commands": ["rm -r x"]}

    assert refused(fix(safety="destructive", destroys=target)) == []
    assert refused(fix(safety="destructive"))
    assert refused(fix(safety="safe", destroys=target))
    assert refused(fix(safety="destructive", destroys={**target, "look_first": []}))
    assert refused(fix(safety="destructive", destroys=target, commands=["rm -r x"]))


def remedies() -> list[tuple[str, Fix]]:
    known = load()
    causes: list[Cause] = list(known.causes.values())
    return [(cause.id, one) for cause in causes for one in cause.fixes]


def test_no_remedy_of_any_entry_destroys_among_its_commands() -> None:
    found = [
        f"{entry}/{one.id}: {line}"
        for entry, one in remedies()
        for line in one.commands
        if DESTROYS.search(line.replace("kill -CONT", ""))
    ]

    assert found == []


def test_no_safe_remedy_of_any_entry_changes_precision_or_data() -> None:
    excepted = {name for rule in rules() for name in rule.except_}
    found = [
        f"{entry}/{one.id}: {name}"
        for entry, one in remedies()
        for name in (*one.set, *one.unset)
        if one.safety in ("safe", "costs") and RESULT.fullmatch(name)
    ]

    assert [one for one in found if one.partition(":")[0] not in excepted] == []


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("post", [False, True])
def test_a_screen_shows_the_target_then_the_look_and_last_the_deed(lang: Lang, post: bool) -> None:
    known = load().causes["extension-lock-left-behind"].fixes[0]
    assert known.destroys is not None
    step = destructive_step(known.destroys, lang)
    shown = FixOut(id="a", title="A", safety="destructive", cost="", destroys=step)
    view = View(lang, 200, post=post)
    page = Document((remedy(shown, 1, view),))

    said = (markdown if post else text).write(page, view).replace("\\~", "~")

    places = [
        said.index(part)
        for part in (step.target, step.look_first[0], step.confirm, step.commands[0])
    ]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("quality", "parameter", "value", "refused"),
    [
        (0, "model.load_dtype", "bf16", True),
        (1, "model.load_dtype", "bf16", False),
        (0, "train.packing", True, True),
        (0, "train.micro_batch", 1, False),
        (0, "train.gradient_checkpointing", True, False),
    ],
)
def test_a_step_of_a_lever_is_not_graded_better_than_the_table(
    quality: int, parameter: str, value: object, refused: bool
) -> None:
    price = {"quality": quality, "slowdown": [1.0, 1.0]}
    step = msgspec.convert({"set": {parameter: value}, "price": price, "ref": "a"}, LeverStep)

    found = list(step_problems(step, "lever", 1, rules()))

    assert bool(found) == refused


def test_steps_of_what_destroys_leave_the_command_to_the_place_for_it() -> None:
    look = {"target": WORDS, "look_first": ["ray status"], "commands": ["ray stop"]}
    told = {"safety": "destructive", "destroys": look}

    assert refused(fix(**told)) == []
    assert refused(fix(**told, steps={"en": "On each node: ray stop.", "zh": "一"})) == [
        "name what destroys: write the command under `destroys`"
    ]


def test_one_card_of_several_is_another_batch() -> None:
    card = {"kind": "env", "param": "CUDA_VISIBLE_DEVICES", "action": "set", "to": "0"}

    assert "changes-results" in refused(fix(measures=[card]))[0]
    assert refused(fix(measures=[card | {"to": "0,1,..."}])) == []
