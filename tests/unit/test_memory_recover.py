from __future__ import annotations

from typing import get_args

import msgspec
import pytest
from model_shapes import QWEN_7B as SHAPE

from trainrx.knowledge.load import load
from trainrx.memory.growing import GrowingTensor, vocabulary
from trainrx.memory.printed import Interval, asked_in
from trainrx.memory.recover import TensorCandidate, count_of, counts, kind_of, recover
from trainrx.memory.sizes import Kind, RequestContext
from trainrx.model.hardware import ModelShape, Tower

JOB = RequestContext(
    shape=SHAPE, phase="train", sequences=2, tokens=16384, length=8192, padded=True, enforced=True
)


def asked(figure: str) -> Interval:
    found = asked_in(f"Tried to allocate {figure}")
    assert found is not None
    return found


def best(figure: str, setting: RequestContext) -> TensorCandidate:
    return recover(asked(figure), setting)[0]


def test_readings_come_likeliest_first_and_leave_room_for_others() -> None:
    readings = recover(asked("9.28 GiB"), JOB)

    chances = [reading.chance for reading in readings]
    assert chances == sorted(chances, reverse=True)
    assert sum(chances) < 1


def test_a_reading_says_what_counted() -> None:
    first = best("9.28 GiB", msgspec.structs.replace(JOB, site="logits"))

    assert first.reasons == (
        "16,384 tokens (tokens x vocabulary, 608,256 bytes each)",
        "the launch names this count",
        "stage: train",
        "traceback at logits",
    )
    assert first.score > 10


def test_counts_are_whole_steps_within_the_interval() -> None:
    linear = GrowingTensor(kind="logits", what="", unit="tokens", per=100, step=8)
    square = GrowingTensor(kind="attention-scores", what="", unit="tokens", per=2, power=2)

    assert counts(Interval(low=1601, high=3300), linear) == (24, 32)
    assert counts(Interval(low=1700, high=2300), linear) is None
    assert counts(Interval(low=2 * 10**2 - 5, high=2 * 12**2), square) == (10, 12)


def test_a_segment_of_the_allocator_is_nothing() -> None:
    assert recover(asked("20.00 MiB"), JOB) == ()


@pytest.mark.parametrize("phase", ["save", "load", "weight-sync", "launch"])
def test_no_logits_are_computed_in_other_stages(phase: str) -> None:
    readings = recover(asked("9.28 GiB"), msgspec.structs.replace(JOB, phase=phase))

    assert all(reading.kind != "logits" for reading in readings)


def test_a_traceback_elsewhere_outweighs_a_fitting_size() -> None:
    elsewhere = msgspec.structs.replace(JOB, site="vllm-init")

    assert kind_of(recover(asked("9.28 GiB"), JOB), JOB) == "logits"
    assert kind_of(recover(asked("9.28 GiB"), elsewhere), elsewhere) is None


def test_an_unknown_place_belongs_to_none_of_the_tensors() -> None:
    warmup = msgspec.structs.replace(JOB, site="load-warmup")

    assert kind_of(recover(asked("9.28 GiB"), warmup), warmup) is None


def test_samples_of_one_length_leave_multiples_of_the_batch() -> None:
    seven = msgspec.structs.replace(JOB, sequences=7, tokens=7 * 8192, site="logits")

    counted = [r for r in recover(asked("3.00 GiB"), seven) if r.kind == "logits"]

    assert counted
    assert all(reading.count is not None and reading.count % 7 == 0 for reading in counted)


def test_tensor_parallel_ranks_hold_a_part_of_the_vocabulary() -> None:
    split = msgspec.structs.replace(JOB, tensor=4, site="logits")

    # 152,064 rows are 297 x 512: 38,016 a rank
    assert best("2.32 GiB", split).count == 16384


def test_tiles_are_counted_whole() -> None:
    tower = Tower(depth=24, hidden=1024, heads=16, inter=4096, image_size=448, merge=2)
    seeing = msgspec.structs.replace(SHAPE, vision=True, tower=tower)
    setting = msgspec.structs.replace(JOB, shape=seeing, site="vision-attention")

    # 24 tiles x 16 heads x 1,025 x 1,025 x 2 bytes
    found = [r for r in recover(asked("770.00 MiB"), setting) if r.kind == "vision-attention"]

    # or half as many tiles in float32
    assert {reading.count for reading in found} == {24 * 1024, 12 * 1024}
    assert count_of(found, "vision-attention") is None


def test_nothing_modelled_at_a_place_stays_open() -> None:
    bare = RequestContext(shape=ModelShape(id="x"), site="logits")

    readings = recover(asked("9.28 GiB"), bare)

    assert readings == ()
    assert kind_of(readings, bare) is None


