"""The closed form against figures that follow from counting alone."""

from __future__ import annotations

import msgspec
import pytest

from trainrx.memory.activations import batch_tokens
from trainrx.memory.model import adapters_of, model_of
from trainrx.memory.phases import GIB
from trainrx.memory.predict import host_use, peak, predict, verdict
from trainrx.model.constants import JUDGED
from trainrx.model.hardware import ModelShape, Tower
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
    count = 4 * 4096 * 32000 / GIB
    eager = terms(LORA, "loss")["logits"]
    assert eager == pytest.approx(count * (JUDGED.logit_eager + JUDGED.logit_held))
    copied = terms(msgspec.structs.replace(LORA, holds_logits=False), "loss")["logits"]
    assert copied == pytest.approx(count * JUDGED.logit_eager)
    linear = terms(msgspec.structs.replace(LORA, loss="linear"), "loss")["logits"]
    assert linear < eager / 20


def test_code_of_its_own_makes_fp32_logits_under_autocast_alone() -> None:
    qwen = msgspec.structs.replace(MISTRAL, id="Qwen/Qwen-7B-Chat")
    work = msgspec.structs.replace(LORA, shape=qwen, precision="autocast")
    engine = msgspec.structs.replace(work, precision="deepspeed", world=4, data=4, zero_stage=2)
    ratio = terms(engine, "loss")["logits"] / terms(work, "loss")["logits"]
    assert ratio == pytest.approx(
        JUDGED.logit_half / (JUDGED.logit_eager + JUDGED.logit_held), rel=1e-6
    )


def test_adapters_under_fsdp_mixed_precision_widen_the_layer_at_work_and_no_checkpoint() -> None:
    mixed = msgspec.structs.replace(
        LORA, precision="autocast", world=4, data=4, zero_stage=3, fsdp=1
    )
    pure = msgspec.structs.replace(mixed, precision="pure")
    assert terms(mixed, "loss")["checkpoints"] == terms(pure, "loss")["checkpoints"]
    more = terms(mixed, "backward")["live"] - terms(pure, "backward")["live"]
    # q, k, v and o: four inputs as wide as the hidden state
    assert more == pytest.approx(JUDGED.lora_mixed * 4 * 4096 * 4 * 4096 / GIB)


def reserve(work: Workload) -> float:
    """Give what the allocator holds beyond the allocated peak, GiB."""
    found = predicted(work)
    return found.reserved.gib - found.allocated.gib


def test_logits_no_larger_than_the_layer_at_work_leave_nothing_more_under_fsdp() -> None:
    work = msgspec.structs.replace(
        LORA, precision="autocast", world=4, data=4, zero_stage=3, fsdp=1, loss="fused"
    )
    assert terms(work, "loss")["logits"] < terms(work, "backward")["live"]
    linear = msgspec.structs.replace(work, loss="linear")
    assert reserve(work) == pytest.approx(reserve(linear))
    # Llama-3's vocabulary: 12 GiB more were measured than with the loss fused into the head
    wide = msgspec.structs.replace(work, shape=msgspec.structs.replace(MISTRAL, vocab=128256))
    assert reserve(wide) > reserve(linear) + 5


def test_on_one_card_blocks_of_logits_do_not_serve_the_layer_after_them() -> None:
    fused = msgspec.structs.replace(LORA, loss="fused", holds_logits=False)
    linear = msgspec.structs.replace(LORA, loss="linear")
    more = reserve(fused) - reserve(linear)
    smaller = min(terms(fused, "loss")["logits"], terms(fused, "backward")["live"])
    assert more == pytest.approx(JUDGED.slack_turns * smaller, rel=0.2)


def test_fsdp_keeps_gradients_and_activations_in_blocks_apart() -> None:
    full = msgspec.structs.replace(
        FULL, precision="upcast", world=4, data=4, zero_stage=3, fsdp=1, loss="linear"
    )
    shorter = msgspec.structs.replace(full, micro_batch=2)
    # the peak is the step's, yet what the batch takes comes on top
    assert predicted(full).allocated == predicted(shorter).allocated
    assert reserve(full) > reserve(shorter) + 2


def test_the_first_foreach_steps_made_two_copies() -> None:
    two = msgspec.structs.replace(FULL, step_copies=2)
    assert terms(two, "step")["step"] == pytest.approx(2 * terms(FULL, "step")["step"])


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


