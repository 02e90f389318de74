"""`name=value` words."""

from __future__ import annotations

import re

from trainrx.model.pattern import late
from trainrx.parse.shell.syntax import Assign, Raw

_ASSIGN = late(r"([A-Za-z_]\w*)(\[(?:[^\[\]\n]|\[[^\]\n]*\])*\])?(\+?)=", re.ASCII)


def assignment(word: Raw, items: tuple[Raw, ...] | None = None) -> Assign | None:
    """Read a word as an assignment, of these items when it is an array; None when it is none."""
    match = _ASSIGN.match(word.text)
    if match is None:
        return None
    value, at = word.text[match.end() :], word.at + match.end()
    index = None if match[2] is None else match[2][1:-1]
    return Assign(match[1], value, items, match[3] == "+", index, at)
