"""Compare how many rows and tokens there are with what the training takes at once."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

from trainrx.data.job import DataJob
from trainrx.data.sources import data_format
from trainrx.data.survey import SURE, Survey

TURNED_OFF = ("false", "0", "no", "none")


def smallest_batch(job: DataJob) -> float | None:
    """Give the samples of one optimizer step: of one process where nobody says how many."""
    whole = job.facts.number("batch.effective")
    if whole is not None or job.own.global_batch:
        return whole
    micro, steps = job.facts.number("train.micro_batch"), job.facts.number("train.grad_accum")
    return None if micro is None or steps is None else micro * steps


class NothingLeft(NamedTuple):
    """Files of which nothing is left to train on: their names, their rows, what is split off."""

    names: str
    rows: int
    argument: str
    share: float


def left_to_train(surveys: Sequence[Survey], job: DataJob) -> NothingLeft | None:
    """Give the data of which a share for evaluation leaves no row."""
    form = data_format(job)
    if form is None or not form.held_out or _is_on(job, "streaming"):
        return None
    share = _number(job.text(form.held_out))
    if not share or any(job.words(name) for name in job.own.eval_data):
        return None
    if form.held_out_of_all:
        rows = _rows_of_all(surveys, job)
        kept = None if rows is None else rows - (int(share) if share > 1 else ceil(rows * share))
        if rows is None or kept is None or kept > 0:
            return None
        names = ", ".join(dict.fromkeys(item.source.name for item in surveys))
        return NothingLeft(names, rows, form.held_out, share)
    for item in surveys if 0 < share < 1 else ():
        held_out = max(int(item.rows * share), 1)
        if item.whole and item.rows and item.rows <= held_out:
            return NothingLeft(item.source.name, item.rows, form.held_out, share)
    return None


def _rows_of_all(surveys: Sequence[Survey], job: DataJob) -> int | None:
    """Give the rows of all files together; None where something takes or repeats some of them."""
    entries = [item.source.entry for item in surveys]
    if any(entry is None or "num_samples" in entry.says for entry in entries):
        return None
    mixed = job.text("mix_strategy")
    if (mixed and mixed != "concat") or job.given("max_samples"):
        return None
    known = all(item.whole and item.rows and not item.source.left_out for item in surveys)
    # of all data sets that are named each must be at hand
    named = len({word for name in job.own.train_data for word in job.words(name)})
    if not known or len({entry.name for entry in entries if entry is not None}) != named:
        return None
    return sum(item.rows for item in surveys)


def tokens_below_a_block(surveys: Sequence[Survey], job: DataJob) -> float | None:
    """Give the tokens of all texts, where they fill no block; None where they may."""
    form, limit = data_format(job), job.facts.number("train.max_length")
    packed = job.text("packing").lower()
    if form is None or job.task not in form.blocks or not limit or packed in TURNED_OFF:
        return None
    if any(not item.whole or item.stats is None or not item.stats.count for item in surveys):
        return None
    held = [item.stats for item in surveys if item.stats is not None]
    tokens = sum(one.mean * (one.count or 0) for one in held)
    rows = sum(one.count or 0 for one in held)
    exact = all(one.how == "tokenizer" for one in held)
    # one more a text, for its end
    return tokens if held and (tokens / (1.0 if exact else SURE)) + rows < limit else None


def _is_on(job: DataJob, name: str) -> bool:
    text = job.text(name).lower()
    return bool(text) and text not in TURNED_OFF


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
