"""The stage in which a log breaks off."""

from __future__ import annotations

import pytest

from trainrx.evidence.detector import Detector
from trainrx.knowledge.load import load
from trainrx.model.facts import Scalar
from trainrx.model.job import Input

DETECTOR = Detector(tuple(load().symptoms.values()))
BAR = "Running tokenizer on dataset (num_proc=16):   0%|          | 0/779 [00:00<?, ? examples/s]\n"
STEP = "{'loss': 1.5, 'grad_norm': 0.4, 'learning_rate': 1e-05, 'epoch': 0.1}\n"
END = "{'train_runtime': 100.1, 'train_steps_per_second': 2.0, 'train_loss': 0.5}\n"


def last_stage(*texts: str) -> Scalar | None:
    """Give the stage some logs of one job break off in."""
    logs = [Input(kind="log", name=f"{i}.log", text=text) for i, text in enumerate(texts)]
    found = {fact.kind: fact.value for fact in DETECTOR.detect(logs).facts}
    return found.get("log.last_phase")


@pytest.mark.parametrize(
    ("texts", "stage"),
    [
        ((BAR,), "tokenize"),
        ((BAR + STEP,), "train"),
        ((BAR, BAR), "tokenize"),
        ((BAR, BAR + STEP), None),
        (("nothing that begins a stage\n",), None),
        ((BAR + STEP + END,), None),
    ],
)
def test_the_stage_all_logs_break_off_in_is_known(
    texts: tuple[str, ...], stage: str | None
) -> None:
    assert last_stage(*texts) == stage
