"""Whatever is known of a job, there is a workload or a refusal, and both can be said."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from trainrx.memory.workload import workload_of
from trainrx.model.assumptions import ASSUMPTIONS, REFUSALS, say
from trainrx.model.facts import Facts, fact
from trainrx.model.hardware import ModelShape, TokenStats, Tower
from trainrx.model.memory import Assumption, Refusal, Workload
from unit.workloads import knowledge

NUMBERS = st.one_of(
    st.integers(-3, 70_000),
    st.sampled_from([0, 1, 2, 3, 4, 8, 10**12, -(10**15)]),
    st.floats(allow_nan=True, allow_infinity=True),
)
WORDS = st.one_of(
    st.sampled_from(
        [
            *("ms-swift", "trl", "verl", "openrlhf", "llamafactory", "axolotl", "transformers"),
            *("nemo-automodel", "nemo-rl", "easyr1", "slime", "ddp", "mfsdp"),
            *("sft", "dpo", "grpo", "ppo", "rm", "gkd", "infer", "full", "lora", "freeze", "none"),
            *("megatron sft", "fsdp2", "full_shard auto_wrap", "hybrid_shard", "zero3", "auto"),
            *("bf16", "fp16", "fp32", "3.2.1", ">=2,<5", "adamw_torch", "flash_attn", "eager"),
            *("colocate", "server", "seq_cls", "Qwen/Qwen2.5-VL-7B-Instruct", "all-linear", "0,1"),
        ]
    ),
    st.text(max_size=30),
)
NAMED = sorted({*knowledge().params, *knowledge().facts} | {"log.max_pixels"})
VALUES = st.one_of(NUMBERS, WORDS, st.booleans())
FACTS = st.dictionaries(st.sampled_from(NAMED), VALUES, max_size=40)
COUNTS = st.one_of(st.none(), st.integers(0, 2**20))
SHAPES = st.one_of(
    st.none(),
    st.sampled_from(knowledge().models),
    st.builds(
        ModelShape,
        id=st.text(max_size=8),
        params_b=st.one_of(st.none(), st.floats(0, 1e3)),
        layers=COUNTS,
        hidden=COUNTS,
        heads=COUNTS,
        vocab=COUNTS,
        experts=COUNTS,
        max_positions=COUNTS,
        vision=st.booleans(),
        tower=st.one_of(
            st.none(),
            st.builds(
                Tower,
                depth=st.integers(0, 64),
                hidden=st.integers(0, 4096),
                heads=st.integers(0, 64),
                inter=st.integers(0, 9999),
                tokens_per_image=COUNTS,
                image_size=COUNTS,
            ),
        ),
    ),
)
AMOUNTS = st.floats(0, 1e6)
STATS = st.one_of(
    st.none(),
    st.builds(
        TokenStats,
        mean=AMOUNTS,
        std=AMOUNTS,
        p99=st.one_of(st.none(), AMOUNTS),
        max=st.one_of(st.none(), AMOUNTS),
        images=st.one_of(st.none(), st.floats(0, 50)),
        videos=st.one_of(st.none(), st.floats(0, 5)),
    ),
)


USUAL: dict[str, str | float | bool] = {
    "launch.framework": "ms-swift",
    "launch.framework_version": "3.12.0",
    "launch.command": "sft",
    "launch.task": "sft",
    "model.name": "Qwen/Qwen2.5-VL-7B-Instruct",
    "tuner.type": "lora",
    "train.max_length": 2048,
    "train.micro_batch": 2,
    "parallel.world_size": 8,
}
FRAMEWORKS = st.sampled_from(
    [
        *("ms-swift", "trl", "verl", "openrlhf", "llamafactory", "axolotl", "transformers"),
        *("nemo-automodel", "nemo-rl", "easyr1", "slime"),
    ]
)
TASKS = st.sampled_from(["sft", "pt", "dpo", "kto", "rm", "grpo", "ppo", "orpo"])


def _facts(values: dict[str, str | float | bool]) -> Facts:
    return Facts(fact(kind, value) for kind, value in values.items())


@given(values=FACTS, shape=SHAPES, stats=STATS)
def test_any_facts_give_a_workload_or_a_refusal(values, shape, stats) -> None:
    known = knowledge()

    found = workload_of(
        _facts(values), shape, stats, models=known.models[:20], datasets=known.datasets
    )

    _holds(found)


@given(
    framework=FRAMEWORKS,
    task=TASKS,
    values=st.dictionaries(st.sampled_from(NAMED), VALUES, max_size=6),
    shape=st.sampled_from(knowledge().models),
    stats=STATS,
)
def test_a_usual_job_with_a_few_odd_facts(framework, task, values, shape, stats) -> None:
    known = knowledge()
    facts = USUAL | {"launch.framework": framework, "launch.task": task} | values

    found = workload_of(_facts(facts), shape, stats, datasets=known.datasets)

    _holds(found)


def _holds(found: tuple[Workload, tuple[Assumption, ...]] | Refusal) -> None:
    if isinstance(found, Refusal):
        assert found.id in REFUSALS
        assert found.kind in ("unknown", "unmodelled", "impossible")
        return
    work, assumed = found
    length = work.length
    assert 0 <= length.low <= length.typical <= length.high
    assert math.isfinite(length.high)
    assert min(work.world, work.data, work.tensor, work.pipeline, work.context) >= 1
    assert work.world == work.data * work.tensor * work.pipeline * work.context
    assert 0 < work.logit_share <= 1
    assert work.micro_batch >= 1
    assert {item.id for item in assumed} <= set(ASSUMPTIONS)


@given(values=FACTS)
def test_what_is_said_has_no_gap_in_either_language(values) -> None:
    shape = knowledge().models[0]
    braces = {name: str(value) for name, value in values.items() if "{" in str(value)}

    found = workload_of(_facts(values), shape, datasets=knowledge().datasets)

    if braces:
        return
    said = (found,) if isinstance(found, Refusal) else found[1]
    table = REFUSALS if isinstance(found, Refusal) else ASSUMPTIONS
    for item in said:
        for lang in ("en", "zh"):
            assert "{" not in say(table, item.id, item.values, lang)
