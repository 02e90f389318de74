"""Where a failure stands in the program: the frames of the traceback above it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from trainrx.evidence.lines import bare, speaker
from trainrx.evidence.matcher import Compiled, Line
from trainrx.evidence.sources import SourceFile, is_check, is_launcher, source_of

MOST_LINES = 120
"""Lines of the same speaker that are looked at."""
MOST_STRANGE = 3
"""Lines in a row that belong to no traceback: above them the traceback is over."""
MOST_LENGTH = 600
"""Characters of a line in which a frame is looked for."""
EXCERPT = 40
"""Lines of a log that a person cut to what matters: there a path alone names the place."""
HEADER = "Traceback (most recent call last)"
INSIDE = re.compile(
    r"\s|File |Cell In\[|-{2,}> ?\d|[\w./-]+\.py in \w|\Z|[│╭╰❱|]"
    r"|During handling|The above exception"
)
FRAME = re.compile(r"File \"([^\"]{1,300})\", line [\dX]{1,7}(?:, in ([\w.<>]{1,100}))?")
SHORT = re.compile(r"(?:^|[\s│❱])([\w.~@+/-]{1,300}\.py)(?::\d{1,7},?)? in ([\w.<>]{1,100})")
PATH = re.compile(r"^\s*([\w.~@+-]{1,80}(?:/[\w.~@+-]{1,80}){1,20}\.py)\s*(?:[:/,]\s*(.{0,100}))?$")
CALLED = re.compile(r"^\s*(?:[\w]{1,80}\.)?(\w{1,80})\(\)\s*$")


class Frame(NamedTuple):
    """One frame: the package its file lies in ("" user code), the file from there, the function."""

    package: str
    file: str
    function: str


def above(lines: Sequence[str], failure: str) -> Iterator[str]:
    """Give the lines of the traceback above a failure without labels, the nearest first.

    `lines` are the lines above it in order; those of other ranks are passed over.
    """
    who = speaker(failure)
    seen = strange = 0
    for line in reversed(lines):
        if speaker(line) != who:
            continue
        text = bare(line)
        seen += 1
        if seen > MOST_LINES or HEADER in text:
            return
        strange = 0 if INSIDE.match(text) else strange + 1
        if strange > MOST_STRANGE:
            return
        if not strange:
            yield text


def site_of(traceback: Iterable[str], frames: Sequence[tuple[Compiled, str]]) -> str:
    """Give the site of the first line that is a known frame, or ""."""
    return next((site for text in traceback if (site := _site(text, frames))), "")


def last_frame(traceback: Iterable[str]) -> Frame | None:
    """Give the frame an exception was raised in, of lines that come the nearest first.

    Frames of the standard library are passed over, for it is called wrongly rather than wrong.
    """
    for text in traceback:
        named = FRAME.search(text[:MOST_LENGTH]) or SHORT.search(text[:MOST_LENGTH])
        if named is None:
            continue
        source = source_of(named[1])
        if source is not None and not is_check(source):
            return _frame(source, named[2] or "")
    return None


def frame_of_excerpt(text: str) -> Frame | None:
    """Give the last frame of a log that is cut off in a traceback, or that names only a path."""
    lines = text.splitlines()
    found = last_frame(bare(line) for line in reversed(lines[-MOST_LINES:]))
    if found is not None or len(lines) > EXCERPT:
        return found
    for line, after in zip(lines, (*lines, "")[1:], strict=True):
        path = PATH.match(line)
        source = source_of(path[1]) if path is not None else None
        if path is not None and source is not None and source.package:
            called = CALLED.match(path[2] or after)
            return _frame(source, called[1] if called is not None else "")
    return None


def _frame(source: SourceFile, function: str) -> Frame | None:
    return None if is_launcher(source) else Frame(source.package, source.file, function)


def _site(text: str, frames: Sequence[tuple[Compiled, str]]) -> str:
    line = Line(text.encode("utf-8", "replace"))
    found = [(len(frame.needle), site) for frame, site in frames if frame.search(line)]
    # several frames on one line: the most specific text decides
    return max(found)[1] if found else ""
