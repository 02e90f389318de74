"""An estimate as Markdown for chats and issues: lists and one fenced chart, no tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainrx.model.estimate import CardFit, Estimate
from trainrx.model.memory import Prediction, Refusal
from trainrx.model.text import Lang, Text
from trainrx.render import estimate_words as words
from trainrx.render.document import View
from trainrx.render.emit import plain
from trainrx.render.estimate_chart import chart, inks
from trainrx.render.estimate_says import (
    assumed,
    claim,
    counted_text,
    fit_word,
    host_text,
    length_text,
    next_steps,
    peak_phase,
    peak_text,
    refused,
)
from trainrx.render.estimate_terms import NOTHING, gib, share, term_name
from trainrx.render.head import job_text
from trainrx.render.markdown import code, fence, guard, prose
from trainrx.render.words import COLON, COMMA, UNREAD, WRITTEN_BY

CHART_WIDTH = 60
"""Columns that a telephone still shows without breaking a line."""
MAX_UNREAD = 10


def to_markdown(estimate: Estimate, lang: Lang) -> str:
    """Give the answer as Markdown; texts of the job are neutralised."""
    found = estimate.prediction
    lines = list(_refusal(estimate, lang) if found is None else _figures(estimate, found, lang))
    lines += _listed(words.ASSUMED, [assumed(item, lang) for item in estimate.assumptions], lang)
    lines += _unread(estimate, lang)
    tool = f"{estimate.tool.name} {estimate.tool.version}"
    lines += ["", f"_{WRITTEN_BY.in_(lang).format(tool=tool)}_"]
    return "\n".join(lines) + "\n"


def _figures(estimate: Estimate, found: Prediction, lang: Lang) -> Iterator[str]:
    colon = COLON.in_(lang)
    word = words.NO_VERDICT if found.verdict is None else words.VERDICT[found.verdict]
    yield f"**{word.in_(lang)}**{colon}{prose(claim(estimate, lang))}"
    yield from _labelled(estimate, lang)
    yield ""
    names = (words.ALLOCATED, words.RESERVED, words.ON_CARD)
    figures = (found.allocated, found.reserved, found.card)
    for name, figure, note in zip(names, figures, words.FIGURE_NOTES, strict=True):
        between = f"{gib(figure.low)}–{gib(figure.high)}"
        yield (
            f"- {name.in_(lang)}{colon}**{gib(figure.gib)}** GiB ({between}) · "
            f"{prose(note.in_(lang))}"
        )
    view = View(lang, CHART_WIDTH)
    yield from ("", *fence(plain(list(chart(estimate, view))).splitlines(), "text"))
    phase, drawn = peak_phase(found), inks(found)
    if phase is not None:
        title = words.TERMS_AT.in_(lang).format(phase=words.phase_name(phase.phase, lang))
        yield from ("", f"**{title}**", "")
        shown = [term for term in phase.terms if term.gib >= NOTHING]
        for term in sorted(shown, key=lambda item: -item.gib):
            part = share(term.gib, phase.gib)
            named = f"{code(drawn[term.name].glyph)} {prose(term_name(term.name, lang))}"
            yield f"- {named}{colon}{gib(term.gib)} GiB · {part}"
    yield from _cards(estimate.cards, lang)
    yield from _listed(words.HOST, host_text(found.host, lang), lang)
    yield from _listed(words.COUNTED, counted_text(estimate.counted, lang), lang)
    yield from _listed(words.NEXT, next_steps(found, lang), lang)


def _labelled(estimate: Estimate, lang: Lang) -> Iterator[str]:
    shown = (
        (words.JOB, job_text(estimate.job, lang)),
        (words.LENGTH, length_text(estimate, lang)),
        (words.PEAK, peak_text(estimate, lang)),
    )
    for label, text in shown:
        if text:
            yield from ("", f"{label.in_(lang)}{COLON.in_(lang)}{prose(text)}")


def _refusal(estimate: Estimate, lang: Lang) -> Iterator[str]:
    refusal = estimate.refusal or Refusal(kind="unmodelled", id="", reason="")
    lead, text = refused(refusal, lang)
    yield f"**{lead.rstrip(': ：')}**{COLON.in_(lang)}{prose(text)}"
    for origin in refusal.evidence[:3]:
        yield from ("", code(guard(str(origin))))
        if origin.text.strip():
            yield from fence([guard(origin.text.strip())], "text")
    yield from _labelled(estimate, lang)
    yield from _listed(words.NEEDED, refusal.asks, lang)


def _cards(cards: Sequence[CardFit], lang: Lang) -> Iterator[str]:
    if len(cards) < 2:
        return
    yield from ("", f"**{words.CARDS.in_(lang)}**", "")
    for card in cards:
        sizes = [gib(figure) for figure in (card.card and card.card.gib, card.gib) if figure]
        parts = [f"{' / '.join(sizes)} GiB"] if sizes else []
        parts.append(fit_word(card, lang)[0])
        yield f"- {prose(card.name)}{COLON.in_(lang)}{COMMA.in_(lang).join(parts)}"


def _listed(title: Text, texts: Sequence[str], lang: Lang) -> Iterator[str]:
    if texts:
        yield from ("", f"**{title.in_(lang)}**", "")
    yield from (f"- {prose(text)}" for text in texts)


def _unread(estimate: Estimate, lang: Lang) -> Iterator[str]:
    if estimate.unread:
        yield from ("", f"**{UNREAD.in_(lang)}**", "")
    for item in estimate.unread[:MAX_UNREAD]:
        place = item.source if item.line is None else f"{item.source}:{item.line}"
        yield f"- {code(guard(place))} {prose(item.reason)}"
