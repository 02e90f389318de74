"""One log in one pass: every block is gated, and only the lines the gate names are looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from trainrx.detect.blocks import Block
from trainrx.detect.collective import Report, report_of
from trainrx.detect.frames import site_above
from trainrx.detect.lines import HEAD, is_numbered, last_seconds, path_rank, rank_of, seconds
from trainrx.detect.matcher import Compiled, Gate, Line, compile_patterns, decode
from trainrx.detect.metrics import bar_of_line, point_of_line
from trainrx.detect.probes import EXIT, WORLD, Probe, probes
from trainrx.detect.series import Series
from trainrx.detect.tally import Bucket, Tally, quote
from trainrx.detect.values import typed
from trainrx.model.facts import Fact, Origin, Scalar, fact
from trainrx.model.job import Hit
from trainrx.model.knowledge import Symptom

ABOVE = 1 << 16
"""Bytes above a hit in which its traceback and the last time stamp are looked for."""
MOST_REPORTS = 4096
MOST_EXITS = 64


class Signatures:
    """Signatures made ready for scanning, with the probes of our own."""

    def __init__(self, symptoms: Sequence[Symptom]) -> None:
        self.symptoms = tuple(symptoms)
        own = compile_patterns(self.symptoms)
        more = probes(len(own))
        self.patterns: tuple[Compiled, ...] = own + tuple(pattern for pattern, _ in more)
        self.kinds: tuple[Probe, ...] = tuple(kind for _, kind in more)
        self.frames = tuple(
            (pattern, self.symptoms[pattern.symptom].site)
            for pattern in own
            if self.symptoms[pattern.symptom].role == "frame"
        )
        self.first_probe = len(own)


class Spot(msgspec.Struct):
    """The line a candidate stands on: its bounds in the block and its number in the log."""

    start: int
    end: int
    line: int


class Scan:
    """What one log says; `feed` it with the blocks in order, then read the attributes."""

    def __init__(self, name: str, signatures: Signatures, gate: Gate) -> None:
        self.name = name
        self.tally = Tally()
        self.series = Series(name)
        self.reports: list[Report] = []
        self.world: int | None = None
        self.exits: list[Fact] = []
        self.lines = 0
        self.bytes = 0
        self.phase = ""
        self._signatures = signatures
        self._gate = gate
        self._rank = path_rank(name)
        self._numbered: bool | None = None
        self._tail = b""
        self._text = b""
        self._bar: Spot | None = None
        self._metric: Spot | None = None
        self._long: set[int] = set()
        self._latest: dict[int, tuple[Bucket, Hit]] = {}

    def feed(self, block: Block) -> None:
        """Take the next block."""
        data = block.data
        self._text = data.replace(b"\r", b"\n") if b"\r" in data else data
        if self._numbered is None:
            self._numbered = is_numbered(decode(self._text[: 1 << 16]).split("\n")[:200])
        if not block.resumes:
            self._long = set()
        for spot, numbers in _by_line(block, self._text, self._gate(self._text)):
            opens = spot.start > 0 or not block.resumes
            closes = spot.end < len(self._text) or not block.breaks
            line = Line(self._text[spot.start : spot.end], opens=opens, closes=closes)
            known = set() if opens else self._long
            matched = self._look(spot, line, numbers, known)
            if not (opens and closes):
                self._long = known | matched
        self._finish(block)

    def _finish(self, block: Block) -> None:
        self._take_bar()
        if self._metric is not None:
            self._take_metric(self._metric)
        self._metric = None
        for bucket, hit in self._latest.values():
            bucket.last = hit
        self._latest.clear()
        self._tail = (self._tail + self._text)[-ABOVE:]
        self.lines = block.line - 1 + block.data.count(b"\n") + (not block.data.endswith(b"\n"))
        self.bytes += block.size

    def _look(self, spot: Spot, line: Line, numbers: Iterable[int], known: set[int]) -> set[int]:
        """Try the patterns the gate named, in the order of the entries; the first that fits counts."""
        matched: set[int] = set()
        for number in sorted(numbers):
            pattern = self._signatures.patterns[number]
            if number >= self._signatures.first_probe:
                key = -1 - number
                if key not in known:
                    matched.add(key)
                    self._probe(self._signatures.kinds[number - self._signatures.first_probe], spot)
                continue
            if pattern.symptom in matched or pattern.symptom in known:
                continue
            found = pattern.search(line)
            if found is None:
                continue
            matched.add(pattern.symptom)
            captures = found.groupdict()
            self._record(pattern.symptom, spot, captures, quote(found.string, found))
        return matched

    def _record(
        self, number: int, spot: Spot, groups: dict[str, str | None], text: str
    ) -> None:
        self._take_bar()
        symptom = self._signatures.symptoms[number]
        if symptom.role == "phase" and symptom.phase:
            self.phase = symptom.phase
        captures = tuple(_captures(symptom, groups))
        head = decode(self._text[spot.start : min(spot.end, spot.start + HEAD)])
        named = dict(captures)
        said = named.get("rank", rank_of(head, numbered=bool(self._numbered)))
        rank = said if isinstance(said, int) and not isinstance(said, bool) else self._rank
        bucket = self.tally.bucket(symptom.id, (rank, named.get("gpu")))
        bucket.count += 1
        hit = Hit(
            symptom=symptom.id,
            source=self.name,
            line=spot.line,
            text=text,
            rank=rank,
            phase=self.phase,
            step=self.series.step,
            captures=captures,
        )
        if bucket.wants():
            bucket.first.append(self._place(hit, symptom, spot, head))
        else:
            self._latest[id(bucket)] = (bucket, hit)

    def _place(self, hit: Hit, symptom: Symptom, spot: Spot, head: str) -> Hit:
        """Add to a kept hit what the lines above it tell: the time, and where a failure stands."""
        above = decode((self._tail + self._text[: spot.start])[-ABOVE:])
        at = seconds(head)
        if at is None:
            at = last_seconds(above)
        site = ""
        if symptom.role == "failure" and self._signatures.frames:
            numbered = bool(self._numbered)
            lines = above.rstrip("\n").split("\n")
            site = site_above(lines, head, self._signatures.frames, numbered=numbered)
        return msgspec.structs.replace(hit, at=at, site=site)

    def _probe(self, kind: Probe, spot: Spot) -> None:
        if kind == "bar":
            self._bar = spot
        elif kind == "alarm":
            self._take_metric(spot)
        elif kind == "metrics":
            self._see_metric(spot)
        else:
            self._take_rest(kind, spot)

    def _see_metric(self, spot: Spot) -> None:
        if self._metric is not None and self._metric.start == spot.start:
            return
        self._metric = spot
        if self.series.wants():
            self._take_metric(spot)
        else:
            self.series.skip()
