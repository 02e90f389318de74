"""An estimate as a document: verdict and figures first, what was assumed last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainrx.model.estimate import CardFit, Estimate
from trainrx.model.findings import Unread
from trainrx.model.memory import CACHED, CONTEXT, Figure, PhaseUse, Prediction, Refusal
from trainrx.model.text import Text
from trainrx.render import document as doc
from trainrx.render import estimate_words as words
from trainrx.render.document import Document, View, children
from trainrx.render.estimate_bars import bars, full_scale, inks, legend
from trainrx.render.estimate_says import (
    assumed,
    claim,
    counted_text,
    fit_word,
    host_text,
    length_text,
    next_steps,
    peak_text,
)
from trainrx.render.estimate_words import NOTHING, gib, share, term_name
from trainrx.render.inputs import CONFIG, configs_text, job_text, unread_section
from trainrx.render.layout import Styled, cells
from trainrx.render.words import COLON, COMMA, SOURCES
from trainrx.sanitizer.controls import clean

MAX_UNREAD = 5
MAX_UNREAD_POSTED = 10
MAX_QUOTED = 3
WIDEST_CARD = 30


def document(estimate: Estimate, view: View) -> Document:
    """Lay the whole answer out."""
    found = estimate.prediction
    said = _refusal(estimate, view) if found is None else _predicted(estimate, found, view)
    assumptions = tuple(doc.Bullet(assumed(one, view), "•") for one in estimate.assumptions)
    most = MAX_UNREAD_POSTED if view.post else MAX_UNREAD
    unread: Sequence[Unread] = estimate.unread if view.everything else estimate.unread[:most]
    hint = found is not None and not view.everything and not view.post
    return Document(
        children(
            said,
            doc.Section(view.say(words.ASSUMED), assumptions),
            unread_section(unread, view),
            doc.Paragraph(view.say(words.VERBOSE), style="dim", gap=True) if hint else None,
        ),
        tuple(
            view.say(label) for label in (words.JOB, words.LAUNCH, CONFIG, words.PEAK, words.LENGTH)
        ),
        f"{estimate.tool.name} {estimate.tool.version}",
        short=True,
    )


def _predicted(estimate: Estimate, found: Prediction, view: View) -> Iterator[doc.Node]:
    verdict = found.verdict
    word = words.NO_VERDICT if verdict is None else words.VERDICT[verdict]
    style = "strong" if verdict is None else words.STYLE_OF[verdict]
    yield doc.Headline(view.say(word), style, claim(estimate, view))
    yield from _labelled(estimate, view)
    yield _figures(found, view)
    yield chart(found, view)
    for phase in sorted(found.phases, key=lambda phase: phase.phase != found.peak):
        if phase.phase == found.peak or view.everything:
            yield _terms(phase, found, view)
    if len(estimate.cards) > 1:
        yield _cards(estimate.cards, view)
    yield _listed(words.HOST, host_text(found.host, view), view)
    yield _listed(words.COUNTED, counted_text(estimate.counted, view), view)
    yield _listed(words.NEXT, next_steps(found, view), view)
    if view.everything:
        yield _sources(found, view)


def _labelled(estimate: Estimate, view: View) -> Iterator[doc.Node]:
    fields = (
        (words.JOB, job_text(estimate.job, view)),
        (words.LAUNCH, "" if estimate.place is None else clean(str(estimate.place))),
        (CONFIG, configs_text(estimate.configs, view)),
        (words.LENGTH, length_text(estimate, view)),
        (words.PEAK, peak_text(estimate, view)),
    )
    # without a figure a terminal has no use for the length
    shown = fields if view.post or estimate.prediction is not None else fields[:3]
    return (doc.Labelled(view.say(label), (text,)) for label, text in shown if text)


def _listed(title: Text, texts: Sequence[str], view: View) -> doc.Section:
    return doc.Section(view.say(title), tuple(map(doc.Bullet, texts)))


def _figures(found: Prediction, view: View) -> doc.Table:
    columns = (
        doc.Column(),
        *(doc.Column(right=True, least=8) for _ in range(3)),
        doc.Column("  ", rest=True, drop=12),
    )
    heads = (Styled(view.say(text), "dim") for text in (words.BEST, words.LOW, words.HIGH))
    rows = [doc.Row((Styled(f"{view.say(words.FIGURES)}  ", "head"), *heads))]
    named = (
        (words.ALLOCATED, found.allocated, ""),
        (words.RESERVED, found.reserved, ""),
        (words.ON_CARD, found.card, "strong"),
    )
    for (name, figure, style), note in zip(named, words.FIGURE_NOTES, strict=True):
        rows.append(_figure(view.say(name), figure, style, view.say(note), view))
    return doc.Table(columns, tuple(rows), gap=True)


def _figure(name: str, figure: Figure, style: str, note: str, view: View) -> doc.Row:
    likely, low, high = gib(figure.gib), gib(figure.low), gib(figure.high)
    shown = (
        Styled(f"  {name}"),
        Styled(likely, style),
        Styled(low),
        Styled(high),
        Styled(note, "dim"),
    )
    said = (
        Styled(name + view.say(COLON)),
        Styled(likely, "strong"),
        Styled(f" GiB ({low}–{high}) · {note}"),
    )
    return doc.Row(shown, said)


def chart(found: Prediction, view: View) -> doc.Chart:
    """Draw a bar for each phase, and one for all that the card shows."""
    title, drawn = view.say(words.PHASES), inks(found)
    if found.limit_gib is not None:
        limit = view.say(words.LIMIT_MARK, limit=gib(found.limit_gib))
        title += view.paren(f"| {limit}")
    shown = []
    for stack in bars(found, view.lang):
        over = found.limit_gib is not None and stack.gib > found.limit_gib
        parts = tuple((part.gib, drawn.get(part.name, Styled("-"))) for part in stack.parts)
        figure = Styled(gib(stack.gib), "bad" if over else "")
        aside = view.say(words.IS_PEAK) if stack.peak else ""
        shown.append(doc.Bar(stack.label, parts, figure, aside))
    return doc.Chart(title, tuple(shown), full_scale(found), found.limit_gib)


def _terms(phase: PhaseUse, found: Prediction, view: View) -> doc.Section:
    """Show the terms of a phase; of the peak also what the card shows beyond them."""
    lang, drawn = view.lang, inks(found)
    peak = phase.phase == found.peak
    names = (*(term.name for term in phase.terms), CACHED, CONTEXT)
    widest = max(cells(legend(name, lang)) for name in names) + 2
    columns = (
        doc.Column(),
        doc.Column("  ", least=widest, spare=26),
        doc.Column(right=True, least=7),
        doc.Column(right=True, least=7),
    )
    rows = []
    for term in sorted(phase.terms, key=lambda term: -term.gib):
        if term.gib < NOTHING and not view.everything:
            continue
        size, part, ink = gib(term.gib), share(term.gib, phase.gib), drawn[term.name]
        name = term_name(term.name, lang)
        shown = (_swatch(ink), Styled(name), Styled(size), Styled(part, "dim"))
        said = (Styled(ink.text, "fix"), Styled(f" {name}{view.say(COLON)}{size} GiB · {part}"))
        rows.append(doc.Row(shown, said))
    rows.append(_total(words.SUM, phase.gib, view))
    if peak:
        for term in found.beyond:
            label = Styled(legend(term.name, lang))
            rows.append(doc.Row((_swatch(drawn[term.name]), label, Styled(gib(term.gib)))))
        rows.append(_total(words.ON_CARD, found.card.gib, view))
    title = words.TERMS_AT if peak else words.TERMS_IN
    heading = view.say(title, phase=words.phase_name(phase.phase, lang))
    return doc.Section(heading, (doc.Table(columns, tuple(rows)),))


def _swatch(ink: Styled) -> Styled:
    return Styled(ink.text * 2, ink.style)


def _total(title: Text, size: float, view: View) -> doc.Row:
    return doc.Row((Styled("  "), Styled(view.say(title)), Styled(gib(size), "strong")))


def _cards(cards: Sequence[CardFit], view: View) -> doc.Section:
    """Compare the cards that are asked about."""
    columns = (
        doc.Column(most=WIDEST_CARD, spare=36),
        doc.Column("  ", right=True, least=8),
        doc.Column(" / ", right=True, least=6),
        doc.Column("  "),
    )
    rows = []
    for card in cards:
        word, style = fit_word(card, view)
        need = gib(card.card.gib) if card.card is not None else "?"
        size = gib(card.gib) if card.gib is not None else "?"
        name = clean(card.name)
        sizes = " / ".join(one for one in (need, size) if one != "?")
        facts = view.say(COMMA).join([f"{sizes} GiB", word] if sizes else [word])
        shown = (Styled(name), Styled(need), Styled(size), Styled(word, style))
        rows.append(doc.Row(shown, (Styled(f"{name}{view.say(COLON)}{facts}"),)))
    return doc.Section(view.say(words.CARDS), (doc.Table(columns, tuple(rows)),))


def _sources(found: Prediction, view: View) -> doc.Section:
    """Say where the formula of each term comes from."""
    terms = (*(term for phase in found.phases for term in phase.terms), *found.host.terms)
    known = {term.name: term.source for term in terms if term.source}
    lines = (
        doc.Paragraph(source, Styled(term_name(name, view.lang) + view.say(COLON)), "dim")
        for name, source in known.items()
    )
    return doc.Section(view.say(SOURCES), tuple(lines))


def _refusal(estimate: Estimate, view: View) -> Iterator[doc.Node]:
    """Say that there is no figure, why, and what would give one."""
    refusal = estimate.refusal or Refusal(kind="unmodelled", id="", reason="")
    no_figure = view.say(words.NO_PREDICTION)
    yield doc.Headline(no_figure, "doubt", refusal.reason, joint=view.say(COLON))
    yield from _labelled(estimate, view)
    if refusal.evidence:
        yield doc.Quote(refusal.evidence[:MAX_QUOTED])
    needed = tuple(doc.Bullet(ask, "•") for ask in refusal.asks)
    yield doc.Section(view.say(words.NEEDED), needed)
