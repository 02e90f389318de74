"""What a variable holds after one of several possible courses: what they share, and alternatives.

`ARGS+=(--x)` in a branch that may or may not be taken leaves the other words of ARGS known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

import msgspec

from trainrx.model.pattern import late
from trainrx.shell.values import (
    MAX_CHOICES,
    Field,
    Kind,
    Unknowns,
    Variable,
    inherited_kind,
    known,
    literal,
)

_TOKEN = late(r"\s+|\S+")


def merged(name: str, found: Sequence[Variable | None], unknowns: Unknowns, kind: Kind) -> Variable:
    """Give what a variable holds when it is not known which of these values it got."""
    some = [item for item in found if item is not None and not item.gone]
    if not some:
        return Variable((), 0, gone=True)
    last = some[-1]
    exported = any(item.exported for item in some)
    first = some[0]
    if len(some) == len(found) and all(
        item is first or item.values == first.values for item in some
    ):
        return msgspec.structs.replace(last, exported=exported)
    if None in found and inherited_kind(name) == "scheduler":
        mark = unknowns.mark(kind, name)
        return Variable((Field(mark),), last.line, array=last.array, exported=exported)
    full = [
        Variable((), last.line, last.array) if item is None or item.gone else item for item in found
    ]
    one = _Merge(name, unknowns, kind)
    if any(item.array for item in some):
        values = one.fields([item.values for item in full])
        return Variable(values, last.line, array=True, exported=exported)
    return msgspec.structs.replace(one.text(full), exported=exported)


class _Merge:
    """Joins the values of one variable."""

    def __init__(self, name: str, unknowns: Unknowns, kind: Kind) -> None:
        self._name, self._unknowns, self._kind = name, unknowns, kind

    def mark(self, texts: Sequence[str]) -> str:
        """Give the mark of what is one of these texts."""
        choices: list[str] = []
        for text in texts:
            more = (text,) if known(text) else self._unknowns.alternatives(text)
            if not more or self._kind != "branch":
                courses = self._courses(texts) if self._kind == "branch" else ()
                return self._unknowns.mark(self._kind, self._name, courses=courses)
            choices += more
        choices = list(dict.fromkeys(choices))
        if len(choices) > MAX_CHOICES:
            choices = []
        return self._unknowns.mark(self._kind, self._name, choices=tuple(choices))

    def _courses(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Give what each course leads to, unknowns and all; nothing where one says nothing."""
        found = [one for text in texts for one in self._unknowns.courses(text) or (text,)]
        told = all(literal(one).strip() or not one for one in found)
        courses = tuple(dict.fromkeys(found))
        return courses if told and len(courses) <= MAX_CHOICES else ()

    def _field(self, items: Sequence[Field]) -> Field:
        if all(item.text == items[0].text for item in items):
            return items[0]
        return Field(self.mark([item.text for item in items]), items[-1].line)

    def fields(self, lists: Sequence[tuple[Field, ...]]) -> tuple[Field, ...]:
        """Join the elements of arrays: what they begin and end with stays known."""
        texts = [[item.text for item in one] for one in lists]
        if all(len(one) == len(texts[0]) for one in texts):
            return tuple(self._field(items) for items in zip(*lists, strict=True))
        head, tail = _shared(texts)
        if self._kind == "loop" and head < min(len(one) for one in texts):
            # Only what a loop adds to leaves the rest as it was.
            return (Field(self.mark([])),)
        middle = [" ".join(map(_quoted, one[head : len(one) - tail])) for one in texts]
        first = lists[0]
        line = max((item.line for one in lists for item in one), default=0)
        added = Field(self.mark(middle), line)
        return (*first[:head], added, *first[len(first) - tail :])

    def text(self, found: Sequence[Variable]) -> Variable:
        """Join texts word by word."""
        last = found[-1]
        texts = [_TOKEN.findall(item.text) for item in found]
        head, tail = _shared(texts)
        while head and _is_open("".join(texts[0][:head])):
            head -= 1
        while tail and _is_open("".join(texts[0][len(texts[0]) - tail :])):
            tail -= 1
        added = self._kind != "loop" or head == min(len(one) for one in texts)
        if not (head or tail) or not added:
            mark = self.mark([item.text for item in found])
            return Variable((Field(mark),), last.line)
        before = "".join(texts[0][:head])
        after = "".join(texts[0][len(texts[0]) - tail :])
        middle = ["".join(one[head : len(one) - tail]).strip() for one in texts]
        gap = " " if before and not before[-1].isspace() else ""
        end = " " if after and not after[0].isspace() else ""
        text = before + gap + self.mark(middle) + end + after
        lines = _lines(found[0])
        behind = len(after.split())
        lines = (
            *lines[: len(before.split())],
            max(item.line for item in found),
            *lines[len(lines) - behind :],
        )
        return Variable((Field(text, last.line),), last.line, lines=lines)


def _lines(variable: Variable) -> tuple[int, ...]:
    count = len(variable.text.split())
    return variable.lines if len(variable.lines) == count else (variable.line,) * count


def _shared(lists: Sequence[Sequence[str]]) -> tuple[int, int]:
    """Give how many elements all lists begin with, and how many others they end with."""
    least = min(len(one) for one in lists)
    head = _same(lists, range(least))
    tail = _same(lists, range(-1, head - least - 1, -1))
    return head, tail


def _same(lists: Sequence[Sequence[str]], places: range) -> int:
    first = lists[0]
    return sum(1 for _ in takewhile(lambda at: all(o[at] == first[at] for o in lists), places))


def _is_open(text: str) -> bool:
    """Tell whether a text stops within quotes."""
    return text.count('"') % 2 == 1 or text.count("'") % 2 == 1


def _quoted(text: str) -> str:
    if text and not re.search(r"\s", text):
        return text
    import shlex  # few values hold blanks

    return shlex.quote(text)
