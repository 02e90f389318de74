"""`name=value` words."""

from __future__ import annotations

import re

from trainrx.parse.shell.lexer import Lexer
from trainrx.parse.shell.limits import Budget
from trainrx.parse.shell.syntax import Assign, Raw

_ASSIGN = re.compile(r"([A-Za-z_]\w*)(\[[^\]\n]*\])?(\+?)=", re.ASCII)


def assignment(word: Raw, budget: Budget) -> Assign | None:
    """Read a word as an assignment, None when it is not one."""
    match = _ASSIGN.match(word.text)
    if match is None:
        return None
    value, at = word.text[match.end() :], word.at + match.end()
    items = None
    if value.startswith("(") and value.endswith(")"):
        items = _items(value[1:-1], at + 1, budget)
    return Assign(match[1], value, items, match[3] == "+", match[2] is not None, at)


def _items(text: str, at: int, budget: Budget) -> tuple[Raw, ...]:
    lexer = Lexer(text, budget)
    items: list[Raw] = []
    while (token := lexer.next()).type != "end":
        if token.type == "word":
            items.append(Raw(token.text, at + token.at))
    return tuple(items)
