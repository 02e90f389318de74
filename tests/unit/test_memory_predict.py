"""The closed form against figures that follow from counting alone."""

from __future__ import annotations

import msgspec
import pytest

from trainrx.memory.model import adapters_of, model_of
from trainrx.memory.predict import peak, predict, verdict
from trainrx.memory.use import GIB
from trainrx.model.constants import JUDGED
from trainrx.model.hardware import ModelShape
from trainrx.model.memory import Figure, Length, Prediction, Refusal, Rollout, Workload

MISTRAL = ModelShape(
    id="mistral-7b",
    params_b=7.2417,
    layers=32,
    hidden=4096,
    heads=32,
    kv_heads=8,
    inter=14336,
    vocab=32000,
    tie=False,
)
EXACT = Length(low=4096, typical=4096, high=4096, how="exact")
FULL = Workload(shape=MISTRAL, precision="pure", micro_batch=4, length=EXACT)
LORA = msgspec.structs.replace(FULL, tuner="lora", rank=16, targets=("q", "k", "v", "o"))


def predicted(work: Workload) -> Prediction:
    """Predict, and insist on a prediction."""
    found = predict(work)
    assert isinstance(found, Prediction), found
    return found


def terms(work: Workload, phase: str) -> dict[str, float]:
    """Give the terms of one phase, GiB."""
    found = next(item for item in predicted(work).phases if item.phase == phase)
    return {term.name: term.gib for term in found.terms}


def test_full_tuning_in_two_byte_numbers_peaks_at_ten_bytes_a_parameter() -> None:
    # 2 weights, 2 gradients, 4 moments, 2 of the foreach step: 67.46 GiB were measured
    found = predicted(FULL)
    assert found.peak == "step"
    assert found.allocated.gib == pytest.approx(67.46, rel=0.005)


def test_a_fused_step_needs_no_temporary() -> None:
    fused = msgspec.structs.replace(FULL, foreach=False)
    assert "step" not in terms(fused, "step")


def test_weights_kept_in_fp32_take_twenty_bytes_a_parameter_over_the_shards() -> None:
    work = msgspec.structs.replace(
        FULL, precision="upcast", world=4, data=4, zero_stage=3, fsdp=1, loss="linear"
    )
    total = sum(terms(work, "step").values())
    assert total == pytest.approx(20 * 7.2417e9 / 4 / GIB, rel=0.01)


@pytest.mark.parametrize(("stage", "bytes_each"), [(0, 16.0), (1, 2 + 2 + 12 / 8), (3, 16 / 8)])
def test_deepspeed_shards_what_its_stage_says(stage: int, bytes_each: float) -> None:
    work = msgspec.structs.replace(FULL, precision="deepspeed", world=8, data=8, zero_stage=stage)
    found = terms(work, "step")
    held = sum(found[name] for name in ("weights", "gradients", "master", "optimizer"))
    assert held == pytest.approx(bytes_each * 7.2417e9 / GIB, rel=0.01)


def test_adapters_count_as_lora_says() -> None:
    # r x (in + out) for q, k, v, o of 32 layers
    one = 16 * ((4096 + 4096) + (4096 + 1024) * 2 + (4096 + 4096))
    assert adapters_of(MISTRAL, 16, ("q", "k", "v", "o")) == 32 * one
    assert terms(LORA, "step")["adapters"] == pytest.approx(32 * one * 4 / GIB)


def test_logits_cost_what_the_loss_keeps_of_them() -> None:
    eager = terms(LORA, "loss")["logits"]
    assert eager == pytest.approx(4 * 4096 * 32000 * JUDGED.logit_eager / GIB)
    linear = terms(msgspec.structs.replace(LORA, loss="linear"), "loss")["logits"]
    assert linear < eager / 20


def test_checkpoints_are_one_hidden_state_a_layer() -> None:
    assert terms(LORA, "loss")["checkpoints"] == pytest.approx(32 * 4 * 4096 * 4096 * 2 / GIB)


def test_packed_weights_leave_embedding_and_head_as_they_are() -> None:
    packed = terms(msgspec.structs.replace(LORA, quant_bits=4), "load")["weights"]
    ends = 2 * 32000 * 4096 * 2 / GIB
    linear = 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336) * 0.516 / GIB
    assert packed == pytest.approx(ends + linear, rel=0.01)


def test_an_engine_takes_its_share_while_it_generates() -> None:
    work = msgspec.structs.replace(
        LORA, task="grpo", card_gib=80.0, rollout=Rollout(mode="colocate", share=0.5, sleep=1)
    )
    assert terms(work, "rollout")["engine"] == pytest.approx(40.0)
    assert terms(work, "loss")["engine"] == pytest.approx(JUDGED.engine_asleep_gib)


def test_sharded_weights_are_gathered_for_the_engine_in_as_many_parts_as_set() -> None:
    work = msgspec.structs.replace(
        LORA,
        task="grpo",
        card_gib=80.0,
        precision="deepspeed",
        zero_stage=3,
        world=4,
        data=4,
        rollout=Rollout(mode="colocate", share=0.4),
    )
    whole = terms(work, "weight-sync")["gathered"]
    assert whole == pytest.approx(7.2417e9 * 2 / GIB)
    parts = msgspec.structs.replace(
        work, rollout=Rollout(mode="colocate", share=0.4, move_batches=8)
    )
    assert terms(parts, "weight-sync")["gathered"] == pytest.approx(whole / 8)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"micro_batch": -1.0}, "micro_batch is -1"),
        ({"world": 0}, "world is 0"),
        ({"tensor": 5, "world": 5}, "32 attention heads cannot be split over 5"),
        ({"tensor": 4, "world": 6}, "6 GPUs cannot be split into groups of 4"),
        ({"pipeline": 64, "world": 64}, "32 layers cannot be split into 64 stages"),
        ({"micro_batch": float("nan")}, "micro_batch is nan"),
        ({"rollout": Rollout(mode="colocate", share=1.5)}, "share is 1.5"),
    ],
)
def test_what_cannot_run_is_refused_with_the_reason(change: dict[str, object], named: str) -> None:
    found = predict(msgspec.structs.replace(LORA, **change))
    assert isinstance(found, Refusal)
    assert found.kind == "impossible"
    assert named in found.reason


def test_an_optimizer_nobody_measured_gets_no_number() -> None:
    found = predict(msgspec.structs.replace(LORA, optimizer="shampoo"))
    assert isinstance(found, Refusal)
    assert found.kind == "unmodelled"


def test_a_model_without_widths_gets_no_number() -> None:
    found = predict(msgspec.structs.replace(LORA, shape=ModelShape(id="x", params_b=7.0)))
    assert isinstance(found, Refusal)
    assert found.id == "model-incomplete"


def test_the_search_sees_the_figures_of_the_answer() -> None:
    model = model_of(MISTRAL)
    assert model is not None
    found = predicted(LORA)
    assert peak(LORA, model, JUDGED) == (
        found.allocated.gib,
        found.reserved.gib,
        found.card.gib,
        found.need_gib,
    )
    assert found.allocated.gib == pytest.approx(max(item.gib for item in found.phases))


@pytest.mark.parametrize(
    ("limit", "expected"), [(30.0, "fits"), (22.0, "tight"), (15.0, "does-not-fit"), (None, None)]
)
def test_the_verdict_compares_the_interval_with_the_card(
    limit: float | None, expected: str | None
) -> None:
    assert verdict(Figure(gib=22, low=20, high=25), 19.0, limit) == expected
