"""Memory snapshots: who holds the card, which request failed, what grew.

The layout is that of torch/cuda/_memory_viz.py (Segment, Block, Frame, TraceEntry) of 2.5.
"""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from trainrx import diagnose
from trainrx.evidence.readers import Source, as_evidence, read_evidence
from trainrx.evidence.readers.memory_snapshot import read
from trainrx.evidence.snapshots import snapshot_facts
from trainrx.knowledge.load import load
from trainrx.model.facts import Facts
from trainrx.model.job import Input

GIB = 1 << 30
PACKAGES = "/usr/lib/python3.11/site-packages"


Record = dict[str, object]


def frame(name: str, file: str, line: int) -> Record:
    return {"name": name, "filename": file, "line": line}


NATIVE = frame("c10::cuda::CUDACachingAllocator::malloc", "??", 0)
LOSS = [
    NATIVE,
    frame("cross_entropy", f"{PACKAGES}/torch/nn/functional.py", 3494),
    frame("fixed_cross_entropy", f"{PACKAGES}/transformers/loss/loss_utils.py", 36),
    frame("main", "/data/train.py", 12),
]
HOOK = [NATIVE, frame("keep", "/data/callbacks.py", 7), frame("main", "/data/train.py", 12)]
STEP = [NATIVE, frame("_init_group", f"{PACKAGES}/torch/optim/adamw.py", 150)]


def segment(*blocks: tuple[float, str, list[Record]], device: int = 0) -> Record:
    return {
        "device": device,
        "address": 140_000_000,
        "total_size": sum(int(gib * GIB) for gib, _, _ in blocks),
        "allocated_size": 0,
        "active_size": 0,
        "stream": 0,
        "segment_type": "large",
        "blocks": [
            {
                "address": 1,
                "size": int(gib * GIB),
                "requested_size": 1,
                "state": state,
                "frames": stack,
            }
            for gib, state, stack in blocks
        ],
    }


