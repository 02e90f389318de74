"""The mistakes people make in launch scripts, made in a script on purpose."""

from __future__ import annotations

import re

from launches_look import Seen

_CUT_OFF = frozenset({"continuation-broken", "comment-after-backslash", "variable-not-exported"})
"""The last one where `A=1 \\` is cut off from the command it stands in front of."""
MUTATIONS: dict[str, frozenset[str]] = {
    "CRLF line ends": frozenset({"crlf-line-ends"}),
    "blank after a backslash": frozenset({"space-after-backslash"}),
    "full-width quotes": frozenset({"full-width-character"}),
    "en dash flag": frozenset({"en-dash-flag"}),
    "unclosed quote": frozenset({"unclosed-quote"}),
    "comment after a backslash": _CUT_OFF,
    "comment line in a command": _CUT_OFF,
    "blank line in a command": _CUT_OFF,
}
"""A mistake and the names under which it may be reported."""
_FLAG = re.compile(r"(?<=[ \t])--(?=[A-Za-z])")
_QUOTED = re.compile(r"(?<=[ \t=])\"([^\"\n]{1,80})\"(?=[ \t]|$)")


def mutated(name: str, text: str, seen: Seen) -> str | None:
    """Make one mistake in the first launch of a script; None where it does not apply."""
    lines = text.split("\n")
    if name == "CRLF line ends":
        return None if "\r" in text else "\r\n".join(lines)
    span = range(seen.first - 1, seen.last)
    if name in ("full-width quotes", "unclosed quote", "en dash flag"):
        return _in_a_line(name, lines, span)
    at = _continued(lines, span)
    if at is None:
        return None
    if seen.quoted and name == "blank line in a command":
        return None  # the shell splits the string at blanks of any kind
    if name == "blank after a backslash":
        lines[at] += " "
    elif name == "comment after a backslash":
        lines[at] += "  # see above"
    else:
        lines.insert(at + 1, "" if name == "blank line in a command" else "    # see above")
    return "\n".join(lines)


def _continued(lines: list[str], span: range) -> int | None:
    """Find the middle one of the lines that are continued by a further argument."""
    found = [
        at
        for at in span
        if re.search(r"(?<!\\)\\$", lines[at])
        and at + 1 in span
        and re.match(r"[ \t]*[-+\w.$\"'{]", lines[at + 1])
        and not lines[at].lstrip().startswith("#")
    ]
    return found[len(found) // 2] if found else None


def _in_a_line(name: str, lines: list[str], span: range) -> str | None:
    pattern = _FLAG if name == "en dash flag" else _QUOTED
    for at in span:
        match = None if lines[at].lstrip().startswith("#") else pattern.search(lines[at])
        if match is None:
            continue
        new = "–"
        if name != "en dash flag":
            new = f"“{match[1]}”" if name == "full-width quotes" else f'"{match[1]}'
        lines[at] = lines[at][: match.start()] + new + lines[at][match.end() :]
        return "\n".join(lines)
    return None
