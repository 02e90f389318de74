"""`[[ text =~ pattern ]]`, for patterns that Python's `re` decides the same way, in bounded time.

POSIX takes the longest match where `re` takes the first that succeeds: with alternatives in the
pattern the answer is the same, but not what the groups hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from trainrx.model.pattern import late

_QUOTED = late(r"'([^']*)'|\"((?:[^\"\\]|\\.)*)\"", re.DOTALL)
_CLASSES = {
    "[:digit:]": "0-9",
    "[:alpha:]": "A-Za-z",
    "[:alnum:]": "A-Za-z0-9",
    "[:space:]": r"\s",
    "[:upper:]": "A-Z",
    "[:lower:]": "a-z",
}
_REPEAT = late(r"(?<!\\)[*+]|(?<!\\)\{\d*,\d*\}")
_NESTED = late(r"[*+}?]\)[*+{]|[*+}?][*+?{]")
_TOKEN = late(
    r"\\[^A-Za-z0-9]|\[\^?\]?(?:\[:[a-z]+:\]|[^\]\\])*\]|\{\d{1,3}(?:,\d{0,3})?\}|[()|^$.*+?]"
    r"|[^\\\[\]{}]"
)
_MAX_COST = 400_000
_MAX_PATTERN = 200


class Match(msgspec.Struct, frozen=True):
    """Whether a pattern was found, and what its groups matched (None: not known)."""

    found: bool
    groups: tuple[str, ...] | None


def pattern(raw: str, expand: Callable[[str], str]) -> str | None:
    """Give the pattern that a word on the right of `=~` stands for: quoted parts are literal."""
    parts: list[str] = []
    position = 0
    for match in _QUOTED.finditer(raw):
        parts += [_bare(raw[position : match.start()], expand), re.escape(expand(match[0]))]
        position = match.end()
    return "".join([*parts, _bare(raw[position:], expand)])


def _bare(raw: str, expand: Callable[[str], str]) -> str:
    # The expander would take a backslash away; in a pattern it stays.
    pieces = re.split(r"(\$\{[^}]*\}|\$\w+)", raw)
    return "".join(expand(piece) if piece[:1] == "$" and piece[1:] else piece for piece in pieces)


def cost(pattern: str, text: str) -> int:
    """Estimate the steps of a match: each unbounded repeat multiplies by the length of the text."""
    power = min(1 + len(_REPEAT.findall(pattern)), 6)
    return int((len(text) + 1) ** power)


def match(pattern: str, text: str) -> Match | None:
    """Match a pattern, None when it cannot be decided here."""
    if len(pattern) > _MAX_PATTERN or cost(pattern, text) > _MAX_COST or _NESTED.search(pattern):
        return None
    tokens = _TOKEN.findall(pattern)
    if "".join(tokens) != pattern:
        return None
    try:
        compiled = re.compile("".join(map(_token, tokens)), re.ASCII)
    except re.error:
        return None
    found = compiled.search(text)
    if found is None:
        return Match(found=False, groups=())
    groups = None if "|" in tokens else (found[0], *(group or "" for group in found.groups()))
    return Match(found=True, groups=groups)


def _token(token: str) -> str:
    if token == "$":  # noqa: S105  # the end of the text, no password
        return r"\Z"
    if token[0] != "[":
        return token
    body = token[1:-1]
    for name, letters in _CLASSES.items():
        body = body.replace(name, letters)
    negated = "^" if body[:1] == "^" else ""
    body = body[len(negated) :].replace("[", r"\[")
    return f"[{negated}" + (r"\]" + body[1:] if body[:1] == "]" else body) + "]"
