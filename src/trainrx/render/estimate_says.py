"""The sentences of an estimate, the same on a terminal and in a chat."""

from __future__ import annotations

from trainrx.model.estimate import CardFit, Compared, Estimate, ExactCount
from trainrx.model.memory import Assumption, HostUse, PhaseUse, Prediction, Term
from trainrx.model.text import Lang, Text
from trainrx.render import estimate_words as words
from trainrx.render.estimate_words import gib, largest, share, term_name
from trainrx.render.layout import clean
from trainrx.render.words import LISTED, PAREN

ADVICE: tuple[tuple[frozenset[str], Text], ...] = (
    (frozenset({"activations", "checkpoints", "live", "logits"}), words.DYNAMIC),
    (frozenset({"tower"}), words.TOWER),
    (frozenset({"engine"}), words.ENGINE),
)
"""What acts on which terms; all others are there whatever the batch."""


NOTICED = 0.05


def claim(estimate: Estimate, lang: Lang) -> str:
    """Say what the job needs and what the card has."""
    found = estimate.prediction
    if found is None:
        return ""
    named = estimate.cards[0].name if estimate.cards else estimate.job.gpu
    card = clean(named or words.YOUR_CARD.in_(lang))
    figure = found.card
    values = {"gib": gib(figure.gib), "low": gib(figure.low), "high": gib(figure.high)}
    if found.limit_gib is not None:
        text = words.RATHER_NOT if figure.gib > found.limit_gib else words.RATHER_SO
        rather = text.in_(lang) if found.verdict == "tight" else ""
        said = words.ON_THIS_CARD.in_(lang)
        return said.format(**values, card=card, limit=gib(found.limit_gib)) + rather
    asked = words.WITHOUT_SIZE if named else words.WITHOUT_CARD
    return asked.in_(lang).format(**values, card=card)


def peak_phase(found: Prediction) -> PhaseUse | None:
    """Give the phase that needs most."""
    return next((phase for phase in found.phases if phase.phase == found.peak), None)


def peak_text(estimate: Estimate, lang: Lang) -> str:
    """Say which phase needs most, and what of."""
    found = estimate.prediction
    phase = None if found is None else peak_phase(found)
    if phase is None or not phase.terms:
        return ""
    most = max(phase.terms, key=lambda term: term.gib)
    return words.PEAK_AT.in_(lang).format(
        phase=words.phase_name(phase.phase, lang),
        gib=gib(phase.gib),
        term=term_name(most.name, lang),
        part=share(most.gib, phase.gib),
    )


def length_text(estimate: Estimate, lang: Lang) -> str:
    """Say how many tokens a sample was taken to have, and how that is known."""
    length = estimate.length
    if length is None:
        return ""
    key = "limit" if length.how == "cap" and length.typical >= length.high else length.how
    return (
        words.TOKENS[key]
        .in_(lang)
        .format(n=f"{length.high:,.0f}", typical=f"{length.typical:,.0f}")
    )


def host_text(host: HostUse, lang: Lang) -> tuple[str, ...]:
    """Say what a machine needs beside its cards; nothing where it needs nothing."""
    if host.resident <= 0 and host.peak <= 0:
        return ()
    said = (words.HOST_FIGURES if host.resident > 0 else words.HOST_PEAK).in_(lang)
    text = said.format(resident=gib(host.resident), peak=gib(host.peak))
    parts = largest(host.terms, lang)
    return (text + (PAREN.in_(lang).format(parts) if parts else ""),)


def counted_text(counted: ExactCount | None, lang: Lang) -> tuple[str, ...]:
    """Compare the closed form with what the real model class came to, and name the large gaps."""
    if counted is None:
        return ()
    if counted.refusal is not None:
        return (words.NOT_COUNTED.in_(lang).format(reason=counted.refusal.reason),)
    total = counted.allocated
    if total is None or total.closed is None or not total.counted:
        return ()
    by = f"{100 * (total.closed / total.counted - 1):+.0f}%"
    said = words.COUNTED_SAYS.in_(lang).format(
        gib=gib(total.counted), formula=gib(total.closed), difference=by
    )
    gaps = [gap for part in counted.parts if (gap := _gap(part, total.counted, lang))]
    apart = words.GAPS.in_(lang).format(parts=LISTED.in_(lang).join(gaps)) if gaps else ""
    by_whom = words.COUNTED_BY.in_(lang).format(
        model=counted.model_class,
        transformers=counted.transformers,
        torch=counted.torch,
        seconds=round(counted.seconds),
    )
    left = words.ALSO.in_(lang).join(counted.left_out)
    unseen = words.LEFT_OUT.in_(lang).format(parts=left) if left else ""
    return tuple(text for text in (said, apart, by_whom, *counted.assumptions, unseen) if text)


def _gap(part: Compared, whole: float, lang: Lang) -> str:
    """Show a part on which both differ by more than a twentieth of the whole."""
    closed, found = part.closed or 0.0, part.counted or 0.0
    if abs(closed - found) <= NOTICED * whole:
        return ""
    shown = ("-" if size is None else gib(size) for size in (part.counted, part.closed))
    return f"{term_name(part.name, lang)} {' / '.join(shown)}"


def next_steps(found: Prediction, lang: Lang) -> tuple[str, ...]:
    """Say by how much a job is too large, and what makes it so; nothing where it fits."""
    phase = peak_phase(found)
    if found.limit_gib is None or found.verdict in (None, "fits") or phase is None:
        return ()
    likely = found.card.gib > found.limit_gib
    over = (found.card.gib if likely else found.card.high) - found.limit_gib
    text = words.OVER if likely else words.CLOSE
    said = text.in_(lang).format(over=gib(max(0.0, over)), terms=largest(phase.terms, lang))
    return (said, _advice(phase.terms, lang))


def _advice(terms: tuple[Term, ...], lang: Lang) -> str:
    """Say what acts on the largest group of terms."""
    groups = {text: sum(t.gib for t in terms if t.name in names) for names, text in ADVICE}
    groups[words.STATIC] = sum(t.gib for t in terms) - sum(groups.values())
    return max(groups, key=lambda text: groups[text]).in_(lang)


def fit_word(card: CardFit, lang: Lang) -> tuple[str, str]:
    """Give the verdict on one card, and its style."""
    if card.verdict is not None:
        return words.VERDICT[card.verdict].in_(lang), words.STYLE_OF[card.verdict]
    if card.refusal is not None:
        return words.NO_PREDICTION.in_(lang), "doubt"
    return words.NO_SIZE.in_(lang), "dim"


def assumed(item: Assumption, lang: Lang) -> str:
    """Say what was taken for granted, and what would settle it."""
    if not item.param:
        return item.text
    said = words.SETTLED_BY.in_(lang).format(param=item.param)
    return item.text + PAREN.in_(lang).format(said)
