"""The text of a script made ready for reading, and the mistakes that stand in its characters.

CRLF line ends, a blank after a backslash, full-width quotes and dashes are valid for every shell
parser, so they are looked for here.
"""

from __future__ import annotations

import re
from itertools import islice

import msgspec

from trainrx.model.job import Defect
from trainrx.model.pattern import late
from trainrx.shell.continuations import (
    blanks_after_backslashes,
    cut_offs,
    slips_in_quotes,
)
from trainrx.shell.limits import MAX_DEFECTS, MAX_TEXT
from trainrx.shell.quotes import QuotedSpan, close_quote, code_only, guilty, spans
from trainrx.shell.sources import Lines
from trainrx.shell.values import without_marks

_PROMPT = late(
    r"^[ \t]*(?:\([\w.-]+\)[ \t]*)?(?:\[?[\w.-]+@[\w.-]+[^\n$#]{0,200}[$#][ \t]+|\$[ \t]+"
    r"|!(?=[A-Za-z]))(?=[A-Za-z_./\"'])",
    re.MULTILINE,
)
_SECOND_PROMPT = late(r"(?<=\\\n)> (?=[ \t]*-)")
_FENCE = late(r"^[ \t]*(?:```|~~~)[\w+-]*[ \t]*$", re.MULTILINE)
_FULL_WIDTH = late("[“”‘’＂＇＝＄；｜＆＼\u3000\u00a0\u2009\u202f\u200b\ufeff]")
_DASH_FLAG = late("(?<![^ \t\n])[–—−―－]+(?=[-A-Za-z])")
_MAX_QUOTES = 8
_MAX_WORK = 200_000  # characters looked at again after a quote was closed


class Prepared(msgspec.Struct, frozen=True):
    """A script ready to be read; `shown` is what its author wrote, line for line."""

    text: str
    shown: str
    lines: Lines
    defects: tuple[Defect, ...]
    cut: bool


def prepare(text: str, source: str) -> Prepared:
    r"""Bring a script to `\n` line ends, without prompts and with its quotes closed.

    Lines keep their numbers. What bash would stumble over is reported, and repaired only where
    nothing could be read otherwise.
    """
    cut = len(text) > MAX_TEXT
    if cut:
        text = text[: max(text.rfind("\n", 0, MAX_TEXT), 0) or MAX_TEXT]
    defects: list[Defect] = []
    crlf = text.count("\r\n")
    if crlf:
        text = text.replace("\r\n", "\n")
    text = without_marks(text.removeprefix("\ufeff"))
    if "```" in text or "~~~" in text:
        text = _FENCE.sub("", text)
    if _may_hold_prompts(text):
        text = _PROMPT.sub("", text)
    if "\\\n> " in text:
        text = _SECOND_PROMPT.sub("", text)
    shown, lines = text, Lines(text)
    if crlf:
        message = f"{crlf} lines end in CRLF; bash reads the CR as text. Run dos2unix on the file."
        defects.append(_defect("crlf-line-ends", source, lines, None, message))
    text, found = _close_quotes(text, source, defects)
    defects += _characters(text, found, source, lines)
    # A backslash at the very end continues into nothing; bash drops it.
    stripped = text.rstrip()
    if stripped.endswith("\\") and not stripped.endswith("\\\\"):
        text = stripped[:-1]
    return Prepared(text, shown, lines, tuple(defects), cut)


def _may_hold_prompts(text: str) -> bool:
    """Tell whether one of the signs is there that each prompt has."""
    if "$ " in text or "$\t" in text or "@" in text:
        return True
    return any(part[:1].isalpha() for part in text.split("!")[1:])


def _close_quotes(text: str, source: str, defects: list[Defect]) -> tuple[str, list[QuotedSpan]]:
    found = spans(text)
    for _ in range(min(_MAX_QUOTES, 1 + _MAX_WORK // (len(text) + 1))):
        span = guilty(found, text)
        if span is None:
            break
        lines = Lines(text)
        message = f"The {span.quote} opened here is never closed. Close it on this line."
        defects.append(_defect("unclosed-quote", source, lines, span.start, message))
        text = close_quote(text, span)
        found = spans(text)
    return text, found


def _characters(text: str, quoted: list[QuotedSpan], source: str, lines: Lines) -> list[Defect]:
    """Look for mistakes in the code: the text with everything else blanked out."""
    code = code_only(text, quoted)
    positions = Lines(code)
    found: list[Defect] = []

    def add(name: str, at: int, message: str) -> None:
        found.append(_defect(name, source, positions, at, message, lines))

    for slip in (*blanks_after_backslashes(code), *cut_offs(text, code)):
        add(slip.name, slip.at, slip.message)
    for slip in slips_in_quotes(text, quoted):
        add(slip.name, slip.at, slip.message)
    if code.isascii():
        return found[:MAX_DEFECTS]
    for match in islice(_DASH_FLAG.finditer(code), MAX_DEFECTS):
        message = f"The flag begins with {match[0]}, not with ASCII dashes. Type -- instead."
        add("en-dash-flag", match.start(), message)
    seen: set[int] = set()
    for match in _FULL_WIDTH.finditer(code):
        number = positions.number(match.start())
        if number not in seen:
            seen.add(number)
            what = f"{match[0]} (U+{ord(match[0]):04X})"
            message = f"{what} means nothing to the shell. Type the ASCII quote or space instead."
            add("full-width-character", match.start(), message)
    return found[:MAX_DEFECTS]


def _defect(
    name: str,
    source: str,
    lines: Lines,
    at: int | None,
    message: str,
    shown: Lines | None = None,
) -> Defect:
    """Give a defect at a position, None for the file; `shown` are the lines as written."""
    number = 1 if at is None else lines.number(at)
    return Defect(
        id=name,
        source=source,
        line=number,
        text=(shown or lines).text(number),
        message=message,
        column=None if at is None else lines.column(at),
    )
