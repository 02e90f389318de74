"""Unified diffs that hold as little of a secret as a patch can."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainrx.sanitizer.redactor import Redactor

CONTEXT = 3
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class RedactedPatch(NamedTuple):
    """A diff.

    Attributes:
        text: what is to be shown or written.
        bare: no line is left behind a change: `git apply` needs `--unidiff-zero`.
        exposed: a line that is changed holds a secret, and the diff with it.
        masked: such a line is masked: the diff does not apply.
    """

    text: str
    bare: bool = False
    exposed: bool = False
    masked: bool = False


class _DiffLine(NamedTuple):
    """A line of a hunk: its sign, its text (with a remark on a missing end), where it stands."""

    sign: str
    text: str
    old: int
    new: int
    secret: bool = False


def redacted(diff: str, redactor: Redactor, *, applies: bool) -> RedactedPatch:
    """Leave out unchanged lines that hold a secret.

    Args:
        diff: of one file or several.
        redactor: knows what must not be shown.
        applies: keep changed lines byte for byte, so that the diff can be applied.
    """
    if redactor.idle or not diff:
        return RedactedPatch(diff)
    found = [_without(part, redactor, applies=applies) for part in _parts(diff)]
    return RedactedPatch(
        "".join(part.text for part in found),
        bare=any(part.bare for part in found),
        exposed=any(part.exposed for part in found),
        masked=any(part.masked for part in found),
    )


def _parts(diff: str) -> Iterator[list[str]]:
    """Give the heads and hunks of a diff, each as its lines."""
    part: list[str] = []
    left = [0, 0]
    for line in diff.split("\n")[: -1 if diff.endswith("\n") else None]:
        inside = any(left) or (line.startswith("\\") and _HUNK.match(part[0]) is not None)
        head = None if inside else _HUNK.match(line)
        if head is not None:
            left = [int(head[2] or 1), int(head[4] or 1)]
        elif any(left):
            left = [left[0] - (line[:1] != "+"), left[1] - (line[:1] != "-")]
        if part and not inside and (head is not None or _HUNK.match(part[0])):
            yield part
            part = []
        part.append(line)
    yield part


def _without(part: Sequence[str], redactor: Redactor, *, applies: bool) -> RedactedPatch:
    """Rewrite one hunk; a head is only masked, where it need not name the file."""
    whole = "".join(f"{line}\n" for line in part)
    head = _HUNK.match(part[0]) if part else None
    if head is None:
        return RedactedPatch(whole if applies else redactor.text(whole))
    lines = _marked(_numbered(part[1:], int(head[1]), int(head[3])), redactor)
    if not any(line.secret for line in lines):
        return RedactedPatch(whole)
    changed = any(line.secret and line.sign != " " for line in lines)
    text, bare = "", False
    for piece, is_cut in _pieces(lines):
        text += _hunk(piece, None if applies else redactor)
        bare |= is_cut and piece[-1].sign != " "
    return RedactedPatch(
        text, bare=bare, exposed=changed and applies, masked=changed and not applies
    )


def _numbered(lines: Sequence[str], old: int, new: int) -> list[_DiffLine]:
    out: list[_DiffLine] = []
    for line in lines:
        sign, text = line[:1] or " ", line[1:]
        if sign == "\\":
            out[-1] = out[-1]._replace(text=f"{out[-1].text}\n{line}")
            continue
        out.append(_DiffLine(sign, text, old, new))
        old += sign != "+"
        new += sign != "-"
    return out


def _marked(lines: list[_DiffLine], redactor: Redactor) -> list[_DiffLine]:
    """Mark the lines that hold a secret, of one that goes over several lines each."""
    for signs in (" -", " +"):
        chosen = [at for at, line in enumerate(lines) if line.sign in signs]
        texts = [lines[at].text.split("\n")[0] for at in chosen]
        starts = [0]
        for text in texts:
            starts.append(starts[-1] + len(text) + 1)
        for span in redactor.spans("\n".join(texts)):
            for index, at in enumerate(chosen):
                if starts[index] < span.end and span.start < starts[index + 1] - 1:
                    lines[at] = lines[at]._replace(secret=True)
    return lines


def _pieces(lines: Sequence[_DiffLine]) -> Iterator[tuple[Sequence[_DiffLine], bool]]:
    """Cut a hunk at unchanged lines that hold a secret; each piece is a hunk that applies alone.

    The second of each pair tells whether it was cut behind.
    """
    start = 0
    cuts = [at for at, line in enumerate(lines) if line.secret and line.sign == " "]
    for end in (*cuts, len(lines)):
        piece = lines[start:end]
        changes = [at for at, line in enumerate(piece) if line.sign != " "]
        if changes:
            before, after = min(changes[0], CONTEXT), min(len(piece) - changes[-1] - 1, CONTEXT)
            # patch takes a hunk with less context behind it for the end of the file
            if end < len(lines):
                before = min(before, after)
            yield piece[changes[0] - before : changes[-1] + after + 1], end < len(lines)
        start = end + 1


def _hunk(lines: Sequence[_DiffLine], redactor: Redactor | None) -> str:
    old = sum(line.sign != "+" for line in lines)
    new = sum(line.sign != "-" for line in lines)
    # of no lines, the line before is named
    first_old = lines[0].old - (old == 0)
    first_new = lines[0].new - (new == 0)
    head = f"@@ -{_range(first_old, old)} +{_range(first_new, new)} @@\n"
    return head + "".join(f"{line.sign}{_shown(line, redactor)}\n" for line in lines)


def _shown(line: _DiffLine, redactor: Redactor | None) -> str:
    return line.text if redactor is None or not line.secret else redactor.text(line.text)


def _range(first: int, count: int) -> str:
    return str(first) if count == 1 else f"{first},{count}"