def test_a_kind_without_a_count_has_none() -> None:
    setting = msgspec.structs.replace(JOB, zero_stage=2, site="zero-bucket")
    readings = recover(asked("954.00 MiB"), setting)

    assert kind_of(readings, setting) == "bucket"
    assert count_of(readings, "bucket") is None


def test_a_wide_count_is_not_told() -> None:
    reading = TensorCandidate(
        kind="logits",
        what="",
        chance=0.99,
        score=6.6,
        reasons=(),
        unit="tokens",
        count=1000,
        low=900,
        high=1100,
    )

    assert count_of((reading,), "logits") is None
    assert count_of((msgspec.structs.replace(reading, low=995, high=1005),), "logits") is not None


def full(**more: object) -> RequestContext:
    """Give a job that trains all weights."""
    return msgspec.structs.replace(
        RequestContext(shape=SHAPE, full=True, world=8), **{"phase": "train", **more}
    )


@pytest.mark.parametrize(
    ("figure", "setting", "kind"),
    [
        # exp_avg of up_proj in float32: 3,584 x 18,944 x 4 bytes
        ("260.00 MiB", full(site="optimizer-step"), "optimizer-state"),
        # 7.616e9 parameters in float32 over 8 ranks
        ("3.55 GiB", full(site="optimizer-step", zero_stage=2), "optimizer-state"),
        ("3.55 GiB", full(zero_stage=2), "flat-buffer"),
        # all parameters in bf16
        ("14.19 GiB", full(phase="load", zero_stage=1), "flat-buffer"),
        # a sub-group of 1e9 elements in float32
        ("3.73 GiB", full(phase="train-start", zero_stage=3, world=1), "flat-buffer"),
        # a layer with its norms and biases, 233,057,792 parameters in float32
        ("890.00 MiB", full(site="zero-gather", fsdp=True, world=None), "gathered-layer"),
        # 152,064 x 3,584 x 2 bytes
        ("1.02 GiB", full(phase="load", site="model-load"), "weight"),
        ("520.00 MiB", full(phase="load", site="model-load", tensor=2), "weight"),
    ],
)
def test_tensors_of_a_known_size_are_recognised(
    figure: str, setting: RequestContext, kind: str
) -> None:
    assert kind_of(recover(asked(figure), setting), setting) == kind


def test_quantised_weights_have_other_sizes() -> None:
    setting = full(phase="load", site="model-load", quantised=True)

    assert all(r.kind != "weight" for r in recover(asked("1.02 GiB"), setting))


def test_adapters_have_no_states_of_all_weights() -> None:
    setting = msgspec.structs.replace(full(site="optimizer-step", zero_stage=2), full=False)

    assert kind_of(recover(asked("3.55 GiB"), setting), setting) is None


def test_a_tower_without_a_pixel_cap_takes_the_processor_s_own() -> None:
    tower = Tower(depth=32, hidden=1280, heads=16, inter=5120, merge=2)
    seeing = msgspec.structs.replace(SHAPE, vision=True, tower=tower)
    setting = RequestContext(shape=seeing, site="vision-attention", torch="2.4.1", phase="train")

    # 16 heads x 25,600 x 25,600 x 2 bytes: one image of 2,240 x 2,240
    readings = recover(asked("19.53 GiB"), setting)

    found = count_of(readings, "vision-attention")
    assert found is not None
    assert found.count == pytest.approx(25600, abs=4)


@pytest.mark.parametrize("torch", ["", "nightly", "2"])
def test_an_unknown_release_of_torch_leaves_both_widths(torch: str) -> None:
    tower = Tower(depth=32, hidden=1280, heads=16, inter=5120, merge=2)
    seeing = msgspec.structs.replace(SHAPE, vision=True, tower=tower)
    setting = RequestContext(shape=seeing, site="vision-attention", torch=torch, phase="train")

    found = [r for r in recover(asked("5.00 GiB"), setting) if r.kind == "vision-attention"]

    assert len(found) == 2
    assert count_of(found, "vision-attention") is None


def test_every_kind_is_a_value_of_the_fact() -> None:
    assert load().facts["oom.asked_is"].values == get_args(Kind)


def test_a_head_split_over_ranks_has_its_rows_padded() -> None:
    odd = msgspec.structs.replace(SHAPE, vocab=32003)

    setting = msgspec.structs.replace(JOB, shape=odd, tensor=2)

    # 126 blocks of 256 rows hold 32,003 of them
    assert vocabulary(setting) == 126 * 256 // 2
