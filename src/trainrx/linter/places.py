"""Where a word of a launch stands in its file, and edits of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from trainrx.model.facts import Origin
from trainrx.model.findings import Edit
from trainrx.model.job import RawArg

MAX_LINE = 20_000
"""Characters of a line that are searched; nobody writes more by hand."""


class LineRange(msgspec.Struct, frozen=True):
    """A stretch of one line, columns from 1, `end` behind the last one; None: the whole line."""

    file: str
    line: int | None = None
    column: int | None = None
    end: int | None = None


class FileLines:
    """The lines of all files that were read, by the name they are cited by."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._lines: dict[str, list[str]] = {}

    def line(self, source: str, number: int | None) -> str:
        """Give one line as it stands in the file, "" where there is none."""
        lines = self.lines(source)
        return lines[number - 1] if number and number <= len(lines) else ""

    def lines(self, source: str) -> list[str]:
        """Give the lines of a file without their ends."""
        if source not in self._lines:
            text = self._texts.get(source, "")
            self._lines[source] = [line.removesuffix("\r") for line in text.split("\n")]
        return self._lines[source]

    def flag(self, arg: RawArg, nth: int = 0) -> LineRange:
        """Find the name of an argument; `nth` counts where it stands several times in a line."""
        origin = arg.origin
        line = self.line(origin.source, origin.line)[:MAX_LINE]
        found = list(_name_pattern(arg).finditer(line))
        if not found:
            return self.whole(origin)
        match = found[min(nth, len(found) - 1)]
        return LineRange(origin.source, origin.line, match.start("name") + 1, match.end("name") + 1)

    def value(self, arg: RawArg) -> LineRange:
        """Find the value of an argument, its name where the value stands elsewhere."""
        name = self.flag(arg)
        if name.end is None or not arg.values:
            return name
        line = self.line(name.file, name.line)[:MAX_LINE]
        last = arg.values[-1] if len(arg.values) == 1 else " ".join(arg.values)
        match = re.compile(rf"\s*[=:]?\s*['\"]?(?P<value>{re.escape(last)})").match(
            line, name.end - 1
        )
        if match is None or not last:
            return name
        return LineRange(name.file, name.line, match.start("value") + 1, match.end("value") + 1)

    def variable(self, name: str, origin: Origin) -> LineRange:
        """Find where a variable is set or named in a line."""
        line = self.line(origin.source, origin.line)[:MAX_LINE]
        match = re.search(rf"(?<![\w$])(?P<name>{re.escape(name)})(?=\+?=|\b)", line)
        if match is None:
            return self.whole(origin)
        return LineRange(origin.source, origin.line, match.start("name") + 1, match.end("name") + 1)

    def whole(self, origin: Origin) -> LineRange:
        """Take what a line holds from its first to its last character."""
        line = self.line(origin.source, origin.line)
        if not line.strip():
            return LineRange(origin.source, origin.line)
        start = len(line) - len(line.lstrip())
        return LineRange(origin.source, origin.line, start + 1, len(line.rstrip()) + 1)


def _name_pattern(arg: RawArg) -> re.Pattern[str]:
    """Match the name as it may be written: `--a_b`, `--a-b`, `+a.b=`, `"a_b":`."""
    bare = arg.name.lstrip("~")
    if arg.via in ("config", "outer"):
        bare = bare.rpartition(".")[2]
        own = re.escape(bare)
        return re.compile(rf"(?<![\w.-])(?P<name>{own})(?=['\"]?\s*[:=])")
    own = re.escape(bare).replace("_", "[-_]").replace(r"\-", "[-_]")
    return re.compile(rf"(?<![^\s'\"(=])(?P<name>-{{0,2}}[+~]{{0,2}}{own})(?![\w.-])")


def replaced(at: LineRange, text: str) -> tuple[Edit, ...]:
    """Replace a stretch of one line; nothing where the stretch is not known."""
    if at.line is None or at.column is None or at.end is None:
        return ()
    return (
        Edit(
            file=at.file,
            line=at.line,
            column=at.column,
            end_line=at.line,
            end_column=at.end,
            text=text,
        ),
    )


def line_removed(file: str, line: int) -> tuple[Edit, ...]:
    """Take a whole line out, its end included."""
    return (Edit(file=file, line=line, column=1, end_line=line + 1, end_column=1, text=""),)


def changed_lines(file: str, before: str, after: str) -> tuple[Edit, ...]:
    """Give the one edit, of whole lines, that makes a text another one; none where it is."""
    if before == after:
        return ()
    # only a line feed ends a line here, as in `apply`: JSON may hold other separators as they are
    old, new = (re.split(r"(?<=\n)", text) for text in (before, after))
    shared = min(len(old), len(new))
    top = next((n for n in range(shared) if old[n] != new[n]), shared)
    rest = shared - top
    same = next((n for n in range(rest) if old[-1 - n] != new[-1 - n]), rest)
    end = len(old) - same
    text = "".join(new[top : len(new) - same])
    return (Edit(file=file, line=top + 1, column=1, end_line=end + 1, end_column=1, text=text),)


def apply(text: str, edits: Iterable[Edit]) -> tuple[str, tuple[Edit, ...]]:
    """Carry out edits of one text; of two that overlap the first one counts.

    Returns:
        The new text, and the edits that were made.
    """
    starts = _starts(text)
    placed: list[tuple[int, int, Edit]] = []
    for edit in edits:
        begin = _at(starts, text, edit.line, edit.column)
        end = _at(starts, text, edit.end_line, edit.end_column)
        if begin is not None and end is not None and begin <= end:
            placed.append((begin, end, edit))
    made: list[tuple[int, int, Edit]] = []
    for begin, end, edit in sorted(placed, key=lambda item: item[:2]):
        if not made or begin >= max(made[-1][1], made[-1][0] + 1):
            made.append((begin, end, edit))
    for begin, end, edit in reversed(made):
        text = text[:begin] + edit.text + text[end:]
    return text, tuple(edit for _, _, edit in made)


def _starts(text: str) -> list[int]:
    """Give where each line begins."""
    starts = [0]
    at = text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    return starts


def _at(starts: Sequence[int], text: str, line: int, column: int) -> int | None:
    if line == len(starts) + 1 and column == 1:
        return len(text)
    if not 1 <= line <= len(starts) or column < 1:
        return None
    end = starts[line] if line < len(starts) else len(text)
    at = starts[line - 1] + column - 1
    return at if at <= end else None
