"""Environments as people hand them over: printenv, export lines, docker's env files."""

from __future__ import annotations

import re

import msgspec

from trainrx.model.facts import Origin
from trainrx.model.findings import Unread
from trainrx.model.job import EnvVar
from trainrx.model.pattern import late
from trainrx.sanitizer.assignments import is_secret_name

MAX_LINES = 20_000
MAX_VALUE = 32_768
"""Characters of one value that are kept."""

_ASSIGNMENT = late(
    r"(?P<prefix>(?:export|declare\s+-\w{1,8}|typeset\s+-\w{1,8}|set|ENV|-e)\s+|-\s+)?"
    r"(?:(?P<name>[A-Za-z_][A-Za-z0-9_]{0,127})=|(?P<key>[A-Z_][A-Z0-9_]{0,127}):\s)(?P<value>.*)$",
    re.DOTALL,
)
_WORD = late(r"(?:[^\s\"']|\"[^\"]*\"|'[^']*')+")
_LOOKS_LIKE_ONE = late(r"(?:export|declare|typeset)\s|[A-Z_][A-Z0-9_]{2,40}\s+=")
_WHOLE = frozenset({"PATH", "HOME"})


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """Variables in the order they stand; `complete` when they look like all a shell has."""

    variables: tuple[EnvVar, ...] = ()
    complete: bool = False
    unread: tuple[Unread, ...] = ()


def read_environment(text: str, source: str) -> Environment:
    """Read `KEY=VALUE` lines with or without `export`, `declare -x`, quotes and comments.

    A value that refers to another variable is looked up among the lines above; one that cannot be
    found is None: set, but not known. Values of secrets (names with TOKEN, PASSWORD, ...) are
    replaced. Lines that are none of this are skipped, unless they look like a broken assignment.
    """
    found: dict[str, EnvVar] = {}
    unread: list[Unread] = []
    for number, line in enumerate(text.split("\n")[:MAX_LINES], start=1):
        stripped = line.strip().rstrip("\r")
        if not stripped or stripped.startswith("#"):
            continue
        matches = _assignments(stripped)
        if not matches and _LOOKS_LIKE_ONE.match(stripped):
            unread.append(_unread(source, number, stripped))
        for match in matches:
            variable = _variable(match, found, source, number)
            found.pop(variable.name, None)
            found[variable.name] = variable
    complete = found.keys() >= _WHOLE
    return Environment(variables=tuple(found.values()), complete=complete, unread=tuple(unread))


def _assignments(line: str) -> list[re.Match[str]]:
    """Give the assignment of a line, or all of them when it is nothing but several."""
    whole = _ASSIGNMENT.match(line)
    if whole is None or whole["name"] is None:
        return [whole] if whole is not None else []
    words = _WORD.findall(line.removeprefix("export "))
    several = [_ASSIGNMENT.match(word) for word in words]
    matches = [match for match in several if match is not None and match["name"]]
    return matches if len(matches) == len(words) > 1 else [whole]


def _variable(match: re.Match[str], known: dict[str, EnvVar], source: str, number: int) -> EnvVar:
    name = match["name"] or match["key"]
    secret = is_secret_name(name)
    in_shell = (match["prefix"] or "").strip() in {"export", "set"}
    raw = match["value"][:MAX_VALUE].strip()
    value = "***" if secret else _value(raw, known, in_shell=in_shell)
    shown = f"{name}=***" if secret else match[0][:400]
    return EnvVar(name=name, value=value, origin=Origin(source=source, line=number, text=shown))


def _value(raw: str, known: dict[str, EnvVar], *, in_shell: bool) -> str | None:
    if raw[:1] == "'":
        return raw[1:].partition("'")[0] if raw.count("'") > 1 else raw
    quoted = raw[:1] == '"' and raw.count('"') > 1
    text = (
        raw[1:].partition('"')[0] if quoted else re.split(r"\s#|;\s*$", raw, maxsplit=1)[0].rstrip()
    )
    if "$" not in text:
        return text
    return _expand(text, known) if in_shell or quoted else text


def _expand(text: str, known: dict[str, EnvVar]) -> str | None:
    """Put in the values of variables set above; None where one is not known."""
    if "$(" in text or "`" in text:
        return None
    missing = False

    def put(match: re.Match[str]) -> str:
        nonlocal missing
        variable = known.get(match[1] or match[2])
        if variable is None or variable.value is None:
            missing = True
            return ""
        return variable.value

    expanded = re.sub(r"\$(?:\{(\w{1,128})\}|(\w{1,128}))", put, text)
    return None if missing or "${" in expanded else expanded[:MAX_VALUE]


def _unread(source: str, number: int, line: str) -> Unread:
    reason = "looks like an assignment but is none (no spaces around =)"
    return Unread(source=source, reason=reason, line=number, text=line[:400])
