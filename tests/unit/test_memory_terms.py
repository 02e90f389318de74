"""Terms of the closed form, each against a number computed by hand or measured on a card.

The measured ones are rows of benchmarks/data/memory/rows.jsonl (source family hf-trainer).
"""

from __future__ import annotations

import msgspec
import pytest

from trainrx.memory.activations import SCORES_FORWARD
from trainrx.memory.model import model_of
from trainrx.memory.phases import GIB, Use
from trainrx.memory.predict import predict, use_of
from trainrx.model.constants import JUDGED
from trainrx.model.hardware import ModelShape, Tower
from trainrx.model.memory import Images, Length, Prediction, Workload

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
SMALL = msgspec.structs.replace(
    QWEN, id="qwen2.5-0.5b", params_b=0.49403, layers=24, hidden=896, heads=14, inter=4864
)
TOWER = Tower(depth=32, hidden=1280, heads=16, inter=3420, merge=2, temporal_patch=2, gated=True)
ALL = ("q", "k", "v", "o", "gate", "up", "down")
EXACT = Length(low=2048, typical=2048, high=2048, how="exact")
FULL = Workload(shape=QWEN, micro_batch=2, length=EXACT, holds_logits=False, attention="sdpa")
LORA = msgspec.structs.replace(FULL, tuner="lora", targets=ALL, lora_dropout=0.0)
INT8 = msgspec.structs.replace(LORA, quant_bits=8, quant_method="bnb", reentrant=False)
ZERO = msgspec.structs.replace(FULL, precision="deepspeed", zero_stage=2)


def parts(work: Workload) -> Use:
    """Work out the parts of a job whose model is known."""
    model = model_of(work.shape)
    assert model is not None
    return use_of(work, model, JUDGED, work.length.typical)


def terms(work: Workload, phase: str) -> dict[str, float]:
    """Give the terms of one phase, GiB."""
    found = predict(work)
    assert isinstance(found, Prediction), found
    return {term.name: term.gib for one in found.phases if one.phase == phase for term in one.terms}


def test_matrices_in_8_bits_keep_their_inputs_in_spite_of_checkpointing() -> None:
    # a token and layer: normed states twice, attention's output, the MLP's product, in 2 bytes.
    # Measured: 12.072 GiB, 9.146 where the forward runs without a graph
    stashed = parts(INT8).stashed / GIB

    assert stashed == pytest.approx(28 * 4096 * 2 * (3 * 1536 + 8960) / GIB)
    assert stashed == pytest.approx(12.072 - 9.146, rel=0.02)


def test_a_prepared_model_gives_8_bit_matrices_fp32_inputs_but_for_attention() -> None:
    prepared = msgspec.structs.replace(INT8, embeddings_upcast=True)

    per_token = 4 * (2 * 1536 + 8960) + 2 * 1536

    assert parts(prepared).stashed == pytest.approx(28 * 4096 * per_token)


@pytest.mark.parametrize(
    "change",
    [{"reentrant": True}, {"quant_bits": 4}, {"quant_method": "gptq"}, {"checkpointing": False}],
)
def test_nothing_is_stashed_where_the_forward_has_no_graph_or_hooks_see_it_all(
    change: dict[str, object],
) -> None:
    assert parts(msgspec.structs.replace(INT8, **change)).stashed == 0.0


def test_adapters_in_two_byte_numbers_keep_an_input_they_share_once() -> None:
    # four copies of the hidden state a layer less: 21.740 GiB measured, 20.427 under DeepSpeed
    stored = msgspec.structs.replace(LORA, checkpointing=False)
    alone = parts(stored).activations
    engine = parts(msgspec.structs.replace(stored, precision="deepspeed", zero_stage=2)).activations

    assert (alone - engine) / GIB == pytest.approx(4 * 1536 * 2 * 28 * 4096 / GIB)
    assert (alone - engine) / GIB == pytest.approx(21.740 - 20.427, rel=0.01)


def test_adapters_on_packed_weights_keep_copies_only_where_the_stream_is_fp32() -> None:
    packed = msgspec.structs.replace(
        LORA, checkpointing=False, quant_bits=4, quant_method="bnb", precision="autocast"
    )
    prepared = msgspec.structs.replace(packed, embeddings_upcast=True)

    assert parts(prepared).activations - parts(packed).activations == pytest.approx(
        4 * 1536 * 2 * 28 * 4096
    )


def test_autocast_copies_an_fp32_head_for_the_loss() -> None:
    # measured with and without the preparation: 9.780 and 8.584 GiB allocated, of which embedding
    # and stream are 0.763
    prepared = msgspec.structs.replace(
        LORA, quant_bits=4, quant_method="bnb", embeddings_upcast=True
    )

    head = terms(prepared, "loss")["head"]

    assert head == pytest.approx(151936 * 1536 * 2 / GIB)
    assert head == pytest.approx(9.780 - 8.584 - 0.763, abs=0.02)


