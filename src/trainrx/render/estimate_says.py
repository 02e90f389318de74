"""The sentences of an estimate, the same on a terminal and in a chat."""

from __future__ import annotations

from trainrx.model.estimate import CardFit, Compared, Estimate, ExactCount
from trainrx.model.memory import Assumption, HostUse, PhaseUse, Prediction, Term
from trainrx.model.text import Text
from trainrx.render import estimate_words as words
from trainrx.render.document import View
from trainrx.render.estimate_words import gib, largest, share, term_name
from trainrx.render.words import LISTED
from trainrx.sanitizer.controls import clean

ADVICE: tuple[tuple[frozenset[str], Text], ...] = (
    (frozenset({"activations", "checkpoints", "live", "logits"}), words.DYNAMIC),
    (frozenset({"tower"}), words.TOWER),
    (frozenset({"engine"}), words.ENGINE),
)
"""What acts on which terms; all others are there whatever the batch."""


NOTICED = 0.05


def claim(estimate: Estimate, view: View) -> str:
    """Say what the job needs and what the card has."""
    found = estimate.prediction
    if found is None:
        return ""
    named = estimate.cards[0].name if estimate.cards else estimate.job.gpu
    card = clean(named or view.say(words.YOUR_CARD))
    figure = found.card
    values = {"gib": gib(figure.gib), "low": gib(figure.low), "high": gib(figure.high)}
    if found.verdict == "cannot-say":
        params = dict.fromkeys(one.param for one in estimate.assumptions if one.decides)
        listed = view.say(LISTED).join(params)
        return view.say(
            words.IN_BETWEEN, **values, card=card, limit=gib(found.limit_gib or 0.0), params=listed
        )
    if found.limit_gib is not None:
        text = words.RATHER_NOT if figure.gib > found.limit_gib else words.RATHER_SO
        rather = view.say(text) if found.verdict == "tight" else ""
        limit = gib(found.limit_gib)
        return view.say(words.ON_THIS_CARD, **values, card=card, limit=limit) + rather
    asked = words.WITHOUT_SIZE if named else words.WITHOUT_CARD
    return view.say(asked, **values, card=card)


def peak_phase(found: Prediction) -> PhaseUse | None:
    """Give the phase that needs most."""
    return next((phase for phase in found.phases if phase.phase == found.peak), None)


def peak_text(estimate: Estimate, view: View) -> str:
    """Say which phase needs most, and what of."""
    found = estimate.prediction
    phase = None if found is None else peak_phase(found)
    if phase is None or not phase.terms:
        return ""
    most = max(phase.terms, key=lambda term: term.gib)
    return view.say(
        words.PEAK_AT,
        phase=words.phase_name(phase.phase, view.lang),
        gib=gib(phase.gib),
        term=term_name(most.name, view.lang),
        part=share(most.gib, phase.gib),
    )


def length_text(estimate: Estimate, view: View) -> str:
    """Say how many tokens a sample was taken to have, and how that is known."""
    length = estimate.length
    if length is None:
        return ""
    key = "limit" if length.how == "cap" and length.typical >= length.high else length.how
    high, typical = f"{length.high:,.0f}", f"{length.typical:,.0f}"
    return view.say(words.TOKENS[key], n=high, typical=typical)


def host_text(host: HostUse, view: View) -> tuple[str, ...]:
    """Say what a machine needs beside its cards; nothing where it needs nothing."""
    if host.resident <= 0 and host.peak <= 0:
        return ()
    said = words.HOST_FIGURES if host.resident > 0 else words.HOST_PEAK
    text = view.say(said, resident=gib(host.resident), peak=gib(host.peak))
    return (text + view.paren(largest(host.terms, view.lang)),)


def counted_text(counted: ExactCount | None, view: View) -> tuple[str, ...]:
    """Compare the closed form with what the real model class came to, and name the large gaps."""
    if counted is None:
        return ()
    if counted.refusal is not None:
        return (view.say(words.NOT_COUNTED, reason=counted.refusal.reason),)
    total = counted.allocated
    if total is None or total.closed is None or not total.counted:
        return ()
    by = f"{100 * (total.closed / total.counted - 1):+.0f}%"
    said = view.say(
        words.COUNTED_SAYS, gib=gib(total.counted), formula=gib(total.closed), difference=by
    )
    gaps = [gap for part in counted.parts if (gap := _gap(part, total.counted, view))]
    apart = view.say(words.GAPS, parts=view.say(LISTED).join(gaps)) if gaps else ""
    by_whom = view.say(
        words.COUNTED_BY,
        model=counted.model_class,
        transformers=counted.transformers,
        torch=counted.torch,
        seconds=round(counted.seconds),
    )
    left = view.say(words.ALSO).join(counted.left_out)
    unseen = view.say(words.LEFT_OUT, parts=left) if left else ""
    return tuple(text for text in (said, apart, by_whom, *counted.assumptions, unseen) if text)


def _gap(part: Compared, whole: float, view: View) -> str:
    """Show a part on which both differ by more than a twentieth of the whole."""
    closed, found = part.closed or 0.0, part.counted or 0.0
    if abs(closed - found) <= NOTICED * whole:
        return ""
    shown = ("-" if size is None else gib(size) for size in (part.counted, part.closed))
    return f"{term_name(part.name, view.lang)} {' / '.join(shown)}"


def next_steps(found: Prediction, view: View) -> tuple[str, ...]:
    """Say by how much a job is too large, and what makes it so; nothing where it fits."""
    phase = peak_phase(found)
    if found.limit_gib is None or found.verdict in (None, "fits", "cannot-say") or phase is None:
        return ()
    likely = found.card.gib > found.limit_gib
    over = (found.card.gib if likely else found.card.high) - found.limit_gib
    text = words.OVER if likely else words.CLOSE
    said = view.say(text, over=gib(max(0.0, over)), terms=largest(phase.terms, view.lang))
    return (said, _advice(phase.terms, view))


def _advice(terms: tuple[Term, ...], view: View) -> str:
    """Say what acts on the largest group of terms."""
    groups = {text: sum(t.gib for t in terms if t.name in names) for names, text in ADVICE}
    groups[words.STATIC] = sum(t.gib for t in terms) - sum(groups.values())
    return view.say(max(groups, key=lambda text: groups[text]))


def fit_word(card: CardFit, view: View) -> tuple[str, str]:
    """Give the verdict on one card, and its style."""
    if card.verdict is not None:
        return view.say(words.VERDICT[card.verdict]), words.STYLE_OF[card.verdict]
    if card.refusal is not None:
        return view.say(words.NO_PREDICTION), "doubt"
    return view.say(words.NO_SIZE), "dim"


def assumed(item: Assumption, view: View) -> str:
    """Say what was taken for granted, and what would settle it."""
    if not item.param:
        return item.text
    said = view.say(words.SETTLED_BY, param=item.param)
    return item.text + view.paren(said)
