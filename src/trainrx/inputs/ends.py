"""What the ends of logs say: their last exceptions, and the functions these passed through."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trainrx.inputs.encoding import decode_text
from trainrx.inputs.stream import tail
from trainrx.model.job import Input

TOLD = 8
"""Lines of a log that are taken for what it says of the failure: its last exceptions."""
LONGEST = 2000
"""Characters of such a line that are read."""
FRAMES = 60
"""Frames of a log that are taken for those of its last tracebacks."""
_PATH = re.compile(r"[^\s'\"()]*/[^\s'\"()]*/[^\s'\"()]*")
"""Where something is installed says nothing of why it failed."""
_EXCEPTION = re.compile(r"(?:Error|Exception)\b")
_FUNCTION = re.compile(r"\.py(?:\", line [\dX]{1,7}|:\d{1,7}),? in (\w{1,100})")


def without_paths(text: str) -> str:
    """Take the paths out of a text."""
    return _PATH.sub(" ", text)


def exceptions(logs: Sequence[Input]) -> Iterator[str]:
    """Give the last exceptions of each log, without paths."""
    for log in logs:
        told = [line[:LONGEST] for line in _lines(log) if _EXCEPTION.search(line)][-TOLD:]
        yield from map(without_paths, told)


def functions(logs: Sequence[Input]) -> Iterator[str]:
    """Give the functions of the last tracebacks of each log."""
    for log in logs:
        found = [m[1] for line in _lines(log) if (m := _FUNCTION.search(line[:LONGEST]))]
        yield from found[-FRAMES:]


def _lines(log: Input) -> list[str]:
    return decode_text(tail(log)).splitlines()
