"""Shell traps the reader of scripts reports: a script that does not do what its author meant."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from trainrx.linter.job import Page, RuleHit
from trainrx.linter.places import FileLines, LineRange, line_removed, replaced
from trainrx.model.findings import Edit
from trainrx.model.job import Defect
from trainrx.model.pattern import late

_ASSIGNMENT = late(r"[ \t]*(?P<name>[A-Za-z_]\w*)=")
_MEANT = late(r"; (\S+) is meant")
_DASHES = late("[–—−―－]+")
_PLAIN = {
    "“": '"',
    "”": '"',
    "＂": '"',
    "‘": "'",
    "’": "'",
    "＇": "'",
    "＝": "=",
    "＄": "$",
    "；": ";",
    "｜": "|",
    "＆": "&",
    "＼": "\\",
    "\u3000": " ",
    "\u00a0": " ",
    "\u2009": " ",
    "\u202f": " ",
    "\u200b": "",
    "\ufeff": "",
}
_MOST_LINES = 40
"""Lines between a backslash and what was meant to follow it."""


def look(page: Page) -> Iterator[RuleHit]:
    """Give each defect of a script that starts a job, with the edit that mends it."""
    defects = {(d.id, d.source, d.line): d for one in page.launches for d in one.defects}
    defects |= {(d.id, d.source, d.line): d for d in page.script.defects}
    for defect in defects.values():
        at = _spot(defect, page.texts)
        edits = _edits(defect, at, page.texts)
        said = {"said": defect.message.rstrip(".")}
        severity = "warning" if defect.id == "en-dash-flag" and _swallowed(page) else ""
        yield RuleHit(defect.id, at, said, edits, "safe" if edits else None, severity=severity)


def _swallowed(page: Page) -> bool:
    """Tell whether an argument takes what was to be a flag for one more value of its own.

    The program does not refuse that when it is a list; when it is not, the value is told of.
    """
    args = [arg for launch in page.launches for arg in launch.args]
    return any(_DASHES.match(value) for arg in args for value in (arg.values or ())[1:])


def _spot(defect: Defect, texts: FileLines) -> LineRange:
    line = texts.line(defect.source, defect.line)
    if defect.id == "variable-not-exported" and (name := _ASSIGNMENT.match(line)):
        return LineRange(defect.source, defect.line, name.start("name") + 1, name.end("name") + 1)
    if defect.id == "program-misspelt":
        written = defect.message.split(" ", 1)[0]
        at = line.find(written) + 1
        return LineRange(defect.source, defect.line, at or None, at + len(written) if at else None)
    if defect.column is None:
        dash = _DASHES.search(line) if defect.id == "en-dash-flag" else None
        column = dash.start() + 1 if dash else None
    else:
        column = defect.column
    if column is None or column > len(line):
        length = len(line.rstrip())
        return LineRange(
            defect.source, defect.line, 1 if length else None, length + 1 if length else None
        )
    word = re.compile(r"\S+").match(line, column - 1)
    end = word.end() + 1 if word else column + 1
    if defect.id == "full-width-character":
        end = column + 1
    elif defect.id == "space-after-backslash":
        end = len(line) + 1
    elif defect.id == "en-dash-flag" and (dashes := _DASHES.match(line, column - 1)):
        end = dashes.end() + 1
    return LineRange(defect.source, defect.line, column, end)


def _edits(defect: Defect, at: LineRange, texts: FileLines) -> tuple[Edit, ...]:
    line = texts.line(defect.source, defect.line)
    if at.line is None or at.column is None or at.end is None:
        return _unix_ends(defect, texts) if defect.id == "crlf-line-ends" else ()
    if defect.id == "crlf-line-ends":
        return _unix_ends(defect, texts)
    instead = _instead(defect, line[at.column - 1 : at.end - 1], line[at.end - 1 : at.end])
    if instead is not None:
        return replaced(at, instead)
    if defect.id == "variable-not-exported" and not line[: at.column - 1].strip():
        return replaced(msgspec.structs.replace(at, end=at.column), "export ")
    if defect.id == "continuation-broken" and defect.column is not None:
        return _joined(defect.source, at.line, texts)
    return ()


def _instead(defect: Defect, text: str, behind: str) -> str | None:
    """Give what is to stand in the place of a text, before another; None where not known."""
    if defect.id == "space-after-backslash" and text.rstrip(" \t") == "\\":
        return "\\"
    if defect.id == "en-dash-flag" and _DASHES.fullmatch(text):
        return "-" if behind == "-" else "--"
    if defect.id == "program-misspelt" and (meant := _MEANT.search(defect.message)):
        return meant[1]
    return _PLAIN.get(text) if defect.id == "full-width-character" else None


def _unix_ends(defect: Defect, texts: FileLines) -> tuple[Edit, ...]:
    lines = texts.lines(defect.source)
    last = len(lines)
    return (
        Edit(
            file=defect.source,
            line=1,
            column=1,
            end_line=last,
            end_column=len(lines[-1]) + 1,
            text="\n".join(lines),
        ),
    )


def _joined(source: str, line: int, texts: FileLines) -> tuple[Edit, ...]:
    """Join a lost line to the command above: what stands in between moves in front of it."""
    between: list[int] = []
    above = line - 1
    while above >= 1 and len(between) < _MOST_LINES:
        text = texts.line(source, above).strip()
        if text and not text.startswith("#"):
            break
        between.insert(0, above)
        above -= 1
    held = texts.line(source, above)
    if above < 1 or not held.strip():
        return ()
    if not between:
        return _continued(source, above, held)
    if not held.endswith("\\"):
        return ()
    comments = [texts.line(source, number) for number in between]
    comments = [comment for comment in comments if comment.strip()]
    removed = tuple(edit for number in between for edit in line_removed(source, number))
    if not comments:
        return removed
    first = _first_line(source, above, texts)
    start = LineRange(source, first, 1, 1)
    return (*replaced(start, "".join(f"{text}\n" for text in comments)), *removed)


def _continued(source: str, above: int, held: str) -> tuple[Edit, ...]:
    """Put a backslash where a line of the command lacks it, or take the blank behind it away."""
    bare = held.rstrip()
    if "#" in held:
        return ()
    end = LineRange(source, above, len(bare) + 1, len(held) + 1)
    return replaced(end, "" if bare.endswith("\\") else " \\")


def _first_line(source: str, line: int, texts: FileLines) -> int:
    while line > 1 and texts.line(source, line - 1).rstrip().endswith("\\"):
        line -= 1
    return line
