"""A ranked cause and its fixes as nodes: why, what to change, what is right already, the score."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from trainrx.fix.measures import ACTIONS
from trainrx.model.fixing import FixedCause, RetryCause
from trainrx.model.result import (
    CauseOut,
    Change,
    DestructiveStep,
    Diagnosis,
    FixOut,
    Predicted,
    Reason,
)
from trainrx.model.text import Text
from trainrx.render import document as doc
from trainrx.render import words
from trainrx.render.document import CopyLine, View, children
from trainrx.render.layout import Styled, near_place
from trainrx.sanitizer.controls import clean

MOST_RANKS = 8
NEEDS_A_VERB = ("lower", "raise", "upgrade", "downgrade", "switch")
"""Without a value to set, the name alone does not say what to do."""
OUTSIDE = ("code", "data", "hardware")
"""Kinds of change whose spelling is a sentence."""


def percent(probability: float) -> str:
    """Say a probability; never 0% or 100%, which would claim certainty."""
    return f"{min(99, max(1, round(100 * probability)))}%"


def sure(cause: CauseOut | FixedCause | RetryCause, view: View) -> str:
    """Say in a word how sure a cause is.

    The figure is for `--explain`: of threads newer than those it was fitted on fewer were solved
    than it says.
    """
    return view.say(words.LIKELY[cause.verdict])


def sure_figure(cause: CauseOut | FixedCause | RetryCause, view: View) -> str:
    """Say how sure a cause is, with the figure its score comes to."""
    return f"{sure(cause, view)} {percent(cause.probability)}"


def ranks_text(ranks: Sequence[int], view: View) -> str:
    """Name some ranks, the first few of many; "" where there are none."""
    shown = ", ".join(str(rank) for rank in ranks[:MOST_RANKS])
    more = ", ..." if len(ranks) > MOST_RANKS else ""
    return f"{view.say(words.RANKS)} {shown}{more}" if shown else ""


def titles(answer: Diagnosis) -> dict[str, str]:
    """Give the titles of the symptoms and causes of an answer by id."""
    named = {item.id: item.title for item in answer.symptoms}
    named |= {item.id: item.title for item in answer.differential}
    return named | {item.id: item.title for item in answer.causes}


def candidates(answer: Diagnosis, view: View) -> Iterator[doc.Candidate]:
    """Lay the causes out, best first; changes that stand further up are not repeated."""
    names = titles(answer)
    places: dict[tuple[CopyLine, ...], str] = {}
    plan = answer.plan
    if plan is not None:
        places[change_lines(plan.changes, plan.commands, view)] = view.say(words.AT_TOP)
    for number, cause in enumerate(answer.causes, start=1):
        parts = _parts(cause, names, places, view)
        place = view.say(words.AT_CAUSE, n=number)
        for fix in cause.fixes:
            places.setdefault(fix_lines(fix, view), place)
        yield doc.Candidate(number, cause.title, sure_figure(cause, view), cause.id, parts)


def is_supported(cause: CauseOut) -> bool:
    """Tell whether anything in the inputs speaks for a cause, beyond how common it is."""
    return any(reason.holds and reason.weight > 0 for reason in cause.reasons)


def _parts(
    cause: CauseOut, names: dict[str, str], places: dict[tuple[CopyLine, ...], str], view: View
) -> tuple[doc.Node, ...]:
    # a cause that was explained away is not laid out, and so has no title here
    named = view.say(words.LISTED).join(names[one] for one in cause.effects if one in names)
    label = Styled(view.labelled(words.EFFECTS, ""), "head")
    fixes = (
        remedy(fix, place, view, places.get(fix_lines(fix, view), ""))
        for place, fix in enumerate(cause.fixes, start=1)
    )
    sources = tuple(doc.SourceNote(source.says, source.url) for source in cause.references)
    return children(
        doc.Paragraph(cause.summary),
        None if is_supported(cause) else doc.Paragraph(view.say(words.COMMON), style="dim"),
        _why(cause, view),
        doc.Section(view.say(words.CHANGE), tuple(fixes)),
        doc.Section(view.say(words.ALREADY), tuple(_already(cause))),
        doc.Section(view.say(words.NOT_OFFERED), tuple(_not_offered(cause, view))),
        doc.Paragraph(named, label) if named else None,
        _score(cause, view),
        doc.Section(view.say(words.SOURCES), sources),
    )


def _why(cause: CauseOut, view: View) -> Iterator[doc.Node]:
    known = [reason for reason in cause.reasons if reason.holds is True]
    groups = (
        (words.WHY, [r for r in known if r.weight >= 0]),
        (words.WHY_NOT, [r for r in known if r.weight < 0]),
        (words.NOT_KNOWN, [r for r in cause.reasons if r.holds is None]),
    )
    for title, reasons in groups:
        items = (doc.Bullet(r.text, _sign(r), evidence=r.evidence) for r in reasons)
        yield doc.Section(view.say(title), tuple(items))


def _sign(reason: Reason) -> doc.Sign:
    if reason.holds:
        return "+" if reason.weight >= 0 else "-"
    return "?+" if reason.weight > 0 else "?-"


def remedy(fix: FixOut, number: int, view: View, earlier: str = "") -> doc.Remedy:
    """Lay a fix out: its lines, or where they stand `earlier`, steps, memory, price."""
    said = " · ".join((fix.title, view.say(words.SAFETY[fix.safety]), fix.id))
    lines = fix_lines(fix, view)
    if lines and earlier:
        return doc.Remedy(number, said + view.paren(earlier))
    return doc.Remedy(
        number,
        said,
        children(
            doc.Code(lines) if lines else None,
            [doc.Paragraph(step) for step in fix.steps.splitlines()],
            destruction(fix.destroys, view),
            _memory(fix.predicted, view) if fix.predicted is not None else None,
            price(fix.cost, view) if fix.cost else None,
            [doc.Paragraph(note, style="dim") for note in fix.notes],
        ),
    )


def destruction(step: DestructiveStep | None, view: View) -> tuple[doc.Node, ...]:
    """Say what is deleted or ended, what shows it, and only then how it is done."""
    if step is None:
        return ()
    return children(
        doc.Paragraph(view.labelled(words.DESTROYS, step.target)),
        doc.Paragraph(view.labelled(words.LOOK_FIRST, "")),
        doc.Code(tuple(CopyLine(clean(line)) for line in step.look_first)),
        doc.Paragraph(step.confirm) if step.commands else None,
        doc.Code(tuple(CopyLine(clean(line)) for line in step.commands)) if step.commands else None,
    )


def price(cost: str, view: View) -> doc.Paragraph:
    """Say what a fix costs."""
    return doc.Paragraph(cost, Styled(view.labelled(words.PRICE, ""), "dim"), "dim")


def _memory(predicted: Predicted, view: View) -> doc.Paragraph:
    return doc.Paragraph(view.labelled(words.MEMORY, memory(predicted, view)))


def _already(cause: CauseOut) -> Iterator[doc.Node]:
    for item in cause.already_right:
        at = str(item.evidence[0]) if item.evidence else ""
        yield doc.InPlace(item.title, clean(item.spelled), at)


def _not_offered(cause: CauseOut, view: View) -> Iterator[doc.Node]:
    for item in cause.not_offered:
        yield doc.Bullet(f"{item.title} · {item.id}{view.say(words.COLON)}{item.why}")


def _score(cause: CauseOut, view: View) -> doc.Section:
    """Show the terms of the score, nats of log-odds."""
    title = view.say(words.SCORE) + view.paren(view.say(words.NATS))
    start = _log_odds(cause.prior)
    counted = start + sum(r.weight for r in cause.reasons if r.holds is True)
    terms = [
        doc.Paragraph(f"{view.say(words.PRIOR)} {cause.prior:.2f}", Styled(f"{start:+6.2f}  "))
    ]
    terms += [_vote(reason, view) for reason in cause.reasons]
    if abs(counted - cause.score) > 0.02:
        lead = Styled(f"{cause.score - counted:+6.2f}  ")
        terms.append(doc.Paragraph(view.say(words.CORRELATED), lead, "dim"))
    total = f"{view.say(words.SUM)} -> {view.say(words.PROBABILITY)} {percent(cause.probability)}"
    terms.append(doc.Paragraph(total, Styled(f"{cause.score:+6.2f}  ")))
    return doc.Section(title, tuple(terms))


def _vote(reason: Reason, view: View) -> doc.Paragraph:
    text = reason.id + view.say(words.COLON) + view.say(words.TRUTH[reason.holds])
    if reason.holds is True:
        return doc.Paragraph(text, Styled(f"{reason.weight:+6.2f}  "))
    text += view.paren(f"{view.say(words.WOULD_BE)} {reason.weight:+.2f}")
    return doc.Paragraph(text, Styled("     0  ", "dim"), "dim")


def _log_odds(probability: float) -> float:
    bounded = min(max(probability, 1e-6), 1 - 1e-6)
    return math.log(bounded / (1 - bounded))


def fix_lines(fix: FixOut, view: View) -> tuple[CopyLine, ...]:
    """Give the lines of a fix: parameters first, then commands."""
    return change_lines(fix.changes, fix.commands, view)


def change_lines(
    changes: Iterable[Change], commands: Iterable[str], view: View
) -> tuple[CopyLine, ...]:
    """Give changes as lines to copy, then commands."""
    spelled = (CopyLine(_spelled(change, view), _remark(change, view)) for change in changes)
    run = (CopyLine(clean(line)) for text in commands for line in text.splitlines())
    return (*spelled, *run)


def unsaid(changes: Iterable[Change], said: str) -> tuple[Change, ...]:
    """Leave out what no file and no shell takes and the words beside it say better."""
    return tuple(change for change in changes if not _is_said(change, said))


def _is_said(change: Change, said: str) -> bool:
    if change.at is not None or not (change.kind in OUTSIDE or change.to is None):
        return False
    return change.param in said and (change.to or "") in said


def says_what(changes: Iterable[Change]) -> bool:
    """Tell whether some change can be copied as it stands."""
    return any(
        change.at is not None or (change.to is not None and change.kind not in OUTSIDE)
        for change in changes
        if change.to is not None or change.action == "remove"
    )


def memory(predicted: Predicted, view: View, fits: bool | None = None) -> str:
    """Say the memory before and after, GiB per GPU, and whether it `fits` (None: by its range)."""
    change = f"{predicted.before_gib:.1f} -> {predicted.after_gib:.1f}"
    of_card = view.say(words.OF_CARD, change=change, card=f"{predicted.limit_gib:.1f}")
    unit = " GiB" if view.chat else ""
    low, high = f"{predicted.low_gib:.1f}", f"{predicted.high_gib:.1f}"
    between = view.paren(view.say(words.BETWEEN, low=low, high=high) + unit)
    said = view.say(words.COMMA).join((of_card, view.say(_fits(predicted, fits))))
    return said + between


def _fits(predicted: Predicted, fits: bool | None) -> Text:
    if fits is None:
        fits = predicted.after_gib <= predicted.limit_gib
    if fits:
        return words.FITS if predicted.high_gib <= predicted.limit_gib else words.PROBABLY
    return words.TOO_LARGE if predicted.low_gib > predicted.limit_gib else words.PROBABLY_NOT


def _old_name(change: Change) -> str:
    """Give the name an argument has now, where only that is to change."""
    named = change.action == "switch" and change.spelled == change.to == change.param
    old = (change.from_ or "").partition(" ")[0]
    return clean(old) if named and old else ""


def _spelled(change: Change, view: View) -> str:
    if old := _old_name(change):
        return view.say(words.RENAME, old=old, new=clean(change.param))
    text = clean(change.spelled) or clean(change.param)
    bare = change.to is None and change.action in NEEDS_A_VERB and change.kind != "package"
    if change.kind in OUTSIDE or bare:
        return f"{view.say(ACTIONS[change.action])}{text}"
    return f"{view.say(words.DELETE)} {text}" if change.action == "remove" else text


def _remark(change: Change, view: View) -> str:
    where = view.paren(near_place(clean(str(change.at)))) if change.at else ""
    if change.action == "remove" or change.kind in OUTSIDE or _old_name(change):
        return where.strip()
    if change.from_ is None and (change.to is None or change.kind == "package"):
        return where.strip()
    if change.from_ is None:
        return view.say(words.VALUE_UNKNOWN if change.now == "unknown" else words.NOT_SET) + where
    if change.to is None:
        return clean(change.from_) + where
    if change.from_.startswith("--"):
        # the name itself changes, not its value
        return words.INSTEAD.in_(view.lang).format(clean(change.from_)) + where
    return f"{clean(change.from_)} -> {clean(change.to)}{where}"
