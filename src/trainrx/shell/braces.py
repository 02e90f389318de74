"""Brace expansion: `{a,b}` and `{1..8}`."""

from __future__ import annotations

import re
from itertools import pairwise

from trainrx.model.pattern import late
from trainrx.shell.limits import Budget

_SIGN = late(r"\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\"|\$\{[^}]*\}?|\$\([^)]*\)?|[{},]", re.DOTALL)
_RANGE = late(r"(-?\d{1,6})\.\.(-?\d{1,6})")
_MAX_WORD = 4096
_MAX_WORDS = 256


def alternatives(raw: str, budget: Budget) -> list[str]:
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
