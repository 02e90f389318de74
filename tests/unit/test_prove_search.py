from __future__ import annotations

import itertools

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from trainrx.memory.model import Model, model_of
from trainrx.model.constants import JUDGED
from trainrx.model.hardware import ModelShape
from trainrx.model.memory import Length, Rollout, Workload
from trainrx.model.planning import Move, Price
from trainrx.model.text import Text
from trainrx.prove.search import (
    LEAST_CHANGE,
    MOST_CANDIDATES,
    Search,
    Space,
    go_together,
    price_of,
    roomiest,
    strongest,
    useful,
    weigh,
)
from trainrx.prove.space import BatchSplit, Pull, combine, divides, is_void, keeps_batch, pull_of

SHAPE = ModelShape(
    id="seven",
    params_b=7.0,
    layers=28,
    hidden=3584,
    heads=28,
    kv_heads=4,
    inter=18944,
    vocab=152064,
)
BASE = Workload(
    shape=SHAPE,
    micro_batch=8.0,
    accumulation=2,
    length=Length(low=4096, typical=4096, high=4096, how="exact"),
    checkpointing=False,
    recompute="none",
    precision="deepspeed",
    world=8,
    data=8,
    zero_stage=2,
    card_gib=80.0,
)
CHANGES: dict[str, dict[str, object]] = {
    "micro-4": {"micro_batch": 4.0},
    "micro-1": {"micro_batch": 1.0},
    "checkpointing": {"checkpointing": True, "recompute": "full"},
    "zero3": {"zero_stage": 3},
    "offload": {"zero_stage": 3, "offload_optimizer": True, "offload_params": True},
    "fused": {"loss": "linear"},
    "context": {"context": 2},
}


def model() -> Model:
    found = model_of(SHAPE)
    assert found is not None
    return found


FREE = Price()


def pull(name: str, lever: str = "", price: Price = FREE, excludes: tuple[str, ...] = ()) -> Pull:
    work = msgspec.structs.replace(BASE, **CHANGES[name])
    move = Move(
        lever=lever or name, values=((name, 1),), price=price, why=Text(en="why", zh="为什么")
    )
    return pull_of(move, BASE, work, excludes)


def space(*levers: tuple[Pull, ...], limit: float = 80.0) -> Space:
    return Space(
        base=BASE,
        model=model(),
        constants=JUDGED,
        levers=levers,
        batch=BatchSplit(128),
        limit=limit,
        fill=0.92,
    )


def test_the_batch_is_kept_by_accumulation() -> None:
    work = combine(BASE, [pull("micro-1")], BatchSplit(128))

    assert (work.micro_batch, work.accumulation, work.data) == (1.0, 16, 8)
    assert keeps_batch(work, BatchSplit(128))


def test_ranks_that_share_a_sequence_are_no_replicas() -> None:
    work = combine(BASE, [pull("context")], BatchSplit(128))

    assert (work.context, work.data, work.accumulation) == (2, 4, 4)


def test_a_move_that_changes_nothing_is_void() -> None:
    move = Move(lever="none", values=(), price=Price(), why=Text(en="-", zh="-"))

    assert is_void(pull_of(move, BASE, BASE))
    assert not is_void(pull("zero3"))


@pytest.mark.parametrize(
    ("change", "runs"),
    [
        ({"tensor": 7, "world": 7}, True),
        ({"tensor": 8}, False),
        ({"context": 3}, False),
        ({"rollout": Rollout(mode="colocate", tensor_parallel=3)}, False),
    ],
)
def test_degrees_divide_heads_and_processes(change: dict[str, object], runs: bool) -> None:
    assert divides(msgspec.structs.replace(BASE, **change)) is runs


def test_the_cheapest_candidate_comes_first() -> None:
    dear = Price(quality=1)
    levers = ((pull("micro-4", "micro"), pull("micro-1", "micro")), (pull("fused", price=dear),))

    found = next(Search(space(*levers), LEAST_CHANGE).run())

    assert [item.move.lever for item in found] == ["micro"]


def test_a_job_that_nothing_makes_fit_has_no_candidate() -> None:
    search = Search(space((pull("fused"),), limit=8.0), LEAST_CHANGE)

    assert list(search.run()) == []
    assert search.looked_at < 5


def test_levers_that_exclude_each_other_are_not_taken_together() -> None:
    alone = pull("zero3", excludes=("fused",))

    assert not go_together([pull("fused")], alone)
    assert not go_together([alone], pull("fused"))
    assert go_together([pull("micro-1")], alone)


def test_moves_that_free_nothing_are_left_out() -> None:
    levers = ((pull("checkpointing"),), (pull("context"),), (pull("fused"),))
    same = Pull(pull("fused").move, {"ranks_per_node": 4}, {}, {}, (0.0, 0.0, 0.0), "")

    kept = useful(space(*levers, (same,)))

    assert [row[0].move.lever for row in kept] == ["checkpointing", "context", "fused"]


def test_the_strongest_step_is_the_one_that_takes_least_beside_the_others() -> None:
    levers = ((pull("micro-4", "micro"), pull("micro-1", "micro")), (pull("zero3"),))

    ends = strongest(space(*levers))

    assert [item.move.values for item in ends[0] if item] == [(("micro-1", 1),), (("zero3", 1),)]


def test_most_room_leaves_out_what_frees_little() -> None:
    levers = ((pull("checkpointing"),), (pull("micro-1"),), (pull("zero3"),))

    taken = {item.move.lever for item in roomiest(space(*levers, limit=400.0))}

    assert "checkpointing" in taken or "micro-1" in taken
    assert "zero3" not in taken


def test_slowdowns_multiply_and_the_worst_quality_counts() -> None:
    moves = [
        pull("zero3", price=Price(slowdown=(1.0, 2.0))).move,
        pull("fused", price=Price(slowdown=(2.0, 2.0), quality=2)).move,
    ]

    price = price_of(moves)

    assert price.quality == 2
    assert price.slowdown == (2.0, 4.0)


@examples(25)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=5, max_size=5),
    st.sampled_from([30.0, 45.0, 60.0, 80.0, 100.0]),
)
def test_the_first_candidate_is_the_cheapest_of_all(
    grades: list[tuple[int, int]], limit: float
) -> None:
    prices = [Price(quality=quality, effort=effort) for quality, effort in grades]
    levers = (
        (pull("micro-4", "micro", prices[0]), pull("micro-1", "micro", prices[1])),
        (pull("checkpointing", price=prices[2]),),
        (pull("zero3", "shard", prices[3]), pull("offload", "shard", prices[3])),
        (pull("fused", price=prices[4]),),
    )
    asked = space(*levers, limit=limit)

    found = next(Search(asked, LEAST_CHANGE).run(MOST_CANDIDATES), None)

    every = [
        tuple(item for item in choice if item is not None)
        for choice in itertools.product(*((None, *lever) for lever in levers))
    ]
    fitting = [c for c in every if asked.fits(asked.work(c)) and divides(asked.work(c))]
    cost = [sum(weigh(item, LEAST_CHANGE) for item in choice) for choice in fitting]
    assert (found is None) == (not cost)
    if found is not None:
        spent = sum(weigh(item, LEAST_CHANGE) for item in found)
        assert spent == pytest.approx(min(cost))
