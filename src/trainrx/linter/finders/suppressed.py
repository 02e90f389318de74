"""Comments that hold findings back: `# diagnose: ignore=ID,ID reason`, `ignore-file=ID`.

A comment at the end of a line counts for that line; one on a line of its own for the next line
that holds code, with all lines that continue it. Comments inside a continued command would cut it
off, so one above the command covers the whole of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from trainrx.linter.edits import line_removed, replaced
from trainrx.linter.job import RuleHit
from trainrx.linter.places import LineRange
from trainrx.model.findings import Finding
from trainrx.model.pattern import late

MARK = "diagnose:"
_COMMENT = late(
    r"#\s*diagnose:\s*(?P<kind>ignore-file|ignore)\s*=\s*(?P<ids>[\w-]+(?:\s*,\s*[\w-]+)*)"
    r"(?P<reason>[^\n]*)"
)
UNUSED = "unused-ignore"
_ALL = "all"


class Ignore(msgspec.Struct, frozen=True):
    """One id a comment names, the lines it counts for, and where the comment stands."""

    ident: str
    first: int
    last: int
    at: LineRange
    alone: bool


def ignores(file: str, lines: Sequence[str]) -> tuple[Ignore, ...]:
    """Read the comments of one file."""
    found: list[Ignore] = []
    for number, line in enumerate(lines, start=1):
        if MARK not in line:
            continue
        match = _COMMENT.search(line)
        if match is None:
            continue
        alone = not line[: match.start()].strip()
        first, last = _reach(lines, number, match["kind"], alone=alone)
        at = LineRange(file, number, match.start() + 1, len(line.rstrip()) + 1)
        names = [part.strip() for part in match["ids"].split(",")]
        found += [Ignore(name, first, last, at, alone and len(names) == 1) for name in names]
    return tuple(found)


def _reach(lines: Sequence[str], number: int, kind: str, *, alone: bool) -> tuple[int, int]:
    if kind == "ignore-file":
        return 1, len(lines)
    if not alone:
        return number, number
    at = number
    while at < len(lines) and (not lines[at].strip() or lines[at].lstrip().startswith("#")):
        at += 1
    last = at + 1
    while last < len(lines) and lines[last - 1].rstrip().endswith("\\"):
        last += 1
    return at + 1, last


def held_back(
    findings: Iterable[Finding], comments: Sequence[Ignore]
) -> tuple[list[Finding], int, list[Ignore]]:
    """Leave out what comments ignore.

    Returns:
        The findings that stay, how many do not, and the comments that held nothing back.
    """
    used: set[int] = set()
    kept: list[Finding] = []
    gone = 0
    for item in findings:
        own = [
            index
            for index, comment in enumerate(comments)
            if comment.ident in (item.rule, _ALL)
            and comment.at.file == item.file
            and comment.first <= (item.line or 1) <= comment.last
        ]
        used.update(own)
        gone += bool(own)
        if not own:
            kept.append(item)
    return kept, gone, [c for index, c in enumerate(comments) if index not in used]


def unused(comments: Iterable[Ignore]) -> Iterator[RuleHit]:
    """Report comments that hold nothing back."""
    for comment in comments:
        file, line = comment.at.file, comment.at.line or 1
        edits = line_removed(file, line) if comment.alone else replaced(comment.at, "")
        yield RuleHit(UNUSED, comment.at, {"name": comment.ident}, edits)
