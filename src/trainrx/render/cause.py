"""A ranked cause and its fixes as nodes: why, what to change, what is right already, the score."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from trainrx.fix.measures import ACTIONS
from trainrx.model.fixing import FixedCause, RetryCause
from trainrx.model.result import CauseOut, Change, Diagnosis, FixOut, Predicted, Reason
from trainrx.render import document as doc
from trainrx.render import words
from trainrx.render.document import CopyLine, View, children
from trainrx.render.layout import Styled, clean

FULL = (4, 2, 4)
"""Reasons for, unknowns and fixes shown of the first cause."""
SHORT = (2, 1, 2)
"""The same for the others."""
MOST_RANKS = 8
NEEDS_A_VERB = ("lower", "raise", "upgrade", "downgrade", "switch")
"""Without a value to set, the name alone does not say what to do."""
OUTSIDE = ("code", "data", "hardware")
"""Kinds of change whose spelling is a sentence."""


def percent(probability: float) -> str:
    """Say a probability; never 0% or 100%, which would claim certainty."""
    return f"{min(99, max(1, round(100 * probability)))}%"


def sure(cause: CauseOut | FixedCause | RetryCause, view: View) -> str:
    """Say how sure a cause is."""
    return f"{view.say(words.LIKELY[cause.verdict])} {percent(cause.probability)}"


def ranks_text(ranks: Sequence[int], view: View) -> str:
    """Name some ranks, the first few of many; "" where there are none."""
    shown = ", ".join(str(rank) for rank in ranks[:MOST_RANKS])
    more = ", ..." if len(ranks) > MOST_RANKS else ""
    return f"{view.say(words.RANKS)} {shown}{more}" if shown else ""


def titles(answer: Diagnosis) -> dict[str, str]:
    """Give the titles of the symptoms and causes of an answer by id."""
    named = {item.id: item.title for item in answer.symptoms}
    return named | {item.id: item.title for item in answer.causes}


def candidate(cause: CauseOut, number: int, names: dict[str, str], view: View) -> doc.Candidate:
    """Lay one cause out; `names` are the titles of what else the answer holds."""
    limits = FULL if number == 1 else SHORT
    if is_supported(cause) or view.everything:
        parts = _supported(cause, number, limits, names, view)
    else:
        parts = children(*_common(cause, view))
    return doc.Candidate(number, cause.title, sure(cause, view), cause.id, parts)


def is_supported(cause: CauseOut) -> bool:
    """Tell whether anything in the inputs speaks for a cause, beyond how common it is."""
    return any(reason.holds and reason.weight > 0 for reason in cause.reasons)


def _common(cause: CauseOut, view: View) -> Iterator[doc.Node]:
    yield doc.Paragraph(view.say(words.COMMON), style="dim")
    for fix in cause.fixes[:1]:
        lines = fix_lines(fix, view)
        if view.post:
            yield remedy(fix, 1, view)
        elif lines:
            yield doc.Code(lines[:1])
        else:
            yield doc.Paragraph(fix.title, indent=2)


def _supported(
    cause: CauseOut, number: int, limits: tuple[int, int, int], names: dict[str, str], view: View
) -> tuple[doc.Node, ...]:
    full = number == 1 or view.everything or view.post
    fixes = view.first(cause.fixes, limits[2])
    # a cause that was explained away is not laid out, and so has no title here
    named = view.say(words.LISTED).join(names[one] for one in cause.effects if one in names)
    label = Styled(view.labelled(words.EFFECTS, ""), "head")
    sources = tuple(doc.SourceNote(source.says, source.url) for source in cause.references)
    return children(
        doc.Paragraph(cause.summary) if full else None,
        _why(cause, limits, view),
        doc.Section(
            view.say(words.CHANGE),
            children(
                [remedy(fix, place, view) for place, fix in enumerate(fixes, start=1)],
                _more(len(cause.fixes) - len(fixes)),
            ),
        ),
        doc.Section(view.say(words.ALREADY), tuple(_already(cause, view))),
        doc.Section(view.say(words.NOT_OFFERED), tuple(_not_offered(cause, view))),
        doc.Paragraph(named, label) if named else None,
        _score(cause, view) if view.everything else None,
        doc.Section(view.say(words.SOURCES), sources) if view.everything or view.post else None,
    )


def _why(cause: CauseOut, limits: tuple[int, int, int], view: View) -> Iterator[doc.Node]:
    known = [reason for reason in cause.reasons if reason.holds is True]
    unknown = [reason for reason in cause.reasons if reason.holds is None]
    groups = (
        (words.WHY, [r for r in known if r.weight >= 0], limits[0]),
        (words.WHY_NOT, [r for r in known if r.weight < 0], limits[0]),
        (words.NOT_KNOWN, unknown, limits[1]),
    )
    for title, reasons, limit in groups:
        shown = view.first(reasons, limit)
        items = (doc.Bullet(r.text, _sign(r), evidence=r.evidence) for r in shown)
        yield doc.Section(view.say(title), children(tuple(items), _more(len(reasons) - len(shown))))


def _sign(reason: Reason) -> doc.Sign:
    if reason.holds:
        return "+" if reason.weight >= 0 else "-"
    return "?+" if reason.weight > 0 else "?-"


def _more(count: int) -> doc.More | None:
    return doc.More(count) if count > 0 else None


def remedy(fix: FixOut, number: int, view: View) -> doc.Remedy:
    """Lay a fix out: its lines, steps, memory before and after, price."""
    lines = fix_lines(fix, view)
    return doc.Remedy(
        number,
        " · ".join(
            (fix.title, view.say(words.SAFETY[fix.safety]), *([fix.id] if view.everything else []))
        ),
        children(
            doc.Code(lines) if lines else None,
            [doc.Paragraph(step) for step in fix.steps.splitlines()],
            doc.Paragraph(memory(fix.predicted, view)) if fix.predicted is not None else None,
            price(fix.cost, view) if fix.cost else None,
            [doc.Paragraph(note, style="dim") for note in fix.notes],
        ),
    )


def price(cost: str, view: View) -> doc.Paragraph:
    """Say what a fix costs."""
    return doc.Paragraph(cost, Styled(view.labelled(words.PRICE, ""), "dim"), "dim")


def _already(cause: CauseOut, view: View) -> Iterator[doc.Node]:
    for item in cause.already_right:
        at = str(item.evidence[0]) if item.evidence else ""
        spelled = clean(item.spelled)
        title = item.title if view.everything or not spelled else ""
        yield doc.InPlace(title, spelled, at)


def _not_offered(cause: CauseOut, view: View) -> Iterator[doc.Node]:
    for item in cause.not_offered if view.everything else ():
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
    changes = (CopyLine(_spelled(change, view), _remark(change, view)) for change in fix.changes)
    commands = (CopyLine(clean(line)) for text in fix.commands for line in text.splitlines())
    return (*changes, *commands)


def memory(predicted: Predicted, view: View) -> str:
    """Say the memory before and after, GiB per GPU, and whether it fits."""
    fits = words.FITS if predicted.high_gib <= predicted.limit_gib else words.TIGHT
    parts = (
        f"{view.say(words.RANGE)} {predicted.low_gib:.1f}-{predicted.high_gib:.1f}",
        f"{view.say(words.CARD)} {predicted.limit_gib:.1f}",
        view.say(fits),
    )
    change = f"{predicted.before_gib:.1f} -> {predicted.after_gib:.1f} GiB"
    return view.labelled(words.MEMORY, change) + view.paren(view.say(words.COMMA).join(parts))


def _spelled(change: Change, view: View) -> str:
    text = clean(change.spelled) or clean(change.param)
    bare = change.to is None and change.action in NEEDS_A_VERB and change.kind != "package"
    if change.kind in OUTSIDE or bare:
        return f"{view.say(ACTIONS[change.action])}{text}"
    return f"{view.say(words.DELETE)} {text}" if change.action == "remove" else text


def _remark(change: Change, view: View) -> str:
    where = view.paren(clean(str(change.at))) if change.at else ""
    if change.action == "remove" or change.kind in OUTSIDE:
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
