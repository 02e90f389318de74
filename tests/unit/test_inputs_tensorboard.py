"""Event files of TensorBoard are metrics where their reader is installed."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.inputs.containers.tensorboard import NO_STEPS, NOT_INSTALLED, contained
from trainrx.inputs.content import Content
from trainrx.inputs.files import read_path
from trainrx.model.errors import UsageError

FIRST_EVENT = (
    b"\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22\t\0\0\xc0*[\xb1\xd8A\x1a\rbrain.Event:2\x01\x02\x03\x04"
)


def written(folder: Path, scalars: Sequence[tuple[int, str, float]]) -> Path:
    pytest.importorskip("tensorboard")
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    writer = EventFileWriter(str(folder))
    for step, tag, value in scalars:
        summary = Summary(value=[Summary.Value(tag=tag, simple_value=value)])
        writer.add_event(Event(step=step, summary=summary))
    writer.close()
    return next(folder.glob("events.out.tfevents.*"))


def rows(path: Path) -> list[dict[str, object]]:
    found = contained(Content(str(path), path=path))
    assert found is not None
    (item,) = found[0]
    assert item.kind == "metrics"
    return [json.loads(line) for line in (item.text or "").splitlines()]


def test_scalars_are_the_steps_of_a_training(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        [
            (10, "train/loss", 2.5),
            (10, "train/grad_norm", 1.0),
            (10, "eval/loss", 9.0),
            (20, "actor/pg_loss", 0.5),
            (20, "perf/max_memory_reserved_gb", 40.0),
        ],
    )

    assert rows(path) == [
        {"step": 10, "loss": 2.5, "grad_norm": 1.0},
        {"step": 20, "loss": 0.5, "memory(GiB)": 40.0},
    ]


def test_of_a_torn_file_the_whole_events_count(tmp_path: Path) -> None:
    path = written(tmp_path, [(step, "train/loss", 1.0) for step in range(1, 9)])
    path.write_bytes(path.read_bytes()[:-20])

    assert [row["step"] for row in rows(path)] == [1, 2, 3, 4, 5, 6, 7]


def test_a_file_without_a_loss_says_so(tmp_path: Path) -> None:
    path = written(tmp_path, [(1, "eval/loss", 1.0)])

    found = contained(Content(str(path), path=path))

    assert found is not None
    assert [item.reason for item in found[1]] == [NO_STEPS]


def test_event_files_count_where_nothing_else_has_the_steps(tmp_path: Path) -> None:
    written(tmp_path / "runs", [(1, "train/loss", 1.0)])
    (tmp_path / "train.log").write_text("{'loss': 1.0}\nKilled\n")

    found, _ = read_path(tmp_path)

    assert [item.kind for item in found] == ["log"]


def test_without_the_reader_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard.backend.event_processing.event_file_loader", None)
    (tmp_path / "events.out.tfevents.1.host.2.0").write_bytes(FIRST_EVENT)

    with pytest.raises(UsageError) as raised:
        read_path(tmp_path)

    assert NOT_INSTALLED in str(raised.value)


@given(st.binary(max_size=200))
def test_no_bytes_raise(data: bytes) -> None:
    contained(Content("events", data=data))
    contained(Content("events", data=FIRST_EVENT + data))


@pytest.mark.parametrize("data", [b"", b"brain.Event:2", b'{"a": "brain.Event:2"}', b"a log\n"])
def test_other_files_are_no_event_files(data: bytes) -> None:
    assert contained(Content("x", data=data)) is None or data == b"brain.Event:2"
