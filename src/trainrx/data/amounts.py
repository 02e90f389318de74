"""Compare how many rows and tokens there are with what the training takes at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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


def left_to_train(surveys: Sequence[Survey], job: DataJob) -> Iterator[tuple[Survey, str]]:
    """Give files of which a share for evaluation leaves no row, with the share."""
    form = data_format(job)
    if form is None or not form.held_out or _is_on(job, "streaming"):
        return
    share = _number(job.text(form.held_out))
    if share is None or not 0 < share < 1 or any(job.words(name) for name in job.own.eval_data):
        return
    for item in surveys:
        held_out = max(int(item.rows * share), 1)
        if item.whole and item.rows and item.rows <= held_out:
            yield item, f"{share:g}"


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
