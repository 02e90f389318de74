"""Event files of TensorBoard, as the trainers of transformers, verl and Megatron write them.

They are read by TensorBoard itself, an extra: its own reader knows both forms of a scalar and stops
where a file is torn. https://github.com/tensorflow/tensorboard
"""

from __future__ import annotations

import json
import struct
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from trainrx.inputs.content import Content, Found
from trainrx.model.findings import Unread
from trainrx.model.job import Input

CERTAIN = True
NOT_INSTALLED = (
    "is an event file of TensorBoard, which needs its reader: pip install 'trainrx[tensorboard]', "
    "or give trainer_state.json or the log instead"
)
NO_STEPS = "is an event file of TensorBoard without a loss: give the log of the job"
_VERSION = b"brain.Event:"
"""What the first event of every file holds."""
_HEADER = struct.Struct("<Q")
_MOST_EVENTS = 500_000
_MOST_STEPS = 50_000
_NAMES: Mapping[str, str] = {
    "loss": "loss",
    "train_loss": "loss",
    "pg_loss": "loss",
    "lm loss": "loss",
    "grad_norm": "grad_norm",
    "grad-norm": "grad_norm",
    "max_memory_reserved_gb": "memory(GiB)",
    "memory(GiB)": "memory(GiB)",
    "time_per_step": "train_speed(s/it)",
    "train_speed(s/it)": "train_speed(s/it)",
    "reward": "reward",
}
"""The last part of a tag, and the metric it is; evaluations and tests are others."""
_NO_TRAINING = ("eval", "val", "test", "validation")

Steps = dict[int, dict[str, object]]


def contained(content: Content) -> Found | None:
    """Read the scalars of an event file as the steps of a training; None for any other file."""
    head = content.sample[:64]
    if len(head) < _HEADER.size or _VERSION not in head or head.startswith(b"{"):
        return None
    try:
        steps = _steps_of(content)
    except ImportError:
        return [], [Unread(source=content.name, reason=NOT_INSTALLED)]
    if not any("loss" in values for values in steps.values()):
        return [], [Unread(source=content.name, reason=NO_STEPS)]
    rows = (json.dumps({"step": step, **values}) for step, values in sorted(steps.items()))
    text = "\n".join(rows) + "\n"
    return [Input(kind="metrics", name=content.name, text=text)], []


def _steps_of(content: Content) -> Steps:
    # an extra, whose import takes a second
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

    if content.path is not None:
        return _read(EventFileLoader(str(content.path)).Load())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events"
        path.write_bytes(content.data)
        return _read(EventFileLoader(str(path)).Load())


def _read(events: Iterator[Any]) -> Steps:
    steps: Steps = {}
    for _, event in zip(range(_MOST_EVENTS), events, strict=False):
        for value in event.summary.value:
            name = _metric(value.tag)
            if (
                name
                and value.tensor.float_val
                and (event.step in steps or len(steps) < _MOST_STEPS)
            ):
                steps.setdefault(event.step, {})[name] = value.tensor.float_val[0]
    return steps


def _metric(tag: str) -> str:
    """Name the metric a tag is of, "" for one that says nothing of the training."""
    front, _, last = tag.rpartition("/")
    return "" if front.partition("/")[0] in _NO_TRAINING else _NAMES.get(last, "")