def sharded_grpo(rollout: Rollout) -> Workload:
    """Give GRPO under ZeRO-3 on four cards."""
    return msgspec.structs.replace(
        LORA,
        task="grpo",
        card_gib=80.0,
        precision="deepspeed",
        zero_stage=3,
        world=4,
        data=4,
        rollout=rollout,
    )


def test_sharded_weights_are_gathered_for_the_engine_in_as_many_parts_as_set() -> None:
    work = sharded_grpo(Rollout(mode="colocate", share=0.4))
    whole = terms(work, "weight-sync")["gathered"]
    assert whole == pytest.approx(7.2417e9 * 2 / GIB)
    parts = msgspec.structs.replace(
        work, rollout=Rollout(mode="colocate", share=0.4, move_batches=8)
    )
    assert terms(parts, "weight-sync")["gathered"] == pytest.approx(whole / 8)


def test_ms_swift_gathers_weights_for_a_server_too_and_trl_tensor_by_tensor() -> None:
    work = sharded_grpo(Rollout(mode="server"))
    swift = msgspec.structs.replace(work, framework="ms-swift")
    trl = msgspec.structs.replace(work, framework="trl")

    assert terms(swift, "weight-sync")["gathered"] == pytest.approx(7.2417e9 * 2 / GIB)
    assert "engine" not in terms(swift, "weight-sync")
    assert all(item.phase != "weight-sync" for item in predicted(trl).phases)


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


def test_between_both_sides_of_the_card_stands_no_verdict_where_something_is_open() -> None:
    across = Figure(gib=22, low=14, high=25)

    assert verdict(across, 13.0, 20.0, known=False) == "cannot-say"
    assert verdict(across, 13.0, 12.0, known=False) == "does-not-fit"
    assert verdict(across, 13.0, 26.0, known=False) == "fits"


@pytest.mark.parametrize(
    "term", ["sharding", "tuner", "checkpointing", "precision", "kernels", "batch"]
)
def test_the_interval_of_an_open_term_holds_the_one_of_the_known_job(term: str) -> None:
    work = msgspec.structs.replace(FULL, world=4, data=4, zero_stage=2, precision="deepspeed")
    known = predicted(work)

    found = predicted(msgspec.structs.replace(work, open_terms=(term,)))

    assert found.card.gib == known.card.gib
    assert found.card.low <= known.card.low
    assert found.card.high >= known.card.high
    assert found.card.high - found.card.low > known.card.high - known.card.low + 1


def test_without_padding_the_longest_sample_comes_with_short_ones() -> None:
    length = Length(low=500, typical=1000, high=4096, how="data")
    free = msgspec.structs.replace(FULL, padding_free=True, length=length)

    assert batch_tokens(free, 4096) == 3 * 500 + 4096
    assert batch_tokens(msgspec.structs.replace(free, padding_free=False), 4096) == 4 * 4096


def test_scores_of_eager_attention_are_split_over_the_tensor_parallel_ranks() -> None:
    def scores(tensor: int) -> float:
        work = msgspec.structs.replace(FULL, tensor=tensor, world=tensor, checkpointing=True)
        eager = msgspec.structs.replace(work, attention="eager")
        return terms(eager, "backward")["live"] - terms(work, "backward")["live"]

    assert scores(4) == pytest.approx(scores(1) / 4)


def test_a_machine_holds_the_offloaded_states_of_its_ranks_without_the_frozen_tower() -> None:
    tower = Tower(depth=24, hidden=1024, heads=16, inter=4096, patch=14, image_size=336)
    shape = msgspec.structs.replace(MISTRAL, params_b=7.5, tower=tower)
    model = model_of(shape)
    assert model is not None
    work = msgspec.structs.replace(
        FULL,
        shape=shape,
        offload_optimizer=True,
        world=8,
        data=8,
        ranks_per_node=4,
        rollout=Rollout(mode="colocate", sleep=1, tensor_parallel=2),
    )

    held = {term.name: term.gib for term in host_use(work, model).terms}

    assert model.tower > 0.2e9
    assert held["offloaded-optimizer"] == pytest.approx((model.total - model.tower) * 16 / 2 / GIB)
    assert held["sleeping-engine"] == pytest.approx(2 * model.total * 2 / GIB)
