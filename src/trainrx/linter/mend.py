"""Carry out the fixes of findings, as often as it takes until nothing is left to mend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from trainrx.launch.find import find_launches
from trainrx.linter.check import Linter
from trainrx.linter.files import File
from trainrx.linter.jobs import RunContext
from trainrx.linter.places import apply
from trainrx.linter.run import lint_file
from trainrx.model.findings import Edit, Finding
from trainrx.model.safety import BY_HAND
from trainrx.shell import read_script

PASSES = 12


class MendedFile(NamedTuple):
    """A file with its fixes made, how many were made, and what is left."""

    text: str
    made: int
    left: tuple[Finding, ...]


def mended(file: File, linter: Linter, beside: RunContext, *, unsafe: bool) -> MendedFile:
    """Make the fixes of one file; each pass is read and judged again.

    A pass that loses a launch, or leaves more errors than there were, is not kept: the fix was
    none.

    Args:
        file: the file.
        linter: the rules.
        beside: what is known beside it.
        unsafe: also make fixes that change the results of the training.
    """
    found = tuple(lint_file(file, linter, beside, [])[0])
    made = 0
    for _ in range(PASSES):
        after = tried(file, found, _wanted(found, file, unsafe=unsafe), linter, beside)
        if after is None:
            break
        file = msgspec.structs.replace(file, text=after.text)
        found, made = after.left, made + after.made
    return MendedFile(file.text, made, found)


def tried(
    file: File, found: Sequence[Finding], edits: Sequence[Edit], linter: Linter, beside: RunContext
) -> MendedFile | None:
    """Make edits and judge the outcome; None where they change nothing or make things worse.

    Args:
        file: the file.
        found: what is found in it as it is.
        edits: what to change.
        linter: the rules.
        beside: what is known beside it.
    """
    text, done = apply(file.text, edits)
    if not done or text == file.text:
        return None
    after = msgspec.structs.replace(file, text=text)
    again = tuple(lint_file(after, linter, beside, [])[0])
    if _launches(after) < _launches(file) or _errors(again) > _errors(found):
        return None
    return MendedFile(text, len(done), again)


def _wanted(found: Sequence[Finding], file: File, *, unsafe: bool) -> list[Edit]:
    """Give the edits of fixes whose every edit is of this file, whole fixes only."""
    edits: list[Edit] = []
    for item in found:
        fix = item.fix
        if fix is None or not (fix.safety == "safe" or (unsafe and fix.safety not in BY_HAND)):
            continue
        own = all(edit.file == file.name for edit in fix.edits)
        if own and not any(_overlap(edit, held) for edit in fix.edits for held in edits):
            edits += fix.edits
    return edits


def _overlap(one: Edit, other: Edit) -> bool:
    begin, end = (one.line, one.column), (one.end_line, one.end_column)
    start, stop = (other.line, other.column), (other.end_line, other.end_column)
    return (begin < stop and start < end) or begin == start


def _launches(file: File) -> int:
    if file.kind == "config":
        return 1
    return len(find_launches(read_script(file.text, file.name)))


def _errors(found: Sequence[Finding]) -> int:
    return sum(item.severity == "error" for item in found)