def test_a_head_in_two_byte_numbers_or_deepspeeds_is_not_copied() -> None:
    assert "head" not in terms(LORA, "loss")
    assert "head" not in terms(ZERO, "loss")


@pytest.mark.parametrize(("loss", "gradients"), [("eager", 2), ("linear", 1)])
def test_a_tied_embedding_has_two_gradients_before_their_sum(loss: str, gradients: int) -> None:
    work = msgspec.structs.replace(FULL, loss=loss)

    assert parts(work).tied == pytest.approx(gradients * 151936 * 1536 * 2)


def test_the_sum_of_a_tied_embeddings_gradients_is_what_sgd_peaks_at() -> None:
    # Qwen3-4B: 16.593 GiB allocated, 15.14 after the backward
    shape = ModelShape(
        id="qwen3-4b",
        params_b=4.0225,
        layers=36,
        hidden=2560,
        heads=32,
        kv_heads=8,
        head_dim=128,
        inter=9728,
        vocab=151936,
        tie=True,
    )
    work = msgspec.structs.replace(FULL, shape=shape, micro_batch=1, optimizer="sgd", foreach=False)
    found = predict(work)

    assert isinstance(found, Prediction)
    assert found.peak == "backward"
    assert found.allocated.gib == pytest.approx(16.593, rel=0.02)


def test_a_head_of_its_own_gets_one_gradient() -> None:
    assert parts(
        msgspec.structs.replace(FULL, shape=msgspec.structs.replace(QWEN, tie=False))
    ).tied == pytest.approx(0.0)


def test_deepspeed_joins_the_gradients_before_their_fp32_copy() -> None:
    # 10.187 GiB at the step of a fused AdamW, 6.51 between steps: 2-byte gradients twice, fp32 once
    work = msgspec.structs.replace(ZERO, shape=SMALL, foreach=False, loss="linear")

    found = terms(work, "step")

    assert found["step"] == pytest.approx(0.49403e9 * (2 + 4) / GIB, rel=0.001)
    assert found["gradients"] + found["step"] == pytest.approx(10.187 - 6.51, rel=0.01)


def test_a_foreach_step_of_deepspeed_needs_no_more_than_its_own_copy() -> None:
    assert terms(ZERO, "step")["step"] == pytest.approx(1.5437e9 * 8 / GIB, rel=0.001)


def test_stages_one_and_two_let_their_bucket_go_before_the_step() -> None:
    # measured at the step: 34.568 GiB, with a bucket it would be 35.5
    assert "bucket" in terms(ZERO, "backward")
    assert not {"bucket", "buffers"} & terms(ZERO, "step").keys()
    found = predict(ZERO)
    assert isinstance(found, Prediction)
    assert found.allocated.gib == pytest.approx(34.568, rel=0.01)


def test_stage_three_keeps_its_bucket() -> None:
    assert "buffers" in terms(msgspec.structs.replace(ZERO, zero_stage=3), "step")


SEEING = msgspec.structs.replace(
    LORA,
    shape=msgspec.structs.replace(QWEN, tower=TOWER, vision=True),
    attention="eager",
    images=Images(pixels=64 * 64 * 14.0 * 14.0, hooked=True),
)


def test_eager_attention_of_a_tower_takes_every_pair_of_an_images_patches() -> None:
    # 64 x 64 patches an image: Qwen2.5-VL-3B took 13.756 GiB in eager, 9.374 with SDPA
    assert parts(SEEING).scores == pytest.approx(JUDGED.score_live * 16 * 2 * 4096**2)


def test_a_tower_without_backward_holds_scores_for_a_moment_only() -> None:
    frozen = msgspec.structs.replace(SEEING, images=msgspec.structs.replace(SEEING.images))
    frozen = msgspec.structs.replace(
        frozen, images=Images(pixels=64 * 64 * 14.0 * 14.0, hooked=False)
    )

    assert parts(frozen).scores == pytest.approx(SCORES_FORWARD * 16 * 2 * 4096**2)


def test_other_attention_of_a_tower_has_no_scores() -> None:
    assert parts(msgspec.structs.replace(SEEING, attention="sdpa")).scores == 0.0


def test_an_image_is_one_frame_however_many_the_tower_takes_together() -> None:
    one = msgspec.structs.replace(TOWER, temporal_patch=1)
    single = msgspec.structs.replace(SEEING, shape=msgspec.structs.replace(SEEING.shape, tower=one))

    assert parts(SEEING).tower == parts(single).tower > 0


def test_a_packed_matrix_is_unpacked_for_the_layer_at_work_alone() -> None:
    packed = msgspec.structs.replace(LORA, quant_bits=4, quant_method="bnb")

    assert terms(packed, "backward")["unpacked"] == pytest.approx(
        JUDGED.dequantised * 1536 * 8960 * 2 / GIB
    )
    assert "unpacked" not in terms(packed, "loss")
