"""What a remedy is called follows from what it does to a launch, for each entry and lever."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

import msgspec
import pytest

from trainrx.facts.all import derive_memory
from trainrx.fix.amounts import NotComputable, target
from trainrx.fix.changes import Target, can_spell
from trainrx.fix.plan import plan
from trainrx.knowledge.load import load
from trainrx.launch.given import Given
from trainrx.launch.job import argument_facts, find_launch, launch_facts, settle
from trainrx.model.facts import Fact, Facts, Scalar, fact
from trainrx.model.hardware import ModelShape
from trainrx.model.job import Input
from trainrx.model.knowledge import Cause
from trainrx.model.levers import Lever, LeverStep
from trainrx.model.result import Change

KNOWLEDGE = load()
MILD = ("safe", "costs")
RESULT = (
    "batch.effective",
    "batch.generation",
    "freeze.llm",
    "freeze.vision",
    "model.load_dtype",
    "rlhf.beta",
    "rlhf.max_completion_length",
    "rlhf.max_prompt_length",
    "rlhf.num_generations",
    "rlhf.temperature",
    "rlhf.type",
    "train.dataset",
    "train.epochs",
    "train.learning_rate",
    "train.max_grad_norm",
    "train.max_length",
    "train.max_steps",
    "train.packing",
    "train.precision",
    "train.truncation",
    "train.warmup_ratio",
    "tuner.alpha",
    "tuner.dropout",
    "tuner.quant_bits",
    "tuner.rank",
    "tuner.targets",
    "tuner.type",
    "vision.max_pixels",
)
"""Facts that decide what comes out of a training."""
KEPT = ("batch.effective", "batch.generation")
"""What the planner keeps for a whole plan, or says what it becomes."""
PACKED = """
NPROC_PER_NODE=4 swift sft --model Qwen/Qwen2.5-VL-7B-Instruct --dataset a.jsonl \\
  --train_type lora --torch_dtype bfloat16 --per_device_train_batch_size 2 \\
  --gradient_accumulation_steps 8 --max_length 8192 --packing true \\
  --attn_impl flash_attn --deepspeed zero2 --max_pixels 1003520
"""
REINFORCED = """
NPROC_PER_NODE=8 swift rlhf --rlhf_type grpo --model Qwen/Qwen2.5-7B-Instruct --dataset a.jsonl \\
  --train_type full --torch_dtype bfloat16 --deepspeed zero3 --beta 0.04 --num_generations 8 \\
  --per_device_train_batch_size 4 --gradient_accumulation_steps 4 --max_length 4096 \\
  --max_completion_length 1024 --use_vllm true --vllm_mode colocate
"""
QUANTISED = """
accelerate launch --num_processes 4 -m trl.scripts.sft --model_name_or_path Qwen/Qwen2.5-7B \\
  --dataset_name a/b --output_dir out --per_device_train_batch_size 2 --bf16 true \\
  --gradient_accumulation_steps 8 --max_length 4096 --use_peft true --load_in_4bit true
"""
JOBS = {
    "in packed rows": (PACKED, {"ms-swift": "4.5.2", "transformers": "4.57.1"}),
    "by an engine": (REINFORCED, {"ms-swift": "3.8.0", "transformers": "4.55.4"}),
    "on a quantised base": (QUANTISED, {"trl": "0.24.0", "transformers": "4.57.1"}),
}


class Job(msgspec.Struct, frozen=True):
    """A launch as it was read, and what it comes to."""

    given: tuple[Fact, ...]
    shape: ModelShape | None
    target: Target

    def with_values(self, values: Mapping[str, Scalar | None]) -> Facts:
        """Give what the launch comes to with other values; None: without the parameter."""
        kept = (item for item in self.given if item.kind not in values)
        new = (fact(name, value) for name, value in values.items() if value is not None)
        return derive_memory((*new, *kept), KNOWLEDGE, self.shape)

    def altered(self, values: Mapping[str, Scalar | None]) -> list[str]:
        """List what of the result the values change."""
        before, after = self.target.facts, self.with_values(values)
        known = [name for name in RESULT if before.value(name) is not None]
        return [name for name in known if after.value(name) != before.value(name)]


@lru_cache
def job(name: str) -> Job:
    command, versions = JOBS[name]
    given = Given(scripts=(Input(kind="script", name="run.sh", text=command),))
    raw, _ = find_launch(given)
    assert raw is not None
    launch = settle(raw, given, versions=versions, knowledge=KNOWLEDGE)
    own = (*launch_facts(launch, versions), *argument_facts(launch, KNOWLEDGE.arguments))
    facts = derive_memory(own, KNOWLEDGE, launch.shape)
    target_ = Target(facts=facts, knowledge=KNOWLEDGE, versions=versions, style="arg", lang="en")
    return Job(own, launch.shape, target_)


def offered(cause: Cause) -> Cause:
    """Give a cause with its mild remedies, each offered whatever else is the case."""
    mild = [fix for fix in cause.fixes if fix.safety in MILD and (fix.set or fix.unset)]
    fixes = tuple(msgspec.structs.replace(fix, only_if=None) for fix in mild)
    return msgspec.structs.replace(cause, fixes=fixes)


def values_of(changes: Iterable[Change]) -> dict[str, Scalar | None]:
    return {
        change.canonical: None if change.to is None else scalar(change.to)
        for change in changes
        if change.canonical
    }


def scalar(text: str) -> Scalar:
    try:
        value: Scalar = json.loads(text)
    except json.JSONDecodeError:
        return text
    return value


@pytest.mark.parametrize("name", JOBS)
def test_no_remedy_that_is_shown_as_harmless_changes_the_result(name: str) -> None:
    here = job(name)
    judged: dict[str, list[str]] = {}

    for cause in KNOWLEDGE.causes.values():
        for shown in plan(offered(cause), here.target).fixes:
            values = values_of(shown.changes)
            if shown.safety in MILD and values and str(values) not in judged:
                judged[str(values)] = [
                    f"{cause.id}/{shown.id}: {at}" for at in here.altered(values)
                ]

    assert len(judged) > 50
    assert [line for lines in judged.values() for line in lines] == []


@pytest.mark.parametrize("name", JOBS)
def test_no_step_of_a_lever_graded_as_the_same_result_changes_it(name: str) -> None:
    here = job(name)

    altered = [
        f"{lever.id}/{number}: {at}"
        for lever, number, step in steps()
        if (values := step_values(step, here)) is not None
        for at in here.altered(values)
        if at not in KEPT
    ]

    assert altered == []


def steps() -> Iterator[tuple[Lever, int, LeverStep]]:
    for lever in KNOWLEDGE.levers.values():
        for number, step in enumerate(lever.steps, start=1):
            if not step.price.quality:
                yield lever, number, step


def step_values(step: LeverStep, here: Job) -> dict[str, Scalar | None] | None:
    """Give what a step sets; None: not here."""
    facts = here.target.facts
    if not all(can_spell(name, here.target, wanted) for name, wanted in step.set.items()):
        return None
    try:
        return {name: target(name, wanted, facts) for name, wanted in step.set.items()}
    except NotComputable:
        return None
