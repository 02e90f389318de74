"""What the tool made of labelled cases, in figures: `accuracy.py` prints them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Outcome(NamedTuple):
    """What the tool made of one case."""

    case: str
    family: str
    named: str
    verdict: str
    probability: float
    symptom: bool
    hit: tuple[bool, bool]
    causes: tuple[str, ...]


def table(found: Sequence[Outcome]) -> Iterable[str]:
    """Give the figures per family and over all."""
    yield f"{'family':18}{'cases':>6}{'symptom':>9}{'hit@1':>8}{'hit@3':>8}{'Brier':>8}{'wrong':>7}"
    for family in sorted({item.family for item in found}):
        yield _row(family, [item for item in found if item.family == family])
    yield _row("all", found)


def _row(title: str, items: Sequence[Outcome]) -> str:
    count = len(items)
    symptom, first, third = (
        sum(values) / count
        for values in (
            [i.symptom for i in items],
            [i.hit[0] for i in items],
            [i.hit[1] for i in items],
        )
    )
    brier = sum((i.probability - i.hit[0]) ** 2 for i in items) / count
    wrong = sum(i.probability >= 0.7 and not i.hit[0] for i in items)
    return f"{title:18}{count:6}{symptom:9.3f}{first:8.3f}{third:8.3f}{brier:8.3f}{wrong:7}"


def missed(item: Outcome) -> str:
    """Write a case whose label was not met."""
    marks = f"{'S' if item.symptom else '-'}{'1' if item.hit[0] else '3' if item.hit[1] else '-'}"
    return f"{marks} {item.case:24} {item.family:16} {item.named:16} {', '.join(item.causes)}"
