"""Values of a shell word: written in the style of the one they replace, or behind a variable."""

from __future__ import annotations

import re
import shlex
from typing import NamedTuple

_SAFE = re.compile(r"[\w./:,=+@%-]+", re.ASCII)
_REFERENCE = re.compile(
    r"\"?\$(?:(?P<bare>[A-Za-z_]\w*)|\{(?P<name>[A-Za-z_]\w*|[0-9])"
    r"(?::?(?P<sign>[-=])(?P<default>[^{}]*))?\})\"?",
    re.ASCII,
)


class VariableReference(NamedTuple):
    """A word that is one variable; `start` and `end`: its default in the word, else -1."""

    name: str
    start: int
    end: int


def reference(raw: str) -> VariableReference | None:
    """Read `$LEN`, `"${LEN}"`, `${LEN:-2048}`; None for any other word."""
    match = _REFERENCE.fullmatch(raw)
    if match is None or raw.startswith('"') != raw.endswith('"'):
        return None
    return VariableReference(match["bare"] or match["name"], *match.span("default"))


def like(raw: str, value: str) -> str:
    """Write a value with the quotes of the word it replaces, where they can hold it."""
    quote = raw[:1]
    if len(raw) > 1 and quote in ("'", '"') and raw.endswith(quote):
        if quote == '"' and not re.search(r'["$`\\]', value):
            return f'"{value}"'
        if "'" not in value:
            return f"'{value}'"
    return plain(value)


def plain(value: str) -> str:
    """Write a value as one word of the shell."""
    return value if _SAFE.fullmatch(value) else shlex.quote(value)
