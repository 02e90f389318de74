"""What a collective carried, by its number of elements and the shape of the model."""

from __future__ import annotations

import pytest

from trainrx.facts.collectives import carried_facts
from trainrx.knowledge.load import load
from trainrx.model.facts import Facts, Scalar, fact
from trainrx.models.facts import find_shape

QWEN = "Qwen/Qwen2.5-32B"


def carried(model: str = "", **known: Scalar) -> dict[str, Scalar | None]:
    given = Facts(fact(f"collective.{name}", value) for name, value in known.items())
    given.add(fact("parallel.world_size", 16))
    shape = find_shape(model, load().models) if model else None
    found = carried_facts(given, shape)
    return {item.kind.removeprefix("collective."): item.value for item in found}


@pytest.mark.parametrize(
    ("op", "sent", "out", "tensor"),
    [
        ("coalesced", 48660480, 778567680, "embedding"),
        ("all_reduce", 1, 1, "scalar"),
        ("all_gather", 5120 * 5120 // 16, 5120 * 5120, "matrix"),
        ("all_gather", 4 * 152064, 64 * 152064, "logits"),
        ("all_reduce", 4096 * 5120, 4096 * 5120, "activation"),
        ("all_gather", 12345677, 197530832, None),
    ],
)
def test_a_size_names_the_tensor_of_the_model(
    op: str, sent: int, out: int, tensor: str | None
) -> None:
    found = carried(QWEN, optype=op, numelin=sent, numelout=out)

    assert found.get("tensor") == tensor


def test_without_a_model_a_scalar_and_a_bucket_are_known() -> None:
    assert carried(numelin=1)["tensor"] == "scalar"
    assert carried(optype="barrier")["tensor"] == "scalar"
    assert carried(numelin=500_000_000)["tensor"] == "bucket"
    assert "tensor" not in carried(numelin=48660480)


def test_the_first_calls_of_a_group_are_before_the_training() -> None:
    assert carried(seqnum=2)["before_training"] is True
    assert "before_training" not in carried(seqnum=40)


def test_after_steps_no_call_is_before_the_training() -> None:
    found = carried_facts(Facts([fact("collective.seqnum", 2), fact("series.steps", 9)]), None)

    assert [item.value for item in found] == [False]
