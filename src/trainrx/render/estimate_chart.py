"""Stacked bars of what lies on the card in each phase, as terminal cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainrx.model.estimate import Estimate
from trainrx.model.memory import Prediction, Term
from trainrx.model.text import Lang
from trainrx.render import estimate_words as words
from trainrx.render.document import View
from trainrx.render.estimate_terms import gib, term_name
from trainrx.render.layout import Line, StyledText, cells, cut, pad
from trainrx.render.words import PAREN

GLYPHS = "█▓▒░=+:o*~-"
"""The first for the largest terms; a terminal without colour tells them apart by these alone."""
HUES = 6
WIDEST_LABEL = 16
NARROWEST = 10
MARK = "|"


class Ink(NamedTuple):
    """How one term is drawn."""

    glyph: str
    style: str


class Bar(NamedTuple):
    """One bar: a label, what it is made of, and whether it is the peak."""

    label: str
    parts: tuple[Term, ...]
    gib: float
    peak: bool = False


def inks(estimate: Prediction) -> dict[str, Ink]:
    """Choose glyph and colour of every term, the largest first."""
    most: dict[str, float] = {}
    for phase in estimate.phases:
        for term in phase.terms:
            most[term.name] = max(most.get(term.name, 0.0), term.gib)
    ranked = sorted(most, key=lambda name: -most[name])
    out = {
        name: Ink(GLYPHS[min(place, len(GLYPHS) - 1)], f"hue{place % HUES}")
        for place, name in enumerate(ranked)
    }
    return out | {CACHED: Ink(".", "dim"), CONTEXT: Ink("'", "dim")}


CACHED, CONTEXT = "cached", "context"
"""Names of what the card shows beyond tensors; no term is called so."""


def bars(found: Prediction, lang: Lang) -> tuple[Bar, ...]:
    """Give a bar for each phase, and the peak again with all that the card shows beyond it."""
    out = [
        Bar(words.phase_name(p.phase, lang), p.terms, p.gib, p.phase == found.peak)
        for p in found.phases
    ]
    peak = next((p for p in found.phases if p.phase == found.peak), None)
    outside = (Term(name=name, gib=size) for name, size in beyond(found))
    terms = (*(peak.terms if peak else ()), *outside)
    return (*out, Bar(words.ON_CARD.in_(lang), terms, found.card.gib))


def beyond(found: Prediction) -> tuple[tuple[str, float], ...]:
    """Give what the card shows beyond tensors, GiB: what the allocator keeps, and the rest."""
    return (
        (CACHED, max(0.0, found.reserved.gib - found.allocated.gib)),
        (CONTEXT, max(0.0, found.card.gib - found.reserved.gib)),
    )


def full_scale(found: Prediction) -> float:
    """Give the GiB at the right end: the card, or more where the job needs more."""
    heights = (found.card.gib, *(phase.gib for phase in found.phases), found.limit_gib or 0.0)
    return max(*heights, 0.01)


def chart(estimate: Estimate, view: View) -> Iterator[Line]:
    """Draw the bars below each other, the card's limit marked in each."""
    found = estimate.prediction
    if found is None:
        return
    lang, shown = view.lang, bars(found, view.lang)
    label = min(max(cells(bar.label) for bar in shown), WIDEST_LABEL, view.width // 4)
    peak = words.IS_PEAK.in_(lang)
    room = max(view.width - 2 - label - 2 - 8 - cells(peak) - 1, NARROWEST)
    title = words.PHASES.in_(lang)
    if found.limit_gib is not None:
        limit = words.LIMIT_MARK.in_(lang).format(limit=gib(found.limit_gib))
        title += PAREN.in_(lang).format(f"{MARK} {limit}")
    yield (StyledText(title, "head"),)
    scale, drawn = room / full_scale(found), inks(found)
    for bar in shown:
        filled = _cells(bar.parts, scale, room, drawn, found.limit_gib)
        over = found.limit_gib is not None and bar.gib > found.limit_gib
        number = StyledText(f" {gib(bar.gib):>7}", "bad" if over else "")
        tail = StyledText(f" {peak}", "strong") if bar.peak else StyledText("")
        yield (
            StyledText("  "),
            StyledText(pad(cut(bar.label, label), label) + "  "),
            *filled,
            number,
            tail,
        )


def _cells(
    parts: Sequence[Term], scale: float, room: int, drawn: dict[str, Ink], limit: float | None
) -> Iterator[StyledText]:
    """Fill cells part by part; what ends within half a cell is rounded, never lost in the sum."""
    row: list[tuple[str, str]] = []
    total = 0.0
    for part in parts:
        total += max(0.0, part.gib)
        end = min(round(total * scale), room)
        row += [drawn.get(part.name, Ink("-", ""))] * max(0, end - len(row))
    row += [(" ", "")] * (room - len(row))
    if limit is not None:
        at = min(round(limit * scale), room) - 1
        row[max(at, 0)] = (MARK, "strong")
    start = 0
    for index in range(1, room + 1):
        if index == room or row[index] != row[start]:
            glyph, style = row[start]
            yield StyledText(glyph * (index - start), style)
            start = index


def swatch(name: str, drawn: dict[str, Ink]) -> StyledText:
    """Show how a term is drawn, for the table that names it."""
    ink = drawn.get(name, Ink(" ", ""))
    return StyledText(ink.glyph * 2, ink.style)


def legend(name: str, lang: Lang) -> str:
    """Name a part of a bar."""
    beyond = {CACHED: words.CACHED, CONTEXT: words.CONTEXT}.get(name)
    return term_name(name, lang) if beyond is None else beyond.in_(lang)
