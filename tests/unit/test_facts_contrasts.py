"""What a note says of settings that were tried otherwise."""

from __future__ import annotations

import time

import pytest

from trainrx.facts.contrasts import contrast_facts
from trainrx.knowledge.load import load
from trainrx.model.facts import Scalar
from trainrx.model.job import Input

PARAMS = load().params


def told(text: str) -> dict[str, Scalar | None]:
    note = Input(kind="note", name="note", text=text)
    found = contrast_facts([note], PARAMS)
    return {item.kind: item.value for item in found if item.kind != "note.trials"}


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            "works without --sequence_parallel_size",
            {"note.works_with.parallel.sequence": "none"},
        ),
        ("Hangs; with packing off it runs fine", {"note.works_with.train.packing": "none"}),
        ("disabling the liger kernel fixes it", {"note.works_with.train.liger": "none"}),
        (
            "I tried:\n1. batch size 1\n2. packing off\nnone of them helped",
            {
                "note.fails_also_with.train.micro_batch": 1,
                "note.fails_also_with.train.packing": "none",
            },
        ),
        (
            "试过 batch size 1、关掉 packing，都没用",
            {
                "note.fails_also_with.train.micro_batch": 1,
                "note.fails_also_with.train.packing": "none",
            },
        ),
        (
            "把 per_device_train_batch_size 降到 1，还是爆显存",
            {"note.fails_also_with.train.micro_batch": 1},
        ),
        ("we run with batch size 1. Nothing helps", {}),
        ("去掉 packing 就好了", {"note.works_with.train.packing": "none"}),
        ("同样的任务不用 deepspeed 就能跑", {"note.works_with.parallel.deepspeed": "none"}),
        ("the same model in bf16 is fine", {"note.works_with.train.precision": "bf16"}),
        (
            "OOM, also with batch size 1",
            {"note.fails_also_with.train.micro_batch": 1},
        ),
        (
            "per_device_train_batch_size 改成 1 也 OOM",
            {"note.fails_also_with.train.micro_batch": 1},
        ),
        (
            "OOM with or without gradient checkpointing",
            {"note.fails_also_with.train.gradient_checkpointing": "none"},
        ),
        (
            "关闭 gradient_checkpointing 之后仍然如此",
            {"note.fails_also_with.train.gradient_checkpointing": "none"},
        ),
        (
            "it does not work without gradient_checkpointing",
            {"note.fails_also_with.train.gradient_checkpointing": "none"},
        ),
        (
            "param_offload=False changes nothing",
            {"note.fails_also_with.parallel.param_offload": "none"},
        ),
        (
            "换 zero3 也一样",
            {
                "note.fails_also_with.parallel.zero_stage": 3,
                "note.fails_also_with.parallel.deepspeed": "zero3",
            },
        ),
        ("没有开 packing", {"train.packing": False}),
        ("SFT with no packing stops", {"train.packing": False}),
    ],
)
def test_a_trial_is_a_fact(text: str, facts: dict[str, Scalar]) -> None:
    assert told(text) == facts


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Does it work without packing?",
        "去掉 packing 会不会好？",
        "Fine-tuning under ZeRO-3 does not start",
        "batch size 4, sequence length 2048, works for 100 steps then hangs",
        "stands still at the start with ZeRO-3",
        "grad_norm is about 100 times that of the run without Liger",
        "packing is on and it hangs",
        "rank 0 fails, the same model works elsewhere",
    ],
)
def test_what_is_no_trial_is_none(text: str) -> None:
    assert told(text) == {}


def test_what_came_of_a_trial_may_stand_in_the_clause_behind() -> None:
    assert told("I removed neat_packing, and it works") == {"note.works_with.train.packing": "none"}


def test_trials_are_listed_by_their_names() -> None:
    note = Input(kind="note", name="note", text="works without packing; also with batch size 1")

    listed = [item.value for item in contrast_facts([note], PARAMS) if item.kind == "note.trials"]

    assert listed == ["note.works_with.train.packing note.fails_also_with.train.micro_batch"]


@pytest.mark.parametrize("part", ["batch size 1 ", "packing ", "works, ", "use_vllm "])
def test_a_long_note_takes_bounded_time(part: str) -> None:
    started = time.process_time()

    told(part * (1_000_000 // len(part)))

    assert time.process_time() - started < 10
