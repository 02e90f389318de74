"""What holds of every prediction, whatever the job."""

from __future__ import annotations

import math

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from trainrx.knowledge.load import load
from trainrx.memory.predict import predict
from trainrx.model.memory import Images, Length, Prediction, Refusal, Rollout, Workload

MODELS = [shape for shape in load(launches=True).models if shape.layers and shape.vocab]


def lengths(top: int = 32768) -> st.SearchStrategy[Length]:
    """Draw lengths, low to high."""
    return st.lists(st.integers(1, top), min_size=3, max_size=3).map(
        lambda found: Length(
            low=float(min(found)),
            typical=float(sorted(found)[1]),
            high=float(sorted(found)[2]),
            how="cap",
        )
    )


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    """Draw a job that can run."""
    data = draw(st.sampled_from([1, 2, 4, 8]))
    stage = draw(st.integers(0, 3)) if data > 1 else 0
    fsdp = draw(st.sampled_from([0, 1, 2])) if stage == 3 else 0
    tuner = draw(st.sampled_from(["full", "lora"]))
    return Workload(
        shape=draw(st.sampled_from(MODELS)),
        tuner=tuner,
        rank=draw(st.integers(1, 128)),
        targets=draw(st.sampled_from([("q", "v"), ("q", "k", "v", "o", "gate", "up", "down")])),
        quant_bits=draw(st.sampled_from([None, 4, 8])) if tuner == "lora" else None,
        precision=draw(st.sampled_from(["pure", "autocast", "upcast", "deepspeed", "megatron"])),
        micro_batch=float(draw(st.integers(1, 16))),
        accumulation=draw(st.integers(1, 16)),
        length=draw(lengths()),
        checkpointing=draw(st.booleans()),
        attention=draw(st.sampled_from(["flash", "eager"])),
        loss=draw(st.sampled_from(["eager", "fused", "linear"])),
        world=data,
        data=data,
        zero_stage=stage,
        fsdp=fsdp,
        images=draw(st.sampled_from([None, Images(pixels=1003520.0, trained=True)])),
        rollout=draw(st.sampled_from([Rollout(), Rollout(mode="colocate", share=0.4, sleep=1)])),
        card_gib=80.0,
    )


def card(work: Workload) -> float:
    """Give the central figure of the card."""
    found = predict(work)
    assert isinstance(found, Prediction), found
    return found.card.gib


@given(workloads())
def test_every_figure_is_finite_and_within_its_interval(work: Workload) -> None:
    found = predict(work)
    assert isinstance(found, Prediction)
    assert 0 < found.allocated.gib <= found.reserved.gib <= found.card.gib
    for figure in (found.allocated, found.reserved, found.card):
        assert 0 <= figure.low <= figure.gib <= figure.high
        assert math.isfinite(figure.high)
    assert {item.phase for item in found.phases} >= {"load", "loss", "backward", "step"}
    assert found.peak in {item.phase for item in found.phases}
    assert found.host.resident <= found.host.peak


@given(workloads(), st.integers(2, 4))
def test_more_of_a_batch_never_needs_less(work: Workload, times: int) -> None:
    more = msgspec.structs.replace(work, micro_batch=work.micro_batch * times)
    assert card(more) >= card(work)


@given(workloads())
def test_longer_samples_never_need_less(work: Workload) -> None:
    double = Length(
        low=work.length.low * 2,
        typical=work.length.typical * 2,
        high=work.length.high * 2,
        how=work.length.how,
    )
    assert card(msgspec.structs.replace(work, length=double)) >= card(work)


@given(workloads())
def test_a_loss_without_logits_never_needs_more(work: Workload) -> None:
    eager = msgspec.structs.replace(work, loss="eager")
    assert card(msgspec.structs.replace(work, loss="linear")) <= card(eager)


@given(workloads())
def test_offloaded_states_leave_the_card(work: Workload) -> None:
    assert card(msgspec.structs.replace(work, offload_optimizer=True)) <= card(work)


@given(workloads(), st.integers(-4, 0))
def test_nonsense_is_refused_not_computed(work: Workload, count: int) -> None:
    for name in ("world", "data", "tensor", "pipeline", "context", "device_map", "accumulation"):
        found = predict(msgspec.structs.replace(work, **{name: count}))
        assert isinstance(found, Refusal)
        assert found.kind == "impossible"
