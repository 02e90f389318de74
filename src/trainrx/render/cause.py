"""One cause on the console: why, what to change, what is right already, how it was scored."""

from __future__ import annotations

import math
from collections.abc import Iterator

from trainrx.model.facts import Origin
from trainrx.model.result import CauseOut, FixOut, Reason
from trainrx.render import words
from trainrx.render.fixes import fix_lines, memory
from trainrx.render.layout import Line, StyledText, cells, clean
from trainrx.render.page import View, heading, limited, prose, quotes, to_copy

FULL = (4, 2, 4)
"""Reasons for, unknowns and fixes shown of the first cause."""
SHORT = (2, 1, 2)
"""The same for the others."""


def percent(probability: float) -> str:
    """Say a probability; never 0% or 100%, which would claim certainty."""
    return f"{min(99, max(1, round(100 * probability)))}%"


def cause_lines(
    view: View, cause: CauseOut, number: int, titles: dict[str, str], quoted: set[Origin]
) -> Iterator[Line]:
    """Show one cause; `titles` names the symptoms seen, `quoted` holds the lines shown before."""
    limits = FULL if number == 1 else SHORT
    how_sure = f"{words.LIKELY[cause.verdict].in_(view.lang)} {percent(cause.probability)}"
    yield from _title(view, f"{number}. ", cause.title, how_sure)
    if not is_supported(cause) and not view.everything:
        yield from _common(view, cause)
        return
    if number == 1 or view.everything:
        yield from prose(view, cause.summary, indent=3)
    yield from _why(view, cause, limits, quoted)
    yield from _changes(view, cause, limits[2])
    yield from _already(view, cause)
    yield from _effects(view, cause, titles)
    if view.everything:
        yield from _score(view, cause)
        yield from _sources(view, cause)


def is_supported(cause: CauseOut) -> bool:
    """Tell whether anything in the inputs speaks for a cause, beyond how common it is."""
    return any(reason.holds and reason.weight > 0 for reason in cause.reasons)


def _common(view: View, cause: CauseOut) -> Iterator[Line]:
    yield from prose(view, words.COMMON.in_(view.lang), indent=3, style="dim")
    lines = fix_lines(cause.fixes[0], view.lang) if cause.fixes else ()
    if lines:
        yield from to_copy(view, lines[:1], 5)
    elif cause.fixes:
        yield from prose(view, cause.fixes[0].title, indent=5)


def _title(view: View, lead: str, title: str, how_sure: str) -> Iterator[Line]:
    rows = list(prose(view, title, lead=StyledText(lead, "strong"), style="strong"))
    size = sum(cells(span.text) for span in rows[-1])
    if size + 2 + cells(how_sure) <= view.width:
        rows[-1] = (*rows[-1], StyledText("  "), StyledText(how_sure, "doubt"))
    else:
        rows.append((StyledText("   "), StyledText(how_sure, "doubt")))
    yield from rows


def _why(
    view: View, cause: CauseOut, limits: tuple[int, int, int], quoted: set[Origin]
) -> Iterator[Line]:
    held = [reason for reason in cause.reasons if reason.holds is True]
    groups = (
        (words.WHY, "+ ", "plus", [r for r in held if r.weight >= 0], limits[0]),
        (words.WHY_NOT, "- ", "minus", [r for r in held if r.weight < 0], limits[0]),
        (words.NOT_KNOWN, "? ", "ask", [r for r in cause.reasons if r.holds is None], limits[1]),
    )
    for title, sign, style, reasons, limit in groups:
        if reasons:
            yield heading(title.in_(view.lang), 3)
        shown = limited(view, len(reasons), limit)
        for reason in reasons[:shown]:
            lead = sign if reason.holds else ("?+ " if reason.weight > 0 else "?- ")
            yield from prose(view, reason.text, indent=5, lead=StyledText(lead, style))
            yield from quotes(view, reason.evidence, 7, quoted)
        yield from _more(view, len(reasons) - shown, 5)


def _changes(view: View, cause: CauseOut, limit: int) -> Iterator[Line]:
    if not cause.fixes:
        return
    yield heading(words.CHANGE.in_(view.lang), 3)
    shown = limited(view, len(cause.fixes), limit)
    for number, fix in enumerate(cause.fixes[:shown]):
        yield from _fix(view, fix, f"{chr(ord('a') + number % 26)}) ")
    yield from _more(view, len(cause.fixes) - shown, 5)


