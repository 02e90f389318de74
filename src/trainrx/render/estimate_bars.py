"""Stacked bars of what lies on the card in each phase."""

from __future__ import annotations

from typing import NamedTuple

from trainrx.model.memory import CACHED, CONTEXT, Prediction, Term
from trainrx.model.text import Lang
from trainrx.render import estimate_words as words
from trainrx.render.estimate_words import term_name
from trainrx.render.layout import Styled

GLYPHS = "█▓▒░=+:o*~-"
"""The first for the largest terms; a terminal without colour tells them apart by these alone."""
HUES = 6


class Stack(NamedTuple):
    """One bar: a label, what it is made of, and whether it is the peak."""

    label: str
    parts: tuple[Term, ...]
    gib: float
    peak: bool = False


def inks(estimate: Prediction) -> dict[str, Styled]:
    """Choose glyph and colour of every term, the largest first."""
    most: dict[str, float] = {}
    for phase in estimate.phases:
        for term in phase.terms:
            most[term.name] = max(most.get(term.name, 0.0), term.gib)
    ranked = sorted(most, key=lambda name: -most[name])
    out = {
        name: Styled(GLYPHS[min(place, len(GLYPHS) - 1)], f"hue{place % HUES}")
        for place, name in enumerate(ranked)
    }
    return out | {CACHED: Styled(".", "dim"), CONTEXT: Styled("'", "dim")}


def bars(found: Prediction, lang: Lang) -> tuple[Stack, ...]:
    """Give a bar for each phase, and the peak again with all that the card shows beyond it."""
    out = [
        Stack(words.phase_name(p.phase, lang), p.terms, p.gib, p.phase == found.peak)
        for p in found.phases
    ]
    return (*out, Stack(words.ON_CARD.in_(lang), found.on_card, found.card.gib))


def full_scale(found: Prediction) -> float:
    """Give the GiB at the right end: the card, or more where the job needs more."""
    heights = (found.card.gib, *(phase.gib for phase in found.phases), found.limit_gib or 0.0)
    return max(*heights, 0.01)


def legend(name: str, lang: Lang) -> str:
    """Name a part of a bar."""
    outside = {CACHED: words.CACHED, CONTEXT: words.CONTEXT}.get(name)
    return term_name(name, lang) if outside is None else outside.in_(lang)
