"""Words to fields: braces, and splitting at the characters of IFS."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

import msgspec

from trainrx.model.pattern import late
from trainrx.shell.limits import Budget
from trainrx.shell.values import Field

_SIGN = late(r"\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\"|\$\{[^}]*\}?|\$\([^)]*\)?|[{},]", re.DOTALL)
_RANGE = late(r"(-?\d{1,6})\.\.(-?\d{1,6})")
_MAX_WORD = 4096
_MAX_WORDS = 256
_BLANKS = " \t\n"


class ExpandedPiece(msgspec.Struct, frozen=True):
    """A part of a word: quoted, literal, or (`split`) cut at blanks afterwards."""

    fields: tuple[Field, ...]
    quoted: bool = False
    split: bool = False
    many: bool = False
    lines: tuple[int, ...] = ()
    whole: tuple[Field, ...] = ()


def brace_alternatives(raw: str, budget: Budget) -> list[str]:
    """Give the words a word with braces stands for, or the word itself."""
    if "{" not in raw or len(raw) > _MAX_WORD:
        return [raw]
    done: list[str] = []
    waiting = [(raw, 0)]
    while waiting:
        text, start = waiting.pop()
        budget.spend(1 + len(text) // 16)
        found = _first(text, start)
        if found is None:
            done.append(text)
        else:
            at, end, choices = found
            later = [(text[:at] + choice + text[end:], at) for choice in choices]
            waiting += later[::-1]
        if len(done) + len(waiting) > _MAX_WORDS:
            return [raw]
    return done


def _first(text: str, start: int) -> tuple[int, int, list[str]] | None:
    """Find the first pair of braces that expands: its position, its end and its choices."""
    opened: list[int] = []
    commas: dict[int, list[int]] = {}
    pairs: list[tuple[int, int, list[str]]] = []
    for match in _SIGN.finditer(text, start):
        sign, at = match[0], match.start()
        if sign == "{":
            opened.append(at)
        elif sign == "," and opened:
            commas.setdefault(opened[-1], []).append(at)
        elif sign == "}" and opened:
            began = opened.pop()
            choices = _choices(text, began, at, commas.get(began, []))
            if choices:
                pairs.append((began, at + 1, choices))
    return min(pairs, default=None)


def _choices(text: str, at: int, end: int, commas: list[int]) -> list[str]:
    if commas:
        cuts = [at, *commas, end]
        return [text[left + 1 : right] for left, right in pairwise(cuts)]
    match = _RANGE.fullmatch(text, at + 1, end)
    if match is None:
        return []
    first, last = int(match[1]), int(match[2])
    if abs(last - first) >= _MAX_WORDS:
        return []
    step = 1 if last >= first else -1
    return [str(number) for number in range(first, last + step, step)]


def split(text: str, separators: str, most: int = 0) -> list[str]:
    """Cut a text at the characters of IFS; an empty first or last part is where a cut was.

    Args:
        text: What to cut.
        separators: The characters.
        most: Cuts that are made, 0 for all.
    """
    blanks = "".join(char for char in separators if char in _BLANKS)
    others = "".join(char for char in separators if char not in _BLANKS)
    if not others:
        return re.split(f"[{blanks}]+", text, maxsplit=most) if blanks else [text]
    space = f"[{blanks}]*" if blanks else ""
    cut = f"{space}[{re.escape(others)}]{space}" + (f"|[{blanks}]+" if blanks else "")
    return re.split(cut, text, maxsplit=most)


def join_pieces(pieces: Iterable[ExpandedPiece], separators: str) -> list[Field]:
    """Put the pieces of a word together into fields."""
    word = _Word(separators)
    for piece in pieces:
        for number, item in enumerate(piece.fields):
            if number:
                word.finish()
            if piece.split and separators:
                word.add_split(item, piece)
                if piece.many and not item.text and separators.strip(_BLANKS):
                    word.keep()
            else:
                word.add(item, quoted=piece.quoted)
    word.finish()
    return word.done


class _Word:
    """The field being put together and those before it."""

    def __init__(self, separators: str) -> None:
        self.done: list[Field] = []
        self._separators = separators
        self._text: list[str] = []
        self._kept = False
        self._line = 0

    def add(self, item: Field, *, quoted: bool) -> None:
        # A field made of several pieces stands on the line of the word, not of one piece.
        self._line = item.line if not self._text else 0
        if item.text:
            self._text.append(item.text)
        self._kept = self._kept or quoted

    def add_split(self, item: Field, piece: ExpandedPiece) -> None:
        parts = split(item.text, self._separators)
        count = len([part for part in parts if part])
        # `$LR` stands where it is used; the words of `$ARGS` stand where ARGS was set.
        own = piece.many or len(parts) > 1 or item.text.startswith("-")
        lines = piece.lines if len(piece.lines) == count else (item.line,) * count
        numbers = iter(lines)
        for number, part in enumerate(parts):
            if number:
                self.finish()
            if part:
                line = next(numbers)
                self.add(Field(part, line if own else 0), quoted=False)
            elif 0 < number < len(parts) - 1 or (number == 0 and self._is_empty(item.text)):
                self._kept = True

    def keep(self) -> None:
        """Keep the word even when it is empty."""
        self._kept = True

    def _is_empty(self, text: str) -> bool:
        """Tell whether a text begins with an empty word, as `,a` does at commas."""
        first = text.lstrip(_BLANKS)[:1]
        return not self._text and first not in _BLANKS and first in self._separators

    def finish(self) -> None:
        if self._text or self._kept:
            self.done.append(Field("".join(self._text), self._line))
        self._text, self._kept, self._line = [], False, 0
