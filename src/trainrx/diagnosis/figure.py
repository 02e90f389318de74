"""What of a conclusion is drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from trainrx.diagnosis.conclusion import Conclusion
from trainrx.model.figure import CallMark, EventKind, FigureEvent, JobFigure, StepForecast
from trainrx.model.job import SymptomHits
from trainrx.model.knowledge import Family, Symptom
from trainrx.model.ranks import CollectiveCall
from trainrx.model.result import Diagnosis

LAST_CALLS = 16
MOST_EVENTS = 400
KIND_OF: dict[Family, EventKind] = {
    "oom": "oom",
    "host_oom": "oom",
    "nan_loss": "nan",
    "hang": "stall",
    "init_hang": "stall",
}
LASTING: frozenset[Family] = frozenset({"growing_memory", "slow", "rank_imbalance"})
"""What is so all along is no event."""
STAGES: dict[str, EventKind] = {"eval": "evaluation", "save": "save"}


def figure_of(done: Conclusion, answer: Diagnosis) -> JobFigure:
    """Give what is drawn of a job; all is empty where nothing can be."""
    memory = tuple(
        curve.since_last_start()
        for curve in done.curves
        if curve.quantity == "memory" and curve.by == "step" and max(curve.values) > 0
    )
    calls = _last_calls(done.reading.calls)
    ranks = answer.ranks
    return JobFigure(
        job=answer.job,
        lang=done.lang,
        memory=memory,
        events=tuple(_events(done))[:MOST_EVENTS] if memory else (),
        limit_gib=done.facts.number("hardware.gpu_gib") or done.facts.number("oom.card_gib"),
        forecast=_forecast(done),
        calls=calls,
        culprits=() if ranks is None else ranks.culprits,
        missing=() if ranks is None else ranks.missing,
    )


def _forecast(done: Conclusion) -> StepForecast | None:
    names = ("step", "low", "high")
    step, low, high = (done.facts.number(f"series.memory_forecast_{name}") for name in names)
    if step is None or low is None or high is None:
        return None
    return StepForecast(step=step, low=low, high=high)


def _events(done: Conclusion) -> Iterator[FigureEvent]:
    """Give what happened, each kind once at a step and rank."""
    found = [
        FigureEvent(kind="evaluation", step=step)
        for curve in done.curves
        for step in curve.evaluations
    ]
    for item in done.symptoms:
        found += _sighted(item, done.knowledge.symptoms[item.symptom])
    yield from dict.fromkeys(sorted(found, key=lambda event: event.step))


def _sighted(item: SymptomHits, symptom: Symptom) -> Iterator[FigureEvent]:
    if symptom.role == "phase":
        kind = STAGES.get(symptom.phase)
    elif symptom.role == "failure" and not symptom.vague and symptom.family not in LASTING:
        kind = KIND_OF.get(symptom.family or "crash_other", "failure")
    else:
        kind = None
    for hit in item.hits if kind is not None else ():
        if kind is not None and hit.step is not None:
            yield FigureEvent(kind=kind, step=float(hit.step), rank=hit.rank)


def _last_calls(calls: Sequence[CollectiveCall]) -> tuple[CallMark, ...]:
    """Give the last calls of the group of which the most ranks tell."""
    numbered = [call for call in calls if call.rank is not None and call.seq is not None]
    groups = Counter(group for group, _ in {(call.group, call.rank) for call in numbered})
    if not groups:
        return ()
    group = max(sorted(groups), key=groups.__getitem__)
    marks = {
        (mark.rank, mark.seq): mark for mark in _marks(c for c in numbered if c.group == group)
    }
    kept = sorted({mark.seq for mark in marks.values()})[-LAST_CALLS:]
    return tuple(mark for _, mark in sorted(marks.items()) if mark.seq in kept)


def _marks(calls: Iterable[CollectiveCall]) -> Iterator[CallMark]:
    for call in calls:
        if call.rank is not None and call.seq is not None:
            yield CallMark(rank=call.rank, seq=call.seq, op=call.op, state=call.state)
