"""What stands in a script beside its commands: secrets, unset variables, comments for lint."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from trainrx.linter.job import Page, RuleHit
from trainrx.linter.places import LineRange, line_removed, replaced
from trainrx.model.findings import Finding
from trainrx.model.pattern import late
from trainrx.sanitizer.secrets import Finder

_STAND_IN = late(r"(.)\1{7}|your|xxxx|example|token|secret|<|\*\*|key", re.IGNORECASE)
_UNSET = late(r"\$(?P<name>\w+) is not set")
_PIPED = late(r"\|&?\s*(?:sudo\s+)?tee\b")
_ASSIGNED = late(
    r"(?m)^[ \t]*(?:export[ \t]+|local[ \t]+|declare[ \t]+(?:-\w+[ \t]+)*)?([A-Za-z_]\w*)="
)
_OWN_FOLDER = late(
    r"\bdirname(?:\s+--)?\s+(?:\$\(\s*(?:realpath|readlink(?:\s+-f)?)\s+)?"
    r"[\"']?\$\{?(?:BASH_SOURCE(?:\[0\])?|0)(?:\}|(?!\w))|\$\{(?:BASH_SOURCE(?:\[0\])?|0)%/\*\}"
)
_KNOWS = late(r"SLURM_SUBMIT_DIR|scontrol\s+show\s+job|-[nz]\s+[\"']?\$\{?SLURM_JOB")
_MOST = 20
_LONGEST = 400
_LONGEST_LINE = 2000


def look(page: Page) -> Iterator[RuleHit]:
    """Give what is wrong with a script that starts a job."""
    if not page.launches:
        return
    yield from _secrets(page)
    yield from _unset(page)
    yield from _piped(page)
    yield from _spooled(page)


def _secrets(page: Page) -> Iterator[RuleHit]:
    source, finder = page.script.source, Finder(page.script.text)
    if finder.idle:
        return
    for number, line in enumerate(page.texts.lines(source), start=1):
        for start, end, _ in finder.spans(line[:_LONGEST_LINE]):
            found = line[start:end]
            if _STAND_IN.search(found) is None:
                at = LineRange(source, number, start + 1, end + 1)
                yield RuleHit("secret-in-script", at, {"start": found[: min(4, len(found) // 8)]})


def _unset(page: Page) -> Iterator[RuleHit]:
    """Give variables that are not set, where the script sets one of almost that name, or later."""
    names = {
        match["name"]: item
        for item in page.script.unread
        if (match := _UNSET.match(item.reason)) and len(match["name"]) > 1
    }
    if not names:
        return
    text = page.script.text
    places = {match[1]: match.start() for match in reversed(list(_ASSIGNED.finditer(text)))}
    for name, item in list(names.items())[:_MOST]:
        line = page.texts.line(item.source, item.line)
        start = re.search(rf"\$\{{?(?P<name>{re.escape(name)})\b", line)
        at = (
            LineRange(item.source, item.line, start.start() + 1, start.end() + 1)
            if start
            else LineRange(item.source, item.line)
        )
        if name in places:
            number = text.count("\n", 0, places[name]) + 1
            if item.line is not None and number > item.line and item.source == page.script.source:
                yield RuleHit("variable-used-before-set", at, {"name": name, "line": str(number)})
            continue
        near = _near(name, [other for other in places if other not in names])
        if near:
            yield RuleHit("variable-misspelt", at, {"name": name, "near": near})
        else:
            yield RuleHit("variable-unset", at, {"name": name})


def _near(name: str, others: list[str]) -> str:
    """Name the variable that differs by a slip: by case and underscores, order, or one letter."""
    bare = name.lower().replace("_", "")
    for other in others:
        if other.lower().replace("_", "") == bare:
            return other
    if len(name) < 6:
        return ""
    for other in others:
        if sorted(other) == sorted(name) and other != name:
            return other
        if abs(len(other) - len(name)) == 1:
            longer, shorter = (other, name) if len(other) > len(name) else (name, other)
            middle = (longer[:i] + longer[i + 1 :] for i in range(1, len(longer) - 1))
            if shorter in middle and not longer[-1].isdigit():
                return other
    return ""


def _piped(page: Page) -> Iterator[RuleHit]:
    """Give commands piped into tee in a script that goes on as if they had not failed."""
    if "pipefail" in page.script.text or "tee" not in page.script.text:
        return
    source = page.script.source
    lines = page.texts.lines(source)
    for launch in page.launches:
        if launch.origin.source != source or not launch.origin.line or not launch.outputs:
            continue
        for number in range(launch.origin.line, min(launch.origin.line + _LONGEST, len(lines) + 1)):
            line = lines[number - 1]
            if match := _PIPED.search(line):
                yield RuleHit(
                    "tee-hides-exit-status",
                    LineRange(source, number, match.start() + 1, match.end() + 1),
                )
                break
            if not line.rstrip().endswith("\\"):
                break


def _spooled(page: Page) -> Iterator[RuleHit]:
    """Give what a batch script takes for the folder it lies in: Slurm runs a copy of it.

    One that asks Slurm where it was submitted, or whether it is a job at all, knows.
    """
    text = page.script.text
    if "#SBATCH" not in text or _KNOWS.search(text) or not _OWN_FOLDER.search(text):
        return
    source = page.script.source
    for number, line in enumerate(page.texts.lines(source), start=1):
        match = _OWN_FOLDER.search(line)
        if match is not None and not line.lstrip().startswith("#"):
            at = LineRange(source, number, match.start() + 1, match.end() + 1)
            yield RuleHit("batch-script-takes-its-own-folder", at, {"said": match[0]})
            return


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
