from __future__ import annotations

import pytest

from trainrx.facts.engine import request_facts
from trainrx.model.facts import Facts, Scalar, fact


def told(**values: Scalar) -> dict[str, Scalar | None]:
    given = Facts(fact(name.replace("__", "."), value) for name, value in values.items())
    return {item.kind: item.value for item in request_facts(given)}


QWEN = {"model__vocab": 152064, "batch__tokens_per_micro_batch": 16384, "train__micro_batch": 2}


@pytest.mark.parametrize("asked", [9.28, 4.64])
def test_a_request_of_all_tokens_is_recognised_in_either_width(asked: float) -> None:
    assert told(oom__asked_gib=asked, **QWEN)["oom.logits_against_limit"] == "equal"


def test_more_tokens_than_the_launch_allows_need_a_traceback_at_the_logits() -> None:
    at_logits = told(oom__asked_gib=14.0, oom__site="logits", **QWEN)
    elsewhere = told(oom__asked_gib=14.0, **QWEN)

    assert at_logits["oom.logits_against_limit"] == "above"
    assert "oom.logits_against_limit" not in elsewhere


def test_fewer_tokens_are_below_the_limit() -> None:
    out = told(oom__asked_gib=2.0, oom__site="logits", **QWEN)

    assert out["oom.logits_against_limit"] == "below"


def test_a_size_between_both_widths_says_nothing() -> None:
    out = told(oom__asked_gib=7.0, oom__site="logits", **QWEN)

    assert "oom.logits_against_limit" not in out


def test_the_completions_of_grpo_are_recognised() -> None:
    out = told(
        oom__asked_gib=round(4 * 1024 * 151936 * 4 / 2**30, 2),
        model__vocab=151936,
        batch__tokens_per_micro_batch=4 * 3072,
        train__micro_batch=4,
        rlhf__max_completion_length=1024,
        launch__task="grpo",
    )

    assert out["oom.logits_against_limit"] == "equal"


@pytest.mark.parametrize(("seen", "smaller"), [(79.15, False), (44.4, True), (73.7, False)])
def test_a_slice_of_a_card_is_smaller_than_the_card_told(*, seen: float, smaller: bool) -> None:
    assert told(hardware__gpu_gib=80.0, oom__card_gib=seen)["oom.card_smaller"] is smaller


@pytest.mark.parametrize(
    ("asked", "bucket"), [(954 / 1024, True), (1.86, True), (382 / 1024, True), (1.7, False)]
)
def test_the_default_buckets_of_deepspeed_are_recognised(*, asked: float, bucket: bool) -> None:
    out = told(oom__asked_gib=asked, parallel__zero_stage=2)

    assert out["oom.asked_is_a_bucket"] is bucket


def test_without_a_request_nothing_is_said() -> None:
    assert told(model__vocab=152064, hardware__gpu_gib=80.0) == {}


def test_a_request_is_measured_in_models() -> None:
    assert told(oom__asked_gib=28.4, memory__weights_gib=14.2)["oom.asked_of_weights"] == 2.0
