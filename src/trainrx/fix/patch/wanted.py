"""What a change asks for, in the terms of a launch as it is parsed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from trainrx.frameworks import framework_of
from trainrx.model.job import RawArg, RawLaunch
from trainrx.model.result import Change


class OffsetEdit(NamedTuple):
    """Replace the characters from `start` up to `end` of a document."""

    name: str
    start: int
    end: int
    text: str


def applied(documents: Mapping[str, str], edits: Iterable[OffsetEdit]) -> dict[str, str]:
    """Give the documents with edits made; of two at one place the first given stands first.

    Raises:
        ValueError: Two edits overlap.
    """
    out = dict(documents)
    ordered = sorted(edits, key=lambda item: (item.start, item.end))
    for name in {item.name for item in ordered}:
        text, parts, at = documents[name], [], 0
        for item in (one for one in ordered if one.name == name):
            if item.start < at:
                raise ValueError("edits overlap")
            parts += [text[at : item.start], item.text]
            at = item.end
        out[name] = "".join([*parts, text[at:]])
    return out


def line_end(text: str) -> str:
    r"""Give the line end a text uses: `\r\n` when most of its lines end so."""
    return "\r\n" if 2 * text.count("\r\n") > text.count("\n") else "\n"


def line_number(text: str, at: int) -> int:
    """Give the line of a position, from 1."""
    return text.count("\n", 0, at) + 1


def line_start(text: str, at: int) -> int:
    """Give the position where the line of a position begins."""
    return text.rfind("\n", 0, at) + 1


def indent_of(text: str, at: int) -> str:
    """Give the blanks at the beginning of the line of a position."""
    start = line_start(text, at)
    line = text[start:at]
    return line[: len(line) - len(line.lstrip(" \t"))]


_NOT_IN_FILES = {
    "package": "packages are installed, not set in a launch: run the command",
    "code": "stands in the program, which is not edited",
    "data": "is a change of the data",
    "hardware": "is a matter of the machines, not of a file",
}
_NAME = re.compile(r"-{0,2}[A-Za-z_@][\w./@-]*", re.ASCII)


class Want(NamedTuple):
    """One thing to be so afterwards.

    `name` as spelled; `values` None: it is not set at all. `old`: the name it has now, which goes;
    `keeps`: with the values it has. `assigned`: `name=value` without dashes. `bare`: the name goes,
    what stands behind it stays.
    """

    kind: Literal["arg", "env"]
    name: str
    values: tuple[str, ...] | None
    old: str = ""
    keeps: bool = False
    assigned: bool = False
    bare: bool = False


def same(left: str, right: str) -> bool:
    """Tell whether two names are one to a parser of flags: `--max-length`, `max_length`."""
    return bare(left) == bare(right)


def bare(name: str) -> str:
    """Give a name without dashes and signs."""
    return name.lstrip("-+~").replace("-", "_")


def refusal(change: Change) -> str:
    """Say why a change cannot be made in a file at all, "" when it may be."""
    if change.kind in _NOT_IN_FILES:
        return f"{change.param} {_NOT_IN_FILES[change.kind]}"
    if change.to is None and change.action != "remove":
        return f"the value of {change.param} has to be worked out first"
    if not _NAME.fullmatch(change.param):
        return f"{change.param[:80]!r} is not the name of an argument or a variable"
    if "\n" in (change.to or "") or "\0" in (change.to or ""):
        return f"the value of {change.param} has several lines"
    return ""


def wanted(change: Change, launch: RawLaunch) -> Want:
    """Give what a change asks for."""
    kind: Literal["arg", "env"] = "env" if change.kind == "env" else "arg"
    name = change.param.lstrip("-")
    if change.action == "remove":
        return Want(kind, name, None)
    if change.action == "switch" and change.from_ == f"--{name} {change.spelled}":
        return Want(kind, name, None, bare=True)
    assigned = kind == "arg" and (
        change.spelled.startswith(f"{name}=")
        or (framework_of(launch.framework).edits_assigned and _has_file(launch))
    )
    old = _renamed(change, launch)
    # a misspelt name is put right: its value is not what is wrong
    keeps = change.action == "switch" and change.spelled == change.to == change.param
    return Want(kind, name, _values(change), old, keeps, assigned)


def _has_file(launch: RawLaunch) -> bool:
    return bool(launch.configs) or framework_of(launch.framework).only_assigns


def _values(change: Change) -> tuple[str, ...]:
    """Give the words of the value: as spelled where that says it (`--x a b`), else one word."""
    value = change.to or ""
    if change.kind == "arg" and " " in value:
        try:
            first, *words = shlex.split(change.spelled)
        except ValueError:
            first, words = "", []
        if same(first, change.param) and " ".join(words) == value:
            return tuple(words)
    if not value and change.kind == "arg":
        return ()
    return (value,)


def _renamed(change: Change, launch: RawLaunch) -> str:
    """Give the name an argument has now when the change is to call it otherwise."""
    if change.action != "switch" or not change.from_:
        return ""
    first = re.split(r"[\s=:]", change.from_, maxsplit=1)[0].lstrip("-")
    if not first or same(first, change.param) or not _is_name(change, first, launch):
        return ""
    return first


def _is_name(change: Change, first: str, launch: RawLaunch) -> bool:
    """Tell the name an argument has from a value it has, which a switch is from as well."""
    said = change.spelled == change.to == change.param
    dashed = (change.from_ or "").startswith("-")
    return said or dashed or (_names(launch, first) and not _names(launch, change.param))


def _names(launch: RawLaunch, name: str) -> bool:
    given: tuple[RawArg, ...] = (*launch.args, *launch.launcher)
    return any(same(arg.name, name) for arg in given)
