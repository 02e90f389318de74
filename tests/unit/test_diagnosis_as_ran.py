"""A command and its log: where several ranks print, something else has started the command."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from trainrx.diagnosis.pipeline import conclude
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.given import gather
from trainrx.launch.request import request_of
from trainrx.model.facts import Scalar

ERROR = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
    "capacity of 79.15 GiB of which 1.06 GiB is free.\n"
)


@cache
def known() -> LoadedKnowledge:
    return LoadedKnowledge()


def world(log: str, folder: Path) -> Scalar | None:
    (folder / "run.sh").write_text("python t.py --per_device_train_batch_size 8 --bf16 true\n")
    (folder / "train.log").write_text(log, encoding="utf-8")
    request = request_of((), {"cmd": folder / "run.sh", "logs": [folder / "train.log"]})
    done = conclude(gather(request, known().whole), known())
    return done.reasoning.facts.value("parallel.world_size")


@pytest.mark.parametrize(
    ("log", "expected"), [(ERROR, 1), (f"[rank0]: {ERROR}", 1), (f"[rank3]: {ERROR}", None)]
)
def test_several_ranks_in_a_log_are_started_by_something_else(
    tmp_path: Path, log: str, expected: int | None
) -> None:
    assert world(log, tmp_path) == expected
