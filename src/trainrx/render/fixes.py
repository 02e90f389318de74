"""A fix as lines to copy, with what stands there now; shared by all formats for people."""

from __future__ import annotations

from typing import NamedTuple

from trainrx.fix.measures import ACTIONS
from trainrx.model.result import CauseOut, Change, Diagnosis, FixOut, Predicted
from trainrx.model.text import Lang
from trainrx.render import words
from trainrx.render.layout import clean

NEEDS_A_VERB = ("lower", "raise", "upgrade", "downgrade", "switch")
"""Without a value to set, the name alone does not say what to do."""
OUTSIDE = ("code", "data", "hardware")
"""Kinds of change whose spelling is a sentence."""


class FixLine(NamedTuple):
    """A line to copy, and a remark on it (what stands there now, and where)."""

    text: str
    remark: str = ""


def fix_lines(fix: FixOut, lang: Lang) -> tuple[FixLine, ...]:
    """Give the lines of a fix: parameters first, then commands."""
    changes = (FixLine(_spelled(change, lang), _remark(change, lang)) for change in fix.changes)
    commands = (FixLine(clean(line)) for text in fix.commands for line in text.splitlines())
    return (*changes, *commands)


def first_fix(diagnosis: Diagnosis) -> tuple[CauseOut, FixOut] | None:
    """Give the best fix of the best cause."""
    if not diagnosis.causes or not diagnosis.causes[0].fixes:
        return None
    return diagnosis.causes[0], diagnosis.causes[0].fixes[0]


def names(diagnosis: Diagnosis) -> dict[str, str]:
    """Give the titles of the symptoms and causes of an answer by id."""
    titles = {item.id: item.title for item in diagnosis.symptoms}
    return titles | {item.id: item.title for item in diagnosis.causes}


def one_line(fix: FixOut, lang: Lang) -> str:
    """Say a fix in one line: its spelled changes, else its first command, else its title."""
    lines = fix_lines(fix, lang)
    if lines:
        return " ".join(line.text for line in lines) if fix.changes else lines[0].text
    return clean(fix.title)


def memory(predicted: Predicted, lang: Lang) -> str:
    """Say the memory before and after, GiB per GPU, and whether it fits."""
    fits = words.FITS if predicted.high_gib <= predicted.limit_gib else words.TIGHT
    return (
        f"{words.MEMORY.in_(lang)}{words.COLON.in_(lang)}"
        f"{predicted.before_gib:.1f} -> {predicted.after_gib:.1f} GiB"
        + words.PAREN.in_(lang).format(
            f"{words.RANGE.in_(lang)} {predicted.low_gib:.1f}-{predicted.high_gib:.1f}"
            f"{words.COMMA.in_(lang)}{words.CARD.in_(lang)} {predicted.limit_gib:.1f}"
            f"{words.COMMA.in_(lang)}{fits.in_(lang)}"
        )
    )


def _spelled(change: Change, lang: Lang) -> str:
    text = clean(change.spelled) or clean(change.param)
    bare = change.to is None and change.action in NEEDS_A_VERB and change.kind != "package"
    if change.kind in OUTSIDE or bare:
        return f"{ACTIONS[change.action].in_(lang)}{text}"
    if change.action != "remove":
        return text
    return f"{words.DELETE.in_(lang)} {text}"


def _remark(change: Change, lang: Lang) -> str:
    where = words.PAREN.in_(lang).format(clean(str(change.at))) if change.at else ""
    if change.action == "remove" or change.kind in OUTSIDE:
        return where.strip()
    if change.from_ is None and (change.to is None or change.kind == "package"):
        return where.strip()
    if change.from_ is None:
        remark = words.VALUE_UNKNOWN if change.now == "unknown" else words.NOT_SET
        return remark.in_(lang) + where
    if change.to is None:
        return clean(change.from_) + where
    if change.from_.startswith("--"):
        # the name itself changes, not its value
        return words.INSTEAD.in_(lang).format(clean(change.from_)) + where
    return f"{clean(change.from_)} -> {clean(change.to)}{where}"
