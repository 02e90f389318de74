"""Metrics that were stored instead of printed: JSON lines, or the state file of a trainer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from trainrx.evidence.blocks import clean_blocks
from trainrx.evidence.conclude import quote
from trainrx.evidence.lines import path_rank
from trainrx.evidence.series.history import Series
from trainrx.evidence.series.points import Point, is_evaluation, point
from trainrx.inputs.stream import chunks
from trainrx.inputs.unpack import Report
from trainrx.model.findings import Unread
from trainrx.model.job import Input

LARGEST = 256 << 20
"""Bytes of a JSON document that is read whole."""
RESULT = "train_loss"
"""What `all_results.json` and `train_results.json` of transformers say of a training that ended."""


def read_metrics(item: Input, report: Report) -> Series:
    """Read the steps a metrics file holds; what it cannot read goes to `report`."""
    series = Series(item.name, path_rank(item.name))
    blocks = clean_blocks(chunks(item, report))
    held: list[bytes] = []
    lines = 0
    for block in blocks:
        parsed = metric_lines(block.data, block.line)
        if lines == 0 and not held and next(parsed, None) is None:
            held.append(block.data)
            break
        for entry, text in metric_lines(block.data, block.line):
            lines += 1
            take_step(series, entry, text)
    if held:
        total = len(held[0])
        for block in blocks:
            total += len(block.data)
            if total > LARGEST:
                report(Unread(source=item.name, reason=f"is larger than {LARGEST} bytes"))
                return series
            held.append(block.data)
        _read_document(b"".join(held), series, report)
    if not series.count:
        report(Unread(source=item.name, reason="holds no training steps"))
    return series


def take_step(series: Series, entry: Point | None, text: str) -> None:
    """Add a step that is stored, or with None that an evaluation was made."""
    if entry is None:
        series.see_evaluation()
        return
    series.count += 1
    series.add(entry, text)


def metric_lines(data: bytes, first: int) -> Iterator[tuple[Point | None, str]]:
    """Give the steps that lines of JSON hold, None for an evaluation; `first` numbers the first."""
    for number, raw in enumerate(data.split(b"\n"), first):
        if not raw.lstrip().startswith(b"{") or len(raw) < 3:
            continue
        record = _decoded(raw)
        if record is not None:
            found = point(record, number)
            if found is not None or is_evaluation(record):
                yield found, quote(raw.decode("utf-8", "replace"))


def _decoded(raw: bytes) -> dict[str, object] | None:
    for data in (raw, raw.replace(b"NaN", b'"nan"').replace(b"Infinity", b'"inf"')):
        try:
            value = msgspec.json.decode(data)
        except (msgspec.DecodeError, RecursionError):
            continue
        return value if isinstance(value, dict) else None
    return None


def _read_document(data: bytes, series: Series, report: Report) -> None:
    document = _decoded(data)
    if document is None:
        report(Unread(source=series.source, reason="is neither JSON lines nor a trainer state"))
        return
    total = document.get("max_steps")
    for record, line in _records(data.decode("utf-8", "replace"), document):
        found = point({"max_steps": total, **record}, line)
        if found is not None:
            at = "" if found.step is None else f"step {found.step}: "
            take_step(series, found, f"{at}loss {found.loss:g}")
        elif is_evaluation(record):
            take_step(series, None, "")
    reached = document.get("global_step")
    if isinstance(reached, int) and reached > (series.step or 0):
        series.step = reached


def _records(
    text: str, document: Mapping[str, object]
) -> Iterator[tuple[Mapping[str, object], int]]:
    """Give what was logged, each with the line of its loss; of results the loss of the whole."""
    history = document.get("log_history")
    if not isinstance(history, list):
        if RESULT in document:
            line = text.count("\n", 0, max(text.find(f'"{RESULT}"'), 0)) + 1
            yield {"loss": document[RESULT]}, line
        return
    at, line, counted = text.find('"log_history"'), 1, 0
    for record in history:
        if isinstance(record, dict) and is_evaluation(record):
            yield record, line
        elif isinstance(record, dict) and "loss" in record:
            at = max(text.find('"loss"', at + 1), at)
            line += text.count("\n", counted, at)
            counted = at
            yield record, line
