"""Where an exception passes through code of the user's own: the last such frame, and what it ran.

A package's own code is repaired by its next release; what a person wrote is repaired in that line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from trainrx.evidence.frames import FRAME, MOST_LENGTH
from trainrx.evidence.lines import bare
from trainrx.evidence.sources import source_of
from trainrx.model.facts import Fact, Origin, fact
from trainrx.model.job import Hit
from trainrx.model.pattern import late

NUMBER = late(r'File "[^"]{1,300}", line (\d{1,7})')
MARKS = late(r"\s*[\^~][\^~ ]*$")
"""What Python 3.11 and newer print below the part of a line that failed."""
GENERATED = late(
    r"(?:transformers|modelscope|datasets)_modules/|unsloth_compiled_cache/|torchinductor_"
)
"""Code that came with a model or was written by a compiler: nobody here wrote it."""
NEAR = 2
"""Frames of packages below a call within which they still judge what the call hands over."""
WHOLE_JOB = late(
    r"\.(?:train|fit|learn|evaluate|predict|generate|step|backward|run|main|map)\s*\("
    r"|\b(?:\w{0,40}_)?(?:main|run|run_exp|launch|cli|fire|call)\s*\(|^\s*(?:from|import)\s"
)
"""Calls that run code of packages for long: what fails in there is not what was handed over."""
EXCEPTION = late(r"((?:[A-Za-z_]\w{0,60}\.){0,6})([A-Z]\w{1,60})(?:: |:?\s*$)")
EXCERPT = 120
"""Characters of a line of code that are quoted."""


class OwnFrame(NamedTuple):
    """The last frame of a traceback in the user's own code.

    `line` is that of the source file, `code` what it holds ("" where the log does not show it),
    `below` the frames of packages that follow, `above` how many lines of the log above the
    exception the code stands.
    """

    file: str
    line: int
    code: str
    below: int
    above: int


def own_frame(traceback: Iterable[str], lines: Sequence[str]) -> OwnFrame | None:
    """Find the last frame of the user's own code; None where all frames are of packages.

    Args:
        traceback: its lines without labels, the nearest to the exception first.
        lines: the lines of the log above the exception in order, for the place in the log.
    """
    below, code = 0, ""
    for text in traceback:
        named = FRAME.search(text[:MOST_LENGTH])
        if named is None:
            code = code if MARKS.match(text) else text.strip()
            continue
        source = source_of(named[1])
        number = NUMBER.search(text[:MOST_LENGTH])
        if source is None or number is None:
            code = ""
            continue
        if source.package or GENERATED.search(named[1]):
            below, code = below + 1, ""
            continue
        shown = code or text.strip()
        return OwnFrame(source.file, int(number[1]), code[:EXCERPT], below, _up(shown, lines))
    return None


def _up(shown: str, lines: Sequence[str]) -> int:
    found = (at for at, line in enumerate(reversed(lines), 1) if bare(line).strip() == shown)
    return next(found, 0)


def exception_of(text: str) -> str:
    """Give the class of the exception a line names first, "" where it is no such line."""
    found = EXCEPTION.match(bare(text))
    return "" if found is None else found[2]


def own_facts(hit: Hit) -> Iterator[Fact]:
    """Derive `failure.own_place`, `failure.in_own_code` and `failure.own_call_refused`.

    The last is told only of a call that hands something over, not of one that runs the job.
    """
    if hit.own is None:
        return
    frame = OwnFrame(*hit.own)
    at = Origin(source=hit.source, line=max(1, hit.line - frame.above), text=frame.code)
    yield fact("failure.own_place", f"{frame.file}:{frame.line}", at, how="derived")
    yield fact("failure.in_own_code", not frame.below, at, how="derived")
    if frame.code or not frame.below:
        refused = 0 < frame.below <= NEAR and WHOLE_JOB.search(frame.code) is None
        yield fact("failure.own_call_refused", refused, at, how="derived")
