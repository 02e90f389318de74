"""Symptoms that only the series of a run shows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from trainrx.evidence.series.facts import curves_of, leading, mark_of
from trainrx.evidence.series.history import Series
from trainrx.evidence.series.memory import leading_memory
from trainrx.evidence.series.points import Point
from trainrx.evidence.series.shapes import grows
from trainrx.model.curves import Curve
from trainrx.model.facts import Origin
from trainrx.model.job import Hit, SymptomHits

LEAST_LOSSES = 20
LEAST_GRADIENTS = 4
"""Logged steps, all with a gradient of exactly 0, from which on nothing is trained."""
LEAST_BEYOND = 6
"""Logged steps that are enough where the loss is beyond what any model has that only guesses."""
GUESS = 13.0
"""Nats per token of a guess among 440,000 tokens, more than any vocabulary in use has."""
START = 5
"""Logged steps whose middle value is the loss at the start, or at the lowest place."""
TAIL = 0.2
"""Share of the run, at its end, over which the loss must stay up."""


def diverges(losses: Sequence[float]) -> bool:
    """Tell whether the loss (nats per token) left its course for good.

    Over the last fifth of the logged steps it stays above three times and 2 over its start, or
    above four times and 4 over the lowest place it had: a spike that passes does not count. A
    short run shows it where its second half is twice as bad as guessing, which its start was not.
    """
    if len(losses) >= LEAST_BEYOND and losses[0] <= GUESS < min(losses[len(losses) // 2 :]) / 2:
        return True
    if len(losses) < LEAST_LOSSES:
        return False
    middles = [sorted(losses[i : i + START])[START // 2] for i in range(len(losses) - START + 1)]
    start, lowest = max(middles[0], 0.0), max(min(middles), 0.0)
    least = min(losses[-max(START, int(len(losses) * TAIL)) :])
    return least > max(3 * start, start + 2) or least > max(4 * lowest, lowest + 4)


def series_symptoms(series: Sequence[Series], seen: set[str]) -> Iterator[SymptomHits]:
    """Give the symptoms only the series shows, unless a signature has shown them already."""
    for kind in ("loss-nan", "loss-zero", "grad-norm-nan"):
        mark = mark_of(series, kind)
        if mark is not None and kind not in seen:
            yield _symptom(kind, mark.origin, mark.step)
    lead = leading(series)
    if lead is None:
        return
    if not seen & {"loss-nan", "loss-diverges"} and mark_of(series, "loss-nan") is None:
        yield from _divergence(lead.source, lead.all_points())
    if not seen & {"gradient-zero", "loss-zero", "loss-and-gradient-zero"}:
        yield from _stillness(lead)
    memory = leading_memory(curves_of(series))
    if memory is not None and "memory-grows" not in seen:
        yield from growth(memory)


def growth(memory: Curve) -> Iterator[SymptomHits]:
    """Give the symptom of memory that grows, with its last reading."""
    if not grows(memory):
        return
    text = f"memory {memory.values[0]:g} -> {memory.values[-1]:g} GiB"
    origin = Origin(source=memory.source, line=memory.lines[-1], text=text)
    yield _symptom("memory-grows", origin, int(memory.at[-1]) if memory.by == "step" else None)


def _divergence(source: str, points: Sequence[Point]) -> Iterator[SymptomHits]:
    logged = [p for p in points if p.loss is not None and math.isfinite(p.loss)]
    losses = [p.loss for p in logged if p.loss is not None]
    # with rewards the loss is a difference around 0, its size says nothing
    if any(p.rewarded for p in logged) or not diverges(losses):
        return
    # a reading of the whole series, worded so that nobody takes it for a line of the log
    text = f"{len(losses)} losses: first {losses[0]:g}, lowest {min(losses):g}, last {losses[-1]:g}"
    origin = Origin(source=source, line=logged[-1].line, text=text)
    yield _symptom("loss-diverges", origin, logged[-1].step)


def _stillness(lead: Series) -> Iterator[SymptomHits]:
    """Give the symptom of a gradient that is exactly 0 at every logged step."""
    logged = [p for p in lead.all_points() if p.grad_norm is not None]
    if len(logged) < LEAST_GRADIENTS or any(p.grad_norm != 0 for p in logged):
        return
    # outside of RL a loss of 0 beside it is another story: no token counts for it
    if not any(p.rewarded or p.loss for p in logged):
        return
    mark = lead.marks.get("gradient-zero")
    if mark is not None:
        yield _symptom("gradient-zero", mark.origin, mark.step)


def _symptom(kind: str, origin: Origin, step: int | None) -> SymptomHits:
    hit = Hit(
        symptom=kind,
        source=origin.source,
        line=origin.line or 0,
        text=origin.text,
        phase="train",
        step=step,
    )
    return SymptomHits(symptom=kind, count=1, hits=(hit,))
