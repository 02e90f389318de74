"""How other estimators' answers are read and held against measured rows."""

from __future__ import annotations

import json
import pathlib
import sys

import pytest

from trainrx.model.hardware import ModelShape
from trainrx.model.memory import Images, Length, Rollout, Workload

_BENCHMARKS = pathlib.Path(__file__).parents[2] / "benchmarks"
_SHAPE = ModelShape(
    id="org/Model-7B", params_b=7.0, layers=32, hidden=4096, heads=32, inter=11008, vocab=32000
)
_LENGTH = Length(low=512, typical=1024, high=2048)


@pytest.fixture
def peers(monkeypatch):
    monkeypatch.syspath_prepend(str(_BENCHMARKS))
    import memory_peers  # only here its folder is on the path

    return memory_peers


def _row(name, **said):
    return {"id": name, "tier": "strict", "source_family": "family", **said}


@pytest.mark.parametrize(
    ("measured", "expected"),
    [
        ({"allocated": 4.0, "card": 6.0}, {"allocated": 5.0, "card": None}),
        ({"reserved": 6.0}, {"reserved": 5.0}),
        ({"card": 6.0}, {"card": 5.0}),
    ],
)
def test_a_single_number_stands_for_what_is_allocated_where_that_is_known(
    peers, measured, expected
):
    answer = peers.Answer("accelerate", "1", "a", {"any": 5.0})

    assert {figure: answer.of(figure, measured) for figure in measured} == expected


def test_an_estimator_is_scored_on_the_figures_it_names(peers):
    rows = [_row("a", measured_allocated_gib=10.0, measured_smi_gib=20.0), _row("b")]
    answers = [peers.Answer("unsloth", "1", "a", {"allocated": 12.0})]

    points = peers.points_of(rows, answers)

    assert [(point.figure, point.predicted) for point in points] == [("allocated", 12.0)]


def test_only_strict_rows_are_compared(peers):
    rows = [_row("a", measured_gib_per_gpu=10.0) | {"tier": "loose"}]

    assert peers.points_of(rows, [peers.Answer("unsloth", "1", "a", {"any": 12.0})]) == []


def test_both_are_averaged_over_the_rows_both_have(peers):
    rows = [_row("a", measured_gib_per_gpu=10.0), _row("b", measured_gib_per_gpu=10.0)]
    answers = [peers.Answer("unsloth", "2.0", name, {"any": 12.0}) for name in ("a", "b")]
    ours = peers.points_of(rows[:1], [peers.Answer("us", "1", "a", {"any": 11.0})])

    line = next(line for line in peers.table(rows, ours, answers) if "unsloth" in line)

    assert line.split() == ["unsloth", "2.0", "1", "20.0%", "0.0%", "10.0%", "100.0%"]


def test_a_workload_is_told_in_the_words_of_the_adapters(peers):
    work = Workload(
        shape=_SHAPE, tuner="lora", rank=4, targets=("qkv", "o"), length=_LENGTH, world=16,
        ranks_per_node=8,
    )  # fmt: skip

    job = peers.job_of("a", work)

    assert job["params"] == 7_000_000_000
    assert (job["head_dim"], job["kv_heads"], job["tokens"]) == (128, 32, 1024)
    assert (job["world"], job["nodes"]) == (16, 2)
    assert job["targets"] == ["k_proj", "o_proj", "q_proj", "v_proj"]
    assert json.loads(json.dumps(job)) == job


@pytest.mark.parametrize(
    "said",
    [
        {"images": Images()},
        {"copies": (_SHAPE,)},
        {"rollout": Rollout(mode="colocate", share=0.5)},
        {"tuner": "adapter"},
        {"shape": ModelShape(id="org/Unknown")},
    ],
)
def test_what_no_peer_has_a_notion_of_is_not_asked(peers, said):
    work = Workload(**({"shape": _SHAPE, "length": _LENGTH} | said))

    assert peers.job_of("a", work) is None


def test_a_python_without_a_name_serves_all_but_the_named(peers):
    found = peers.pythons_of(["/a/python", "llm-analysis=/b/python"])

    assert found["llm-analysis"] == "/b/python"
    assert {found[name] for name in found if name != "llm-analysis"} == {"/a/python"}


def test_an_unknown_peer_is_said_so(peers):
    with pytest.raises(peers.PeerError, match="no peer nobody; known: deepspeed"):
        peers.pythons_of(["nobody=/a/python"])


def test_a_peer_that_is_not_installed_is_said_so(peers):
    with pytest.raises(peers.PeerError, match="unsloth: cannot be run"):
        peers.ask("unsloth", sys.executable, [])
    with pytest.raises(peers.PeerError, match="unsloth: cannot be run"):
        peers.ask("unsloth", "/no/such/python", [])


def test_kept_answers_name_known_peers_and_their_release(peers):
    answers = peers.read_answers()

    assert {answer.peer for answer in answers} == set(peers.PEERS)
    assert all(answer.version and min(answer.gib.values()) > 0 for answer in answers)
