"""Text in terminal cells: widths, line breaking for Latin and Chinese."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from trainrx.model.pattern import late

_NOT_FIRST = frozenset("，。；：！？、）」』》】”’％…,.;:!?)]}%")
_NOT_LAST = frozenset("（「『《【“‘([{")
_MAX_QUOTED_WORD = 120
ELLIPSIS = "..."
LONG_PLACE = 32
LONGEST_CUT = 24
"""A word that long, a path or a hash, is cut rather than left out."""
_HEAD = late(
    # in brackets, as torch's C++ side and most frameworks do
    r"(?:\[[^\[\]]{1,80}\]:?\s{0,3}){1,6}(?:[\w.]{1,80}:\d{1,6} >> )?"
    # that of glog, as torch's Python side does
    r"|[IWEF]\d{4} [\d:.]{8,18}\s{1,8}\d{1,10}(?: \[\d{1,6}\])? [^\s\]]{1,200}\] (?:\[\d{1,6}\]:)?"
)
_LIBRARY = late(r"/[^\s\"']{0,200}/(?:site|dist)-packages/")


class Styled(NamedTuple):
    """Some text in one style (a name of `STYLES`, "" is plain); `verbatim`: byte for byte."""

    text: str
    style: str = ""
    verbatim: bool = False


Line = tuple[Styled, ...]


def cells(text: str) -> int:
    """Count the terminal cells a text takes; Chinese characters take two."""
    if text.isascii():
        return len(text)
    return sum(_cell(char) for char in text)


def cut(text: str, limit: int) -> str:
    """Shorten a text to at most `limit` cells, showing that something is missing."""
    return text if cells(text) <= limit else ellipsis(text, limit)


def near_place(where: str) -> str:
    """Name a place; of a long path the name of the file says it."""
    return where if len(where) <= LONG_PLACE else where.replace("\\", "/").rpartition("/")[2]


def line_within(text: str, limit: int) -> str:
    """Shorten a line of a log to what it says: time and place of the logger go first."""
    if cells(text) <= limit:
        return text
    text = _LIBRARY.sub(f"{ELLIPSIS}/", text)
    head = _HEAD.match(text)
    if head is not None and cells(text) > limit and head.end() < len(text):
        text = f"{ELLIPSIS} {text[head.end() :]}"
    return cut(text, limit)


def ellipsis(text: str, limit: int) -> str:
    """End a text that goes on with "...", at the end of a word where one is near."""
    end, used = 0, 0
    while end < len(text) and used + _cell(text[end]) <= limit - len(ELLIPSIS):
        used += _cell(text[end])
        end += 1
    if 0 < end < len(text) and not _may_break(text[end - 1], text[end]):
        space = text.rfind(" ", 0, end)
        end = space if space > 0 and end - space <= LONGEST_CUT else end
    return text[:end].rstrip(" ,;:，；：、") + ELLIPSIS


_LEAST_PIECE = 12


def wrap(text: str, limit: int, *, hard: bool = False) -> list[str]:
    """Break text into lines of at most `limit` cells.

    Chinese breaks between characters, but no line begins with a closing mark. A single word longer
    than the line stays whole, so that it can be copied, unless `hard`.
    """
    limit = max(limit, 8)
    lines: list[str] = []
    line, used = "", 0
    for atom in _atoms(text, limit):
        for part in _split(atom, limit, limit - used) if hard else (atom,):
            if line and used + cells(part.rstrip()) > limit:
                lines.append(line.rstrip())
                line, used = "", 0
            line += part
            used += cells(part)
    if line.strip() or not lines:
        lines.append(line.rstrip())
    return lines


def pad(text: str, width: int) -> str:
    """Fill a text up with spaces to a number of cells."""
    return text + " " * max(0, width - cells(text))


def _cell(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def _atoms(text: str, limit: int) -> Iterator[str]:
    """Cut text where a line may end; a short `quoted` command is kept in one piece."""
    start = index = 0
    while index < len(text):
        if text[index] == "`":
            end = text.find("`", index + 1, index + _MAX_QUOTED_WORD)
            if end > 0 and cells(text[index : end + 1]) <= limit:
                index = end
        index += 1
        if index < len(text) and _may_break(text[index - 1], text[index]):
            yield text[start:index]
            start = index
    if start < len(text):
        yield text[start:]


def _may_break(left: str, right: str) -> bool:
    if left == " ":
        return right != " "
    if right == " " or right in _NOT_FIRST or left in _NOT_LAST:
        return False
    return _cell(left) == 2 or _cell(right) == 2


def _split(atom: str, limit: int, room: int) -> Iterator[str]:
    """Cut a word that is longer than a line; its first piece fills the line that is begun.

    A path is cut behind a slash, where there is one that leaves no line nearly empty.
    """
    if cells(atom.rstrip()) <= limit:
        yield atom
        return
    start, used = 0, 0
    for index, char in enumerate(atom):
        size = _cell(char)
        if used + size > room and index > start:
            slash = atom.rfind("/", start, index) + 1
            end = slash if slash - start >= _LEAST_PIECE else index
            yield atom[start:end]
            start, used, room = end, cells(atom[end:index]), limit
        used += size
    yield atom[start:]
