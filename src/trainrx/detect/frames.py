"""Where a failure stands in the program: the innermost known frame of the traceback above it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trainrx.detect.lines import bare, speaker
from trainrx.detect.matcher import Compiled, Line

MOST_LINES = 120
"""Lines of the same speaker that are looked at."""
MOST_STRANGE = 3
"""Lines in a row that belong to no traceback: above them the traceback is over."""
HEADER = "Traceback (most recent call last)"
INSIDE = re.compile(r"\s|File \"|\Z|[│╭╰❱|]|During handling|The above exception")


def site_above(
    lines: Sequence[str],
    failure: str,
    frames: Sequence[tuple[Compiled, str]],
    *,
    numbered: bool = False,
) -> str:
    """Give the site of the nearest known frame above a failure, or "".

    `lines` are the lines above it in order; those of other ranks are passed over.
    """
    who = speaker(failure, numbered=numbered)
    seen = strange = 0
    for line in reversed(lines):
        if speaker(line, numbered=numbered) != who:
            continue
        text = bare(line, numbered=numbered)
        seen += 1
        if seen > MOST_LINES or HEADER in text:
            return ""
        if INSIDE.match(text) is None:
            strange += 1
            if strange > MOST_STRANGE:
                return ""
            continue
        strange = 0
        site = _site(text, frames)
        if site:
            return site
    return ""


def _site(text: str, frames: Sequence[tuple[Compiled, str]]) -> str:
    line = Line(text.encode("utf-8", "replace"))
    found = [(len(frame.needle), site) for frame, site in frames if frame.search(line)]
    # several frames on one line: the most specific text decides
    return max(found)[1] if found else ""
