"""Metrics that were stored instead of printed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.evidence.series.history import Series
from trainrx.evidence.stored import read_metrics
from trainrx.inputs.recognise import recognise
from trainrx.model.findings import Unread
from trainrx.model.job import Input

STATE = {
    "global_step": 40,
    "max_steps": 100,
    "best_metric": None,
    "log_history": [
        {"epoch": 0.1, "grad_norm": 1.5, "loss": 2.5, "step": 10},
        {"epoch": 0.1, "eval_loss": 2.6, "step": 10},
        {"epoch": 0.2, "grad_norm": float("nan"), "loss": 0.0, "step": 20},
    ],
}


def read(text: str) -> tuple[Series, list[Unread]]:
    unread: list[Unread] = []
    return read_metrics(Input(kind="metrics", name="m", text=text), unread.append), unread


def test_each_step_of_a_trainer_state_is_cited_in_its_line() -> None:
    text = json.dumps(STATE, indent=2)

    series, unread = read(text)

    lines = text.split("\n")
    assert [(point.step, point.loss) for point in series.all_points()] == [(10, 2.5), (20, 0.0)]
    assert [lines[point.line - 1].strip() for point in series.all_points()] == [
        '"loss": 2.5,',
        '"loss": 0.0,',
    ]
    assert not unread


def test_a_trainer_state_tells_how_far_the_training_came() -> None:
    series, _ = read(json.dumps(STATE))

    assert (series.step, series.total) == (40, 100)


def test_the_results_of_a_training_are_one_point() -> None:
    text = json.dumps({"epoch": 1.0, "train_loss": float("nan"), "train_runtime": 12.5}, indent=4)

    series, unread = read(text)

    assert series.marks["loss-nan"].origin.line == 3
    assert not unread


@pytest.mark.parametrize("indent", [None, 4])
def test_results_are_metrics(indent: int | None) -> None:
    data = {"epoch": 1.0, "total_flos": 1.0, "train_loss": 0.5, "train_runtime": 12.5}

    assert recognise(json.dumps(data, indent=indent)) == "metrics"


def test_a_state_without_steps_says_so() -> None:
    _, unread = read(json.dumps({"log_history": [{"eval_loss": 1.0}]}))

    assert [item.reason for item in unread] == ["holds no training steps"]


@given(st.text(max_size=200))
def test_no_text_raises(text: str) -> None:
    for start in ("", '{"log_history": [', '{"log_history": [{"loss": 1}, ', '{"train_loss": '):
        read(start + text)
