"""What the tool made of labelled cases, in figures: `accuracy.py` prints them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Outcome(NamedTuple):
    """What the tool made of one case; `date` is empty where the case has none."""

    case: str
    set: str
    date: str
    family: str
    named: str
    verdict: str
    likely: bool
    probability: float
    symptom: bool
    hit: tuple[bool, bool]
    causes: tuple[str, ...]


class Figures(NamedTuple):
    """What outcomes come to; `right`: first causes called likely with a fix that worked."""

    cases: int
    symptom: float
    hit1: float
    hit3: float
    brier: float
    likely: int
    right: int

    @property
    def precision(self) -> str:
        """Write the share of answers called likely that are right."""
        return f"{self.right / self.likely:.3f}" if self.likely else "-"


def figures(items: Sequence[Outcome]) -> Figures:
    """Count outcomes (at least one)."""
    count = len(items)
    return Figures(
        cases=count,
        symptom=sum(i.symptom for i in items) / count,
        hit1=sum(i.hit[0] for i in items) / count,
        hit3=sum(i.hit[1] for i in items) / count,
        brier=sum((i.probability - i.hit[0]) ** 2 for i in items) / count,
        likely=sum(i.likely for i in items),
        right=sum(i.likely and i.hit[0] for i in items),
    )


def table(found: Sequence[Outcome], since: str | None) -> Iterable[str]:
    """Give the figures per family, per set, over all, and on either side of a date.

    Without a date given it is the one that halves the cases that have any. Cases without a date
    count as older.
    """
    yield (
        f"{'family':18}{'cases':>6}{'symptom':>9}{'hit@1':>8}{'hit@3':>8}{'Brier':>8}{'wrong':>7}"
        f"{'likely':>8}{'right':>7}{'precision':>11}"
    )
    for family in sorted({item.family for item in found}):
        yield _row(family, [item for item in found if item.family == family])
    sets = sorted({item.set for item in found})
    for name in sets if len(sets) > 1 else ():
        yield _row(f"set {name}", [item for item in found if item.set == name])
    yield _row("all", found)
    cut = since or halving_date(found)
    older, newer = [i for i in found if i.date < cut], [i for i in found if i.date >= cut]
    yield from (_row(f"before {cut}", older),) if older and newer else ()
    yield from (_row(f"since {cut}", newer),) if older and newer else ()
    all_of_them = figures(found)
    yield (
        f"likely: {all_of_them.likely} called, {all_of_them.right} right ({all_of_them.precision})"
    )


def halving_date(found: Sequence[Outcome]) -> str:
    """Give the date from which on half of the dated cases are; empty where none is dated."""
    dates = sorted(item.date for item in found if item.date)
    return dates[len(dates) // 2] if dates else ""


def _row(title: str, items: Sequence[Outcome]) -> str:
    f = figures(items)
    return (
        f"{title:18}{f.cases:6}{f.symptom:9.3f}{f.hit1:8.3f}{f.hit3:8.3f}{f.brier:8.3f}"
        f"{f.likely - f.right:7}{f.likely:8}{f.right:7}{f.precision:>11}"
    )


def missed(item: Outcome) -> str:
    """Write a case whose label was not met."""
    marks = f"{'S' if item.symptom else '-'}{'1' if item.hit[0] else '3' if item.hit[1] else '-'}"
    return f"{marks} {item.case:24} {item.family:16} {item.named:16} {', '.join(item.causes)}"
