"""Marks in front of lines, taken off: of quotations, numbers of lines, the signs of diffs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from trainrx.inputs.paste.segment import PostLine
from trainrx.model.pattern import late

_QUOTE = late(r"[ \t]{0,3}(?:>[ \t]?)+")
_NUMBERED = late(r"[ \t]*(\d{1,5})(?: ?[:|\t]| {2,})[ \t]?")
_DIFF = late(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@|diff --git |[ \t]*(?:```|~~~) ?(?:diff|patch)\b")
_DIFF_HEAD = late(
    r"@@ -\d|diff --git |index [0-9a-f]{4,}|(?:---|\+\+\+) |(?:new|deleted) file mode"
    r"|(?:rename|similarity|old mode|new mode) |\\ No newline"
)
FEWEST_NUMBERED = 3
"""Lines in a row that must be numbered one after the other."""


def unmarked(lines: Sequence[PostLine]) -> tuple[list[PostLine], list[int]]:
    """Take the marks off where whole stretches bear them; of a diff the applied side stays.

    Returns:
        The lines, and the numbers of those where a diff begins.
    """
    out = list(lines)
    for start, end in _runs(lines, _is_quoted):
        if end - start >= 2 or len(lines) <= 3:
            for at in range(start, end):
                out[at] = out[at]._replace(text=_QUOTE.sub("", out[at].text, count=1))
    for start, end in _runs(out, lambda text: _NUMBERED.match(text) is not None):
        if end - start >= FEWEST_NUMBERED and _counts_up(out[start:end]):
            for at in range(start, end):
                out[at] = out[at]._replace(text=_NUMBERED.sub("", out[at].text, count=1))
    return _applied(out)


def _is_quoted(text: str) -> bool:
    return text.lstrip().startswith(">") and not text.lstrip().startswith(">>>")


def _runs(lines: Sequence[PostLine], test: Callable[[str], object]) -> Iterator[tuple[int, int]]:
    start: int | None = None
    for at, line in enumerate(lines):
        if test(line.text):
            start = at if start is None else start
        elif start is not None and line.text.strip():
            yield start, at
            start = None
    if start is not None:
        yield start, len(lines)


def _counts_up(lines: Sequence[PostLine]) -> bool:
    numbers = [int(found[1]) for line in lines if (found := _NUMBERED.match(line.text))]
    return all(b - a == 1 for a, b in pairwise(numbers))


def _applied(lines: list[PostLine]) -> tuple[list[PostLine], list[int]]:
    begins: list[int] = []
    inside = fenced = False
    for at, line in enumerate(lines):
        text = line.text
        if not inside:
            inside = text[:1] in "@d`~ \t" and _DIFF.match(text) is not None
            fenced = inside and text.lstrip()[:1] in "`~"
            begins += [line.number] if inside else []
        elif _ends(text, fenced=fenced):
            inside = False
        if inside and not (fenced and line.number == begins[-1]):
            lines[at] = line._replace(text=_side(text))
    return lines, begins


def _ends(text: str, *, fenced: bool) -> bool:
    if fenced:
        return text.lstrip()[:3] in ("```", "~~~")
    return text[:1] not in "+- " and text.strip() != "" and not _DIFF_HEAD.match(text)


def _side(text: str) -> str:
    """Give a line of a diff as it is after the change, blank where it is none."""
    if _DIFF_HEAD.match(text) or text.startswith("-"):
        return ""
    return text[1:] if text[:1] in ("+", " ") else text