def _fix(view: View, fix: FixOut, lead: str) -> Iterator[Line]:
    safety = words.SAFETY[fix.safety].in_(view.lang)
    yield from prose(view, f"{fix.title} · {safety}", indent=5, lead=StyledText(lead))
    yield from to_copy(view, fix_lines(fix, view.lang), 10)
    for step in fix.steps.splitlines():
        yield from prose(view, step, indent=8)
    if fix.predicted is not None:
        yield from prose(view, memory(fix.predicted, view.lang), indent=8)
    if fix.cost:
        price = words.PRICE.in_(view.lang) + words.COLON.in_(view.lang)
        yield from prose(view, fix.cost, indent=8, lead=StyledText(price, "dim"), style="dim")
    for note in fix.notes:
        yield from prose(view, note, indent=8, style="dim")


def _already(view: View, cause: CauseOut) -> Iterator[Line]:
    if not cause.already_right:
        return
    yield heading(words.ALREADY.in_(view.lang), 3)
    for item in cause.already_right:
        where = clean(str(item.evidence[0])) if item.evidence else ""
        text = clean(item.spelled)
        if view.everything or not text:
            yield from prose(view, item.title, indent=5, lead=StyledText("✓ ", "good"))
            lead = StyledText("  ")
        else:
            lead = StyledText("✓ ", "good")
        beside = 7 + cells(text) + 2 + cells(where) <= view.width
        if text:
            shown = StyledText(f"  {where}" if beside else "", "dim")
            yield (StyledText("     "), lead, StyledText(text), shown)
        if where and not (text and beside):
            yield (StyledText("         "), StyledText(where, "dim"))


def _effects(view: View, cause: CauseOut, titles: dict[str, str]) -> Iterator[Line]:
    # a cause that was explained away is not laid out, and so has no title here
    named = [titles[effect] for effect in cause.effects if effect in titles]
    if not named:
        return
    label = words.EFFECTS.in_(view.lang) + words.COLON.in_(view.lang)
    text = words.LISTED.in_(view.lang).join(named)
    yield from prose(view, text, indent=3, lead=StyledText(label, "head"))


def _score(view: View, cause: CauseOut) -> Iterator[Line]:
    """Show the terms of the score, nats of log-odds."""
    lang = view.lang
    yield heading(words.SCORE.in_(lang) + words.PAREN.in_(lang).format(words.NATS.in_(lang)), 3)
    start = _log_odds(cause.prior)
    yield (StyledText(f"     {start:+6.2f}  {words.PRIOR.in_(lang)} {cause.prior:.2f}"),)
    for reason in cause.reasons:
        yield from _vote(view, reason)
    counted = start + sum(r.weight for r in cause.reasons if r.holds is True)
    if abs(counted - cause.score) > 0.02:
        lead = StyledText(f"{cause.score - counted:+6.2f}  ")
        yield from prose(view, words.CORRELATED.in_(lang), indent=5, lead=lead, style="dim")
    total = f"     {cause.score:+6.2f}  {words.SUM.in_(lang)}"
    yield (StyledText(f"{total} -> {words.PROBABILITY.in_(lang)} {percent(cause.probability)}"),)


def _vote(view: View, reason: Reason) -> Iterator[Line]:
    text = reason.id + words.COLON.in_(view.lang) + words.TRUTH[reason.holds].in_(view.lang)
    lead, style = f"{reason.weight:+6.2f}  ", ""
    if reason.holds is not True:
        would = f"{words.WOULD_BE.in_(view.lang)} {reason.weight:+.2f}"
        text += words.PAREN.in_(view.lang).format(would)
        lead, style = "     0  ", "dim"
    yield from prose(view, text, indent=5, lead=StyledText(lead, style), style=style)


def _sources(view: View, cause: CauseOut) -> Iterator[Line]:
    if cause.references:
        yield heading(words.SOURCES.in_(view.lang), 3)
    for reference in cause.references:
        yield from prose(view, reference.says, indent=5)
        yield (StyledText("       "), StyledText(clean(reference.url), "dim"))


def _more(view: View, count: int, indent: int) -> Iterator[Line]:
    if count > 0:
        yield (
            StyledText(" " * indent),
            StyledText(words.MORE.in_(view.lang).format(n=count), "dim"),
        )


def _log_odds(probability: float) -> float:
    bounded = min(max(probability, 1e-6), 1 - 1e-6)
    return math.log(bounded / (1 - bounded))
