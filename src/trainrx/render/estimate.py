"""An estimate on a terminal: verdict and figures first, what was assumed last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainrx.model.estimate import CardFit, Estimate
from trainrx.model.memory import Assumption, Figure, PhaseUse, Prediction, Refusal
from trainrx.model.text import Lang, Text
from trainrx.render import estimate_words as words
from trainrx.render.document import View
from trainrx.render.estimate_chart import CACHED, CONTEXT, beyond, chart, inks, legend, swatch
from trainrx.render.estimate_says import (
    assumed,
    claim,
    counted_text,
    fit_word,
    host_text,
    length_text,
    next_steps,
    peak_text,
    refused,
)
from trainrx.render.estimate_terms import NOTHING, gib, share, term_name
from trainrx.render.head import job_text
from trainrx.render.inspect import unread_lines
from trainrx.render.layout import Line, StyledText, cells, clean, cut, pad, wrap
from trainrx.render.page import prose, quotes
from trainrx.render.words import COLON, SOURCES

BLANK: Line = ()
MAX_UNREAD = 5
_LABELS = (words.JOB, words.PEAK, words.LENGTH)


def estimate_page(estimate: Estimate, view: View) -> list[Line]:
    """Lay the whole answer out."""
    found = estimate.prediction
    if found is None:
        return [*_refusal(estimate, view), *_end(estimate, view)]
    lines = list(_head(estimate, view))
    parts = (
        _figures(found, view),
        chart(estimate, view),
        _tables(found, view),
        _cards(estimate.cards, view),
        _section(words.HOST, host_text(found.host, view.lang), view),
        _section(words.COUNTED, counted_text(estimate.counted, view.lang), view),
        _section(words.NEXT, next_steps(found, view.lang), view),
        _sources(found, view),
    )
    for part in parts:
        shown = list(part)
        lines += [BLANK, *shown] if shown else []
    return [*lines, *_end(estimate, view)]


def _head(estimate: Estimate, view: View) -> Iterator[Line]:
    verdict = estimate.verdict
    word = words.NO_VERDICT if verdict is None else words.VERDICT[verdict]
    style = "strong" if verdict is None else words.STYLE_OF[verdict]
    lead = StyledText(word.in_(view.lang) + "  ", style)
    yield from prose(view, claim(estimate, view.lang), lead=lead)
    yield from _labelled(view, words.JOB, job_text(estimate.job, view.lang))
    yield from _labelled(view, words.LENGTH, length_text(estimate, view.lang))
    yield from _labelled(view, words.PEAK, peak_text(estimate, view.lang))


def _labelled(view: View, label: Text, text: str) -> Iterator[Line]:
    if not text:
        return
    most = max(cells(word.in_(view.lang)) for word in _LABELS)
    lead = pad(label.in_(view.lang), most) + "  "
    for index, part in enumerate(wrap(clean(text), view.width - cells(lead))):
        yield (StyledText(lead if index == 0 else " " * cells(lead), "head"), StyledText(part))


def _figures(found: Prediction, view: View) -> Iterator[Line]:
    lang = view.lang
    names = (words.ALLOCATED, words.RESERVED, words.ON_CARD)
    column = max(cells(text.in_(lang)) for text in (*names, words.FIGURES)) + 2
    heads = (words.BEST, words.LOW, words.HIGH)
    titles = "".join(_right(text.in_(lang), 8) for text in heads)
    yield (StyledText(pad(words.FIGURES.in_(lang), column), "head"), StyledText(titles, "dim"))
    figures: tuple[Figure, ...] = (found.allocated, found.reserved, found.card)
    rows = zip(names, figures, words.FIGURE_NOTES, strict=True)
    for name, figure, note in rows:
        room = view.width - column - 26
        style = "strong" if name is words.ON_CARD else ""
        yield (
            StyledText(pad("  " + name.in_(lang), column)),
            StyledText(_right(gib(figure.gib), 8), style),
            StyledText(_right(gib(figure.low), 8) + _right(gib(figure.high), 8)),
            StyledText("  " + cut(note.in_(lang), room) if room > 12 else "", "dim"),
        )


def _right(text: str, width: int) -> str:
    return " " * max(0, width - cells(text)) + text


def _tables(found: Prediction, view: View) -> Iterator[Line]:
    """Show the terms of the peak; with everything, those of every phase."""
    for phase in found.phases:
        if phase.phase == found.peak:
            yield from _terms(phase, found, view, words.TERMS_AT)
    if view.everything:
        for phase in found.phases:
            if phase.phase != found.peak:
                yield BLANK
                yield from _terms(phase, found, view, words.TERMS_IN)


def _terms(phase: PhaseUse, found: Prediction, view: View, title: Text) -> Iterator[Line]:
    lang, drawn = view.lang, inks(found)
    name = words.phase_name(phase.phase, lang)
    yield (StyledText(title.in_(lang).format(phase=name), "head"),)
    names = (*(t.name for t in phase.terms), CACHED, CONTEXT)
    column = min(max(cells(legend(item, lang)) for item in names) + 2, view.width - 24)
    for term in sorted(phase.terms, key=lambda item: -item.gib):
        if term.gib < NOTHING and not view.everything:
            continue
        yield (
            StyledText("  "),
            swatch(term.name, drawn),
            StyledText("  " + pad(cut(term_name(term.name, lang), column - 1), column)),
            StyledText(_right(gib(term.gib), 7)),
            StyledText(_right(share(term.gib, phase.gib), 7), "dim"),
        )
    yield _total(words.SUM, phase.gib, column, lang)
    if phase.phase == found.peak:
        for name, size in beyond(found):
            text = pad(cut(legend(name, lang), column - 1), column)
            yield (
                StyledText("  "),
                swatch(name, drawn),
                StyledText("  " + text),
                StyledText(_right(gib(size), 7)),
            )
        yield _total(words.ON_CARD, found.card.gib, column, lang)


def _total(title: Text, size: float, column: int, lang: Lang) -> Line:
    return (
        StyledText(" " * 6 + pad(title.in_(lang), column)),
        StyledText(_right(gib(size), 7), "strong"),
    )


def _sources(found: Prediction, view: View) -> Iterator[Line]:
    """Say where the formula of each term comes from."""
    terms = (*(term for phase in found.phases for term in phase.terms), *found.host.terms)
    known = {term.name: term.source for term in terms if term.source}
    if not view.everything or not known:
        return
    yield (StyledText(SOURCES.in_(view.lang), "head"),)
    for name, source in known.items():
        lead = StyledText(term_name(name, view.lang) + COLON.in_(view.lang))
        yield from prose(view, source, indent=2, lead=lead, style="dim")


def _cards(cards: Sequence[CardFit], view: View) -> Iterator[Line]:
    """Compare the cards, where more than one is asked about."""
    if len(cards) < 2:
        return
    lang = view.lang
    yield (StyledText(words.CARDS.in_(lang), "head"),)
    names = min(max(cells(card.name) for card in cards), 30, view.width - 36) + 2
    for card in cards:
        word, style = fit_word(card, lang)
        size = gib(card.gib) if card.gib is not None else "?"
        need = gib(card.card.gib) if card.card is not None else "?"
        yield (
            StyledText("  " + pad(cut(clean(card.name), names - 2), names)),
            StyledText(_right(need, 8) + " / " + _right(size, 6) + "  "),
            StyledText(word, style),
        )


def _section(title: Text, texts: Sequence[str], view: View) -> Iterator[Line]:
    if texts:
        yield (StyledText(title.in_(view.lang), "head"),)
    for text in texts:
        yield from prose(view, text, indent=2)


def _refusal(estimate: Estimate, view: View) -> Iterator[Line]:
    """Say that there is no figure, why, and what would give one."""
    refusal = estimate.refusal or Refusal(kind="unmodelled", id="", reason="")
    lead, text = refused(refusal, view.lang)
    yield from prose(view, text, lead=StyledText(lead, "doubt"))
    yield from _labelled(view, words.JOB, job_text(estimate.job, view.lang))
    yield from quotes(view, refusal.evidence[:3], 2, set())
    if refusal.asks:
        yield from (BLANK, (StyledText(words.NEEDED.in_(view.lang), "head"),))
    for ask in refusal.asks:
        yield from prose(view, ask, lead=StyledText("- "), indent=2)


def _end(estimate: Estimate, view: View) -> Iterator[Line]:
    """Show what was taken for granted, and what could not be used."""
    if estimate.assumptions:
        yield from (BLANK, (StyledText(words.ASSUMED.in_(view.lang), "head"),))
        yield from _assumed(estimate.assumptions, view)
    shown = estimate.unread if view.everything else estimate.unread[:MAX_UNREAD]
    yield from unread_lines(shown, view)
    if estimate.prediction is not None and not view.everything:
        yield BLANK
        yield from prose(view, words.VERBOSE.in_(view.lang), style="dim")


def _assumed(assumptions: Sequence[Assumption], view: View) -> Iterator[Line]:
    for item in assumptions:
        yield from prose(view, assumed(item, view.lang), lead=StyledText("- "), indent=2)