def snapshot(*segments: Record, oom: float | None = None, at: int = 9) -> Record:
    trace: list[Record] = [
        {"action": "alloc", "addr": 1, "size": 512, "stream": 0, "time_us": at, "frames": LOSS}
    ]
    if oom is not None:
        asked = {"action": "oom", "device_free": GIB // 2, "size": int(oom * GIB), "stream": 0}
        trace.append({**asked, "time_us": at + 1, "frames": LOSS})
    return {"segments": list(segments), "device_traces": [trace], "allocator_settings": {}}


LIVE, FREED = "active_allocated", "inactive"
OUT = snapshot(
    segment((6.0, LIVE, LOSS), (2.0, FREED, [])),
    segment((3.0, LIVE, STEP), (6.0, FREED, []), (3.0, LIVE, LOSS)),
    oom=9.25,
)


def item(value: object, name: str = "rank3.pickle", *, as_json: bool = False) -> Input:
    data = json.dumps(value).encode() if as_json else pickle.dumps(value)
    return as_evidence(Input(kind="other", name=name, data=data))


def facts_of(*inputs: Input) -> Record:
    found = snapshot_facts(read_evidence(inputs).snapshots, load().symptoms)
    return {one.kind: one.value for one in Facts(found)}


@pytest.mark.parametrize("as_json", [False, True])
def test_a_snapshot_says_what_holds_the_card_and_which_request_failed(as_json: bool) -> None:
    assert facts_of(item(OUT, as_json=as_json)) == {
        "snapshot.unused_share": 0.4,
        "oom.asked_gib": 9.25,
        "oom.allocated_gib": 12.0,
        "oom.reserved_unused_gib": 8.0,
        "oom.free_gib": 0.5,
        "oom.reserved_unused_share": 0.3902,
        "oom.site": "logits",
        "snapshot.largest_gib": 9.0,
        "snapshot.largest_place": "cross_entropy (nn/functional.py:3494)",
        "snapshot.largest_site": "logits",
    }


def test_blocks_of_one_stack_are_added_up_and_cards_kept_apart() -> None:
    two = snapshot(
        segment((1.0, LIVE, HOOK), (1.0, LIVE, HOOK)), segment((4.0, LIVE, LOSS), device=1)
    )

    first, second = read_evidence([item(two)]).snapshots

    assert (first.device, first.holders[0].gib, first.holders[0].blocks) == (0, 2.0, 2)
    assert (second.device, second.allocated_gib, second.rank) == (1, 4.0, 3)


def test_a_block_of_older_releases_has_its_stack_in_its_history() -> None:
    old = segment((2.0, LIVE, []))
    for block in old["blocks"]:
        block["history"] = [{"addr": 1, "real_size": 2 * GIB, "frames": HOOK}]
        del block["frames"]

    (found,) = read_evidence([item([old])]).snapshots

    assert found.holders[0].frames[0].function == "keep"


def test_what_one_place_holds_more_in_the_later_of_two_snapshots_has_grown() -> None:
    early = item(snapshot(segment((1.0, LIVE, HOOK), (5.0, LIVE, LOSS)), at=5), "rank0_a.pickle")
    late = item(snapshot(segment((4.0, LIVE, HOOK), (5.0, LIVE, LOSS)), at=7), "rank0_b.pickle")

    for order in ((early, late), (late, early)):
        said = facts_of(*order)
        assert said["snapshot.grown_gib"] == 3.0
        assert said["snapshot.grown_place"] == "keep (data/callbacks.py:7)"
    assert "snapshot.grown_gib" not in facts_of(early, early)
    assert "snapshot.grown_gib" not in facts_of(late)


def test_the_answer_to_a_snapshot_alone_names_the_mechanism(tmp_path: Path) -> None:
    (tmp_path / "oom_rank3.pickle").write_bytes(pickle.dumps(OUT))

    answer = diagnose(tmp_path)

    named = {cause.id: cause for cause in answer.causes}
    shown = [
        cited.text for reason in named["logits-exceed-memory"].reasons for cited in reason.evidence
    ]
    assert answer.symptoms[0].id == "cuda-oom"
    assert any("9.00 GiB in 2 blocks: cross_entropy" in text for text in shown)
    assert "allocator-fragmentation" in named


@pytest.mark.parametrize(
    "value",
    [
        {"step": 1, "loss": [2.0]},
        {"segments": ["a"], "device_traces": {}},
        [{"total_size": 5}],
        [1],
    ],
)
def test_what_is_no_snapshot_is_not_taken_for_one(value: object) -> None:
    for as_json in (False, True):
        assert item(value, as_json=as_json).format != "memory_snapshot"


@pytest.mark.parametrize(
    "odd",
    [
        {"segments": 5, "device_traces": 7},
        {"segments": [{"device": "x", "blocks": [{"state": [], "size": -4, "frames": {"a": 1}}]}]},
        {
            "segments": [
                {"blocks": [None, {"state": LIVE, "size": 1e9, "frames": [None, {"name": 3}]}]}
            ]
        },
        {"device_traces": [[None, {"action": "oom", "size": "x", "frames": 4}]]},
    ],
)
def test_values_of_other_types_count_as_absent(odd: Record) -> None:
    assert all(one.allocated_gib == 0.0 for one in read(pickle.dumps(odd), Source("s")).snapshots)


@pytest.mark.parametrize("end", [1, 40, 400, -1])
def test_a_snapshot_that_is_cut_is_unread(end: int) -> None:
    for data in (pickle.dumps(OUT), json.dumps(OUT).encode()):
        assert len(read(data[:end], Source("s")).unread) == 1


def test_a_snapshot_of_torch_2_11_names_the_place_that_holds_most() -> None:
    """A job of 4 GiB that ran out: `memory_fraction` 0.03 of one H200."""
    path = Path(__file__).parents[1] / "evidence" / "one-card" / "snapshot.pickle"

    found = facts_of(as_evidence(Input(kind="other", name=path.name, path=path)))

    assert found["oom.asked_gib"] == 0.0625
    assert found["oom.allocated_gib"] == 4.0058
    assert found["oom.free_gib"] == 133.1326
    assert found["snapshot.largest_gib"] == 1.0
    assert found["snapshot.largest_place"] == "forward (modules/linear.py:134)"
