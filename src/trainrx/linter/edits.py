"""Edits of files: made from what was found, and carried out together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trainrx.linter.places import LineRange
from trainrx.model.findings import Edit


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
