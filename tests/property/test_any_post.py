"""The order of what somebody posts changes nothing, and a log that is pasted is the log."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipeline_jobs import HANG, LAUNCH, LOG, VERSIONS, named, put

from trainrx import api
from trainrx.inputs.files import read_path, read_stdin

HEALTHY = sorted(Path(__file__).parents[1].glob("healthy/*/train.log"))
PROSE = "We have 8 cards of type A30, why does it stop after a few steps?\n"
CONFIG = "stage: sft\nfinetuning_type: lora\nmodel_name_or_path: Qwen/Qwen2-VL-7B-Instruct\n"


def fenced(text: str) -> str:
    return f"```\n{text}```\n"


@pytest.mark.parametrize(
    "blocks",
    [
        (PROSE, fenced(LAUNCH), fenced(LOG), fenced(VERSIONS)),
        (PROSE, fenced(HANG), fenced(CONFIG), fenced("llamafactory==0.9.3\ntorch==2.6.0\n")),
    ],
    ids=["launch and log", "config and hang"],
)
def test_the_order_of_blocks_changes_nothing(blocks):
    orders = (blocks, blocks[::-1], (*blocks[2:], *blocks[:2]))

    answers = [api.diagnose(["-"], stdin="\n".join(order).encode()) for order in orders]

    assert all(answer.facts == answers[0].facts for answer in answers)
    assert all(named(answer) == named(answers[0]) for answer in answers)
    assert answers[0].symptoms


@pytest.mark.parametrize("log", HEALTHY, ids=lambda log: log.parent.name)
def test_a_log_that_is_pasted_alone_is_the_log(log):
    (piped,), unread = read_stdin(log.read_bytes())
    (given,), _ = read_path(log)

    assert (piped.kind, piped.spans, unread) == (given.kind, (), [])
    assert piped.text == log.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")


def test_a_log_that_is_pasted_alone_gives_the_same_answer(tmp_path):
    place = put(tmp_path, "train.log", LOG)

    piped, given = api.diagnose(["-"], stdin=LOG.encode()), api.diagnose([place])

    assert named(piped) == named(given)
    assert piped.facts == given.facts
