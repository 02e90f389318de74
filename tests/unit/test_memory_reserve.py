"""What the allocator keeps, against what it held on a card (rows of family hf-trainer)."""

from __future__ import annotations

import msgspec
import pytest

from trainrx.memory.model import model_of
from trainrx.memory.phases import GIB, Use
from trainrx.memory.predict import peak
from trainrx.memory.reserve import reserved_beyond
from trainrx.model.constants import JUDGED
from trainrx.model.hardware import ModelShape
from trainrx.model.memory import Length, Workload

QWEN = ModelShape(
    id="qwen2.5-1.5b",
    params_b=1.5437,
    layers=28,
    hidden=1536,
    heads=12,
    kv_heads=2,
    inter=8960,
    vocab=151936,
    tie=True,
)
EXACT = Length(low=2048, typical=2048, high=2048, how="exact")
FULL = Workload(shape=QWEN, length=EXACT, foreach=False, holds_logits=False, attention="sdpa")
BARE = msgspec.structs.replace(JUDGED, slack_steady=0.0, slack_blocks=0.0, packing_gib=0.0)
COPY = 2.0 * 2048 * 151936 * 4
"""An fp32 copy of the logits of two samples, 2.318 GiB."""


def batch(**parts: float) -> Use:
    """Give a job of 3 GiB of weights whose loss takes three fp32 copies of the logits."""
    return Use(weights=3 * GIB, logits=3 * COPY, block=COPY, live=0.5 * GIB, **parts)


def kept(use: Use, work: Workload = FULL) -> float:
    """Give what is kept beyond weights, states and the copies, GiB."""
    allocated = use.steady + use.logits
    return reserved_beyond(use, work, allocated, BARE).kept / GIB


def test_the_two_byte_logits_and_the_layers_blocks_serve_no_fp32_copy() -> None:
    assert kept(batch()) == pytest.approx(COPY / 2 / GIB + 0.5)


def test_logits_the_model_still_holds_leave_no_block_free() -> None:
    held = msgspec.structs.replace(FULL, holds_logits=True)

    assert kept(batch(), held) == pytest.approx(0.5)


def test_states_that_fit_the_free_blocks_cost_nothing() -> None:
    states = batch(gradients=0.5 * GIB, optimizer=1.0 * GIB)

    # they lie in what would be free else: 1.159 and 0.5 GiB
    assert kept(states) == pytest.approx(COPY / 2 / GIB + 0.5 - 1.0)


@pytest.mark.parametrize(("gib", "broken"), [(3.0, 1), (5.0, 2), (7.0, 3)])
def test_each_copy_of_the_logits_that_states_reach_into_is_made_again(
    gib: float, broken: int
) -> None:
    states = batch(gradients=0.5 * GIB, optimizer=gib * GIB)

    free = COPY / 2 / GIB + 0.5
    assert kept(states) == pytest.approx(free - gib + broken * COPY / GIB)


def test_states_in_small_blocks_break_none() -> None:
    assert kept(batch(gradients=4 * GIB, optimizer=0.05 * GIB)) < COPY / 2 / GIB + 3


def test_what_is_free_from_end_to_end_is_returned_before_torch_gives_up() -> None:
    found = reserved_beyond(batch(), FULL, 3 * GIB + 3 * COPY, BARE)

    assert found.kept > 0
    assert found.stuck == 0.0


def test_packing_weights_on_the_card_leaves_parts_of_segments() -> None:
    packed = msgspec.structs.replace(FULL, tuner="lora", quant_bits=4, quant_method="bnb")
    k = msgspec.structs.replace(BARE, packing_gib=0.8)
    use = batch()

    found = reserved_beyond(use, packed, use.steady + use.logits, k)

    assert found.kept / GIB == pytest.approx(kept(use, packed) + 0.8)


@pytest.mark.parametrize(
    ("change", "reserved"),
    [
        ({"micro_batch": 1}, 15.752),
        ({"micro_batch": 4}, 30.018),
        ({"micro_batch": 4, "optimizer": "sgd"}, 20.635),
        ({"micro_batch": 4, "optimizer": "adamw_bnb_8bit"}, 25.33),
        ({"micro_batch": 4, "accumulation": 2}, 30.021),
        ({"micro_batch": 2, "foreach": True}, 23.17),
        ({"micro_batch": 8, "foreach": True}, 47.53),
        ({"micro_batch": 2, "optimizer": "paged_adamw_8bit"}, 11.92),
    ],
)
def test_full_tuning_holds_what_was_held(change: dict[str, object], reserved: float) -> None:
    model = model_of(QWEN)
    assert model is not None

    found = peak(msgspec.structs.replace(FULL, **change), model, JUDGED)

    assert found.reserved == pytest.approx(reserved, rel=0.07)


@pytest.mark.parametrize(("samples", "reserved"), [(4, 30.119), (8, 46.348)])
def test_flat_states_of_deepspeed_break_copies_wider_than_they_are(
    samples: int, reserved: float
) -> None:
    shape = msgspec.structs.replace(
        QWEN, id="qwen2.5-0.5b", params_b=0.49403, layers=24, hidden=896, heads=14, inter=4864
    )
    work = msgspec.structs.replace(
        FULL, shape=shape, micro_batch=samples, precision="deepspeed", zero_stage=2
    )
    model = model_of(shape)
    assert model is not None

    assert peak(work, model, JUDGED).reserved == pytest.approx(reserved, rel=0.07)


def test_a_loss_that_makes_no_copy_leaves_a_flat_tensor_no_block() -> None:
    deepspeed = msgspec.structs.replace(FULL, precision="deepspeed", zero_stage=2)
    fused = Use(weights=3 * GIB, gradients=1.0 * GIB, step=0.25 * GIB)

    assert kept(fused, deepspeed) >= 0.25
