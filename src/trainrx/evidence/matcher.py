"""Signatures compiled for searching: which lines to look at, and what stands on them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import islice

from trainrx.evidence.denial import is_denied, is_doubled, is_negated, is_ruled_out
from trainrx.model.knowledge import Symptom

LONG_LINE = 8192
"""Bytes; on a longer line `re` sees only a window around each needle: its time may grow with the
square of what it sees."""
WINDOW = 4096
MAX_WINDOWS = 256
MOST_RULED_OUT = 16
"""Denied matches of one window that are looked at; nobody says more often what is not so."""
CUT = "\0"
"""Stands where a window ends but the line does not, so that `$` does not match there. NULs are
removed from logs beforehand: it cannot be text."""


LABELS = re.compile(
    rb"(?:\[host [^\]\n]{1,160}\]: )?"
    rb"(?:\[rank\d{1,5}\]: ?|\((?:\w[\w. /]{0,80} )?pid=\d{1,10}[^)\n]{0,80}\) ?)?"
)
"""Which of several sources printed a line: no part of what it printed."""
REPEATED = re.compile(rb" \[repeated \d{1,6}x across cluster\]")
"""What Ray puts behind a line that several workers printed."""
Candidate = tuple[int, int]
"""A byte of a block, and the number of a pattern that may match on the line holding it."""


class Line:
    """One line without its end; `opens`/`closes`: its first/last byte is really the line's."""

    __slots__ = ("_text", "closes", "data", "opens")

    def __init__(self, data: bytes, *, opens: bool = True, closes: bool = True) -> None:
        self.data = data
        self.opens = opens
        self.closes = closes
        self._text: str | None = None

    @property
    def text(self) -> str:
        """Give the line decoded."""
        if self._text is None:
            self._text = decode(self.data)
        return self._text

    @property
    def unlabelled(self) -> Line | None:
        """Give what a program printed without what tells its host, rank or worker; None if so."""
        label = LABELS.match(self.data) if self.opens else None
        if label is None or not label[0]:
            return None
        end = REPEATED.search(self.data, label.end()) if self.closes else None
        return Line(self.data[label.end() : end.start() if end else None], closes=self.closes)


class Compiled:
    """One pattern of one signature; its regex is compiled when first needed.

    A `probe` is not of a signature but ours: nothing confirms it after the gate. What is `told`,
    trouble in a note, does not count where it is denied, asked about, feared or over.
    """

    def __init__(
        self,
        index: int,
        symptom: int,
        needle: str,
        regex: str,
        *,
        probe: bool = False,
        unless_negated: bool = False,
        told: bool = False,
    ) -> None:
        self.index = index
        self.symptom = symptom
        self.regex = regex
        self.probe = probe
        self.unless_negated = unless_negated
        self.told = told
        self.anchored = "^" in regex or "$" in regex
        self.folded = re.match(r"\(\?[a-z]*i", regex) is not None
        raw = needle.encode("utf-8", "replace")
        self.needle = raw.lower() if self.folded else raw

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """Give the regex, compiled."""
        return re.compile(self.regex)

    def search(self, line: Line) -> re.Match[str] | None:
        """Find the pattern on a line, with the labels in front of it or without.

        The needle must stand on it, in any case for `(?i)`.
        """
        found = self._found(line)
        if found is None and self.anchored and (bare := line.unlabelled) is not None:
            return self._found(bare)
        return found

    def _found(self, line: Line) -> re.Match[str] | None:
        haystack = line.data.lower() if self.folded else line.data
        found = haystack.find(self.needle)
        if found < 0:
            return None
        if len(line.data) <= LONG_LINE and line.opens and line.closes:
            return self._first(line.text, 0)
        return self._windows(line, haystack, found)

    def _first(self, text: str, start: int) -> re.Match[str] | None:
        if not (self.unless_negated or self.told):
            return self.compiled.search(text, start)
        return next((match for match in self._all(text, start) if self._counts(match)), None)

    def ruled_out(self, text: str) -> Iterator[tuple[int, int]]:
        """Give where trouble is named that is denied, asked about, feared or over."""
        if self.told and (text.lower() if self.folded else text).encode().find(self.needle) >= 0:
            spans = (match.span() for match in self._all(text, 0))
            yield from (span for span in spans if is_ruled_out(text, *span))

    def is_denied(self, text: str) -> bool:
        """Tell whether a note says that it was not so ("not an OOM", 没有卡住)."""
        if (text.lower() if self.folded else text).encode().find(self.needle) < 0:
            return False
        starts = (match.start() for match in self._all(text, 0))
        return any(is_denied(text, at) and not is_doubled(text, at) for at in starts)

    def _all(self, text: str, start: int) -> Iterator[re.Match[str]]:
        return islice(self.compiled.finditer(text, start), MOST_RULED_OUT)

    def _counts(self, match: re.Match[str]) -> bool:
        if self.unless_negated and is_negated(match.string, *match.span()):
            return False
        return not (self.told and is_ruled_out(match.string, *match.span()))

    def _windows(self, line: Line, haystack: bytes, found: int) -> re.Match[str] | None:
        for _ in range(MAX_WINDOWS):
            start, end = max(0, found - WINDOW), min(len(line.data), found + WINDOW)
            head = "" if start == 0 and line.opens else CUT
            foot = "" if end == len(line.data) and line.closes else CUT
            text = head + decode(line.data[start:end]) + foot
            # from `pos` on, so that `^` does not match where the window starts
            match = self._first(text, len(head))
            if match is not None:
                return match
            found = haystack.find(self.needle, max(found + 1, end - WINDOW // 2))
            if found < 0:
                return None
        return None


def decode(data: bytes) -> str:
    """Decode a piece of a log; torn characters become U+FFFD."""
    return data.decode("utf-8", "replace")


def compile_patterns(symptoms: Sequence[Symptom], *, notes: bool = False) -> tuple[Compiled, ...]:
    """Number all patterns of all signatures, one for each needle; `notes`: they are for notes."""
    found: list[Compiled] = []
    for number, symptom in enumerate(symptoms):
        for pattern in symptom.patterns:
            for needle in pattern.needles:
                compiled = Compiled(
                    len(found),
                    number,
                    needle,
                    pattern.regex,
                    unless_negated=pattern.unless_negated,
                    told=notes and symptom.is_failure,
                )
                found.append(compiled)
    return tuple(found)


Gate = Callable[[bytes], dict[int, list[int]]]
"""Gives, by the number of a pattern, the places of a block (line ends `\\n` only) that are worth a
look."""


def needle_gate(patterns: Sequence[Compiled]) -> Gate:
    """Make a gate from plain searches: quick to start, its time grows with the patterns."""
    is_folded = any(pattern.folded for pattern in patterns)

    def find(data: bytes) -> dict[int, list[int]]:
        folded = data.lower() if is_folded else b""
        return {
            pattern.index: places
            for pattern in patterns
            if (places := list(_occurrences(folded if pattern.folded else data, pattern)))
        }

    return find


def _occurrences(data: bytes, pattern: Compiled) -> Iterator[int]:
    """Give the first place of a needle on each line it stands on; of a probe where it matches."""
    at = data.find(pattern.needle)
    while at >= 0:
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        start = data.rfind(b"\n", 0, at) + 1
        if not pattern.probe or pattern.search(Line(data[start:end])) is not None:
            yield at
        at = data.find(pattern.needle, end)
