"""Continued commands that are cut off: by a comment, an empty line, a blank after the backslash.

A flag that is run as a command shows in the evaluation; here are the cases where what follows is a
command by its looks, and only the layout tells that it was meant as more words.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec

from trainrx.model.pattern import late
from trainrx.shell.limits import MAX_DEFECTS
from trainrx.shell.quotes import QuotedSpan

_BLANK_AFTER_BACKSLASH = late(r"(?<!\\)\\[ \t]+$", re.MULTILINE)
_CUT = late(r"(?<!\\)\\(?:\n(?=[ \t]*\n)|[ \t]+\n)")
_COMMENT_IN_TEXT = late(r"(?<!\\)\\(?:\n[ \t]*|[ \t]+)#(?=[^\n]*\n)")
_SLIP_IN_TEXT = late(
    r"(?<!\\)\\(?:(?P<comment>\n[ \t]*#[^\n]*|[ \t]+#[^\n]*)|[ \t]+)\n"
    r"(?=[ \t]*(?:--?[A-Za-z]|[A-Za-z0-9$\"'{+]))"
)
_PRINTS = late(r"[^\n]*\b(?:echo|printf)\b[^\n;|&]*")
_FLAG = late(r"(?<![^ \t\n])(?:--?[A-Za-z][\w.-]*|\+{0,2}[A-Za-z_]\w*(?:\.\w+)+(?==))")
_ASSIGNMENTS = late(r"\s*(?:export\s+)?(?:[A-Za-z_]\w*=\S*\s+)+\s*\\?\s*", re.ASCII)
_MORE_WORDS = late(r"[\"']?\$[\w{(]|[\w.+-]+=[^=]|\S+\.(?:py|json|yaml)\b")
_NO_COMMAND = late(r"[A-Za-z_]\w*\+?=|(?:fi|done|esac|else|then|elif|\}|\))(?![\w-])")
_SWALLOWED = (
    "A comment stands inside the command that this text holds: it swallows what follows, or its"
    " words become arguments. Move the comment out of the text."
)
MAX_LINE = 2000
_MAX_FLAGS = 12
_MAX_LINES = 200
_MAX_BEFORE = 200
"""Characters in front of a quoted text that are looked at."""


class Slip(msgspec.Struct, frozen=True):
    """A mistake at a position of the text."""

    name: str
    at: int
    message: str


def blanks_after_backslashes(code: str) -> Iterator[Slip]:
    """Find backslashes that continue nothing because a blank follows.

    Args:
        code: The text with everything that is not code blanked out.
    """
    if "\\ " not in code and "\\\t" not in code:
        return
    for match in islice(_BLANK_AFTER_BACKSLASH.finditer(code), MAX_DEFECTS):
        if not code.startswith("\n", match.end()):
            continue
        lost = _flags_behind(code, match.end())
        verb = "are" if ", " in lost else "is"
        what = f", so {lost} {verb} lost" if lost else ""
        message = (
            f"A blank after the backslash ends the command here{what}. Delete it, or the backslash"
            " when nothing follows."
        )
        yield Slip("space-after-backslash", match.start(), message)


def cut_offs(text: str, code: str) -> Iterator[Slip]:
    """Find lines that were meant to continue a command, behind a comment or an empty line."""
    for match in islice(_CUT.finditer(code), MAX_DEFECTS):
        lines = _command_above(code, match.start())
        target = _next_line(code, match.end())
        if target is None:
            continue
        at, line = target
        above = "".join(lines)
        indent = len(line) - len(line.lstrip())
        assigns = _ASSIGNMENTS.fullmatch(above) is not None
        begin = next((item for item in lines if item.strip()), "")
        deeper = indent > len(begin) - len(begin.lstrip())
        words = line.lstrip()
        more = _MORE_WORDS.match(words) is not None and not _ASSIGNMENTS.match(words + " ")
        if _NO_COMMAND.match(words) and not (more and deeper):
            continue
        if not (assigns or (deeper and (more or _FLAG.match(words) or words.endswith("\\")))):
            continue
        middle = text[match.start() + 1 : at].strip()
        what, remedy = "an empty line", "Delete the empty line."
        if middle:
            what, remedy = "a comment", "Move the comment out of the command."
        elif code[match.start() + 1] != "\n":
            what, remedy = "a blank", "Delete the blank."
        lost = (
            f"{_shown(above)} does not reach the program"
            if assigns
            else f"{_shown(text[at : at + len(line)])} is lost"
        )
        message = f"The command above ends here because of {what} after its backslash: {lost}."
        yield Slip("continuation-broken", at + indent, f"{message} {remedy}")


def comments_in_text(text: str) -> Iterator[Slip]:
    """Find comments in a command that is kept in a text: they swallow the rest, or become words."""
    for match in islice(_COMMENT_IN_TEXT.finditer(text), MAX_DEFECTS):
        if _in_comment(text, match.start()):
            continue
        yield Slip("continuation-broken", match.end() - 1, _SWALLOWED)


def slips_in_quotes(text: str, quoted: Sequence[QuotedSpan]) -> Iterator[Slip]:
    """Find the same mistakes in the quoted texts of a script, which are commands to be run later.

    What is only printed is left alone, as is a drawing: behind the mistake the command goes on.
    """
    texts = (text[s.start : s.end] for s in quoted if s.quote in ("'", '"'))
    if not any("\\" in quoted_text for quoted_text in texts):
        return
    marks = [match.start() for match in islice(_SLIP_IN_TEXT.finditer(text), MAX_DEFECTS)]
    for span in quoted if marks else ():
        if span.quote not in ("'", '"') or not _holds(span, marks):
            continue
        begin = text.rfind("\n", max(span.start - _MAX_BEFORE, 0), span.start) + 1
        if _PRINTS.fullmatch(text, begin or max(span.start - _MAX_BEFORE, 0), span.start):
            continue
        for match in islice(_SLIP_IN_TEXT.finditer(text, span.start, span.end - 1), MAX_DEFECTS):
            if _in_comment(text, match.start()):
                continue
            if match["comment"]:
                yield Slip("continuation-broken", text.index("#", match.start()), _SWALLOWED)
            else:
                yield Slip("space-after-backslash", match.start(), _escaped(text, match.end()))


def _in_comment(text: str, at: int) -> bool:
    """Tell whether a backslash ends a comment: there it continues nothing."""
    begin = text.rfind("\n", max(at - MAX_LINE, 0), at) + 1
    return text[begin:at].lstrip().startswith("#")


def _escaped(text: str, end: int) -> str:
    """Say what a blank after a backslash does to the flags behind it, in a text run later."""
    lost = _flags_behind(text, end - 1) or "what follows"
    return (
        "A blank after the backslash ends the line inside the command that this text holds, so"
        f" {lost} is cut off, or gets a stray backslash in front. Delete the blank."
    )


def _holds(span: QuotedSpan, places: list[int]) -> bool:
    """Tell whether one of the places, which are in order, is within a span."""
    at = bisect_left(places, span.start)
    return at < len(places) and places[at] < span.end


def _command_above(code: str, end: int) -> list[str]:
    """Give the lines of the continued command that ends at a backslash, the first one first."""
    lines: list[str] = []
    stop = end
    while len(lines) < _MAX_LINES:
        start = code.rfind("\n", 0, stop) + 1
        line = code[start:stop]
        if lines and not line.rstrip(" \t").endswith("\\"):
            break
        lines.append(line.removesuffix("\\") + " ")
        if not start:
            break
        stop = start - 1
    return lines[::-1]


def _next_line(code: str, position: int) -> tuple[int, str] | None:
    """Give position and text of the next line that holds code."""
    for _ in range(_MAX_LINES):
        end = code.find("\n", position)
        line = code[position : end if end >= 0 else len(code)]
        if line.strip():
            return position, line
        if end < 0:
            return None
        position = end + 1
    return None


def _shown(text: str) -> str:
    return " ".join(text.removesuffix("\\").split())[:60].rstrip()


def _flags_behind(code: str, position: int) -> str:
    """Name the flags of the lines that were meant to continue a command."""
    found: list[str] = []
    for line in code[position + 1 : position + 4096].split("\n"):
        if not _FLAG.match(line.lstrip()):
            break
        found += _FLAG.findall(line)
        if not line.rstrip().endswith("\\"):
            break
    shown = ", ".join(found[:_MAX_FLAGS])
    return shown + (" ..." if len(found) > _MAX_FLAGS else "")
