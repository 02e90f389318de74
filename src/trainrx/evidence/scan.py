"""One log in one pass: every block is gated, and only the lines the gate names are looked at."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from trainrx.evidence.blocks import LineBounds, LogBlock, Steps, bounds, by_line
from trainrx.evidence.conclude import Bucket, Tally, quote
from trainrx.evidence.frames import MOST_LINES, above, frame_of_excerpt, last_frame, site_of
from trainrx.evidence.lines import HEAD, bare, last_seconds, path_rank, rank_of, seconds
from trainrx.evidence.matcher import Compiled, Gate, Line, compile_patterns, decode
from trainrx.evidence.own_code import exception_of, own_frame
from trainrx.evidence.series.history import MOST_POINTS, Series
from trainrx.evidence.series.points import bar_of_line, may_train, memory_of_line, point_of_line
from trainrx.evidence.sift import BARS, EXIT, WORLD, Probe, Sieve, probes
from trainrx.evidence.values import typed
from trainrx.inputs.wrappers.unwrap import LineTimes
from trainrx.model.facts import Fact, Origin, Scalar, fact
from trainrx.model.job import Hit
from trainrx.model.knowledge import Symptom

ABOVE = 1 << 16
"""Bytes above a hit in which its traceback and the last time stamp are looked for."""
MOST_KEPT = 20_000
"""Hits of one log kept in full, whatever the ranks; beyond it only the newest per rank."""
MOST_EXITS = 64
MOST_SAID = 12
"""Lines at the end of a log in which the exception is looked for that ended it."""
MOST_ABOVE = 40
"""Lines above a hit in which a symptom looks for more."""
MOST_CONTEXT = 256
"""Hits of one context signature that are recorded: a banner on every line tells nothing new."""
ALL_POINTS, FEWEST_POINTS = 1 << 12, 32
"""Points of metrics kept of all logs but the first together, and of each at least."""
ALL_CONTEXT, FEWEST_CONTEXT = 1 << 12, 8
"""The same of hits of a context signature."""
MOST_WORLDS = 64
MOST_METRIC = 8192
"""Bytes of a line in which metrics are looked for."""
_NO_BLOCK = LogBlock(data=b"", line=1, ends=0, size=0)
PROBED = -1
OTHERS: frozenset[Probe] = frozenset({"world", "exit"})
BEFORE_TRAINING = ("", "launch", "load", "tokenize", "train-start")


class Signatures:
    """Signatures made ready for scanning logs or `notes`, with the probes of our own."""

    def __init__(self, symptoms: Sequence[Symptom], *, notes: bool = False) -> None:
        self.symptoms = tuple(symptoms)
        own = compile_patterns(self.symptoms, notes=notes)
        more = probes(len(own))
        self.patterns: tuple[Compiled, ...] = own + tuple(pattern for pattern, _ in more)
        self.kinds: tuple[Probe, ...] = tuple(kind for _, kind in more)
        self.frames = tuple(
            (pattern, self.symptoms[pattern.symptom].site)
            for pattern in own
            if self.symptoms[pattern.symptom].role == "frame"
        )
        self.first_probe = len(own)
        self.sieve = Sieve(self.patterns, self.kinds, self.symptoms)


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of one log at most: points of metrics of a rank, hits of a context signature."""

    points: int = MOST_POINTS
    context: int = MOST_CONTEXT


def sampling(logs: int) -> Sampling:
    """Give what is kept of each log of a job: the logs of many ranks tell the same many times."""
    points = ALL_POINTS // max(logs, 1)
    context = ALL_CONTEXT // max(logs, 1)
    return Sampling(
        points=max(FEWEST_POINTS, min(MOST_POINTS, points)),
        context=max(FEWEST_CONTEXT, min(MOST_CONTEXT, context)),
    )


class Late(msgspec.Struct, frozen=True):
    """The newest hit of a full bucket; placed only if it is still the newest at the block's end."""

    bucket: Bucket
    hit: Hit
    symptom: Symptom
    spot: LineBounds


class Scan:
    """What one log says; `feed` it with the blocks in order, then read the attributes.

    Args:
        name: what it is cited by.
        signatures: what is looked for.
        gate: names the lines worth a look.
        times: when lines were printed, where their wrapping says it: clocks that run alike.
        most: what is kept of it.
    """

    def __init__(
        self,
        name: str,
        signatures: Signatures,
        gate: Gate,
        times: LineTimes | None = None,
        *,
        most: Sampling | None = None,
    ) -> None:
        self.name = name
        self._times = times or LineTimes()
        self.tally = Tally()
        self._most = most or Sampling()
        self.series = Series(name, path_rank(name), self._most.points)
        self.ranks: dict[int, Series] = {}
        self.world: Fact | None = None
        self._worlds = 0
        self.exits: list[Fact] = []
        self.lines = 0
        self.bytes = 0
        self.phase = ""
        self.kept = 0
        self._signatures = signatures
        self._gate = gate
        self._rank = path_rank(name)
        self._above = b""
        self._text = b""
        self._bars: list[int] = []
        self._bars_taken = 0
        self._steps = Steps(_NO_BLOCK, b"", [])
        self._ending: Hit | None = None
        self._skipped: int | None = None
        self._long: set[int] = set()
        self._late: dict[int, Late] = {}
        self._context: Counter[int] = Counter()
        self._told: set[int] = set()

    def feed(self, block: LogBlock) -> None:
        """Take the next block."""
        data = block.data
        self._text = data.replace(b"\r", b"\n") if b"\r" in data else data
        carried = self._long if block.resumes else set()
        self._long = set()
        # NCCL repeats the world size a thousand times: the first few have told it
        worlds = self._worlds < MOST_WORLDS
        found = self._signatures.sieve.sift(
            self._gate(self._text), self._text, worlds=worlds, told=self._told
        )
        self._steps = Steps(block, self._text, found.steps)
        self._bars, self._bars_taken = found.bars, 0
        for spot, numbers in by_line(block, self._text, found.rest):
            opens = spot.start > 0 or not block.resumes
            closes = spot.end < len(self._text) or not block.breaks
            line = Line(self._text[spot.start : spot.end], opens=opens, closes=closes)
            known = set() if opens else carried
            matched = self._look(spot, line, numbers, known)
            if not closes:
                self._long = known | matched
        if block.breaks and block.resumes and not self._long:
            self._long = carried
        for stage, count in found.repeats.items():
            self.tally.repeats[self._signatures.symptoms[stage].id] += count
        self._finish(block)

    def all_series(self) -> tuple[Series, ...]:
        """Give the series of all ranks that log into it, its own first."""
        return (self.series, *self.ranks.values())

    def ending(self) -> Hit | None:
        """Give the traceback the log breaks off in, as a hit of no symptom.

        Read it after the last block.
        """
        return self._ending or self._end_of(decode(self._above))

    def _end_of(self, text: str) -> Hit | None:
        frame = frame_of_excerpt(text)
        if frame is None:
            return None
        lines = text.rstrip("\n").split("\n")
        last = len(lines) - 1
        near = range(last, max(-1, last - MOST_SAID), -1)
        at = next((at for at in near if exception_of(lines[at])), last)
        own = own_frame([bare(line) for line in reversed(lines[:at][-MOST_LINES:])], lines[:at])
        return Hit(
            symptom="",
            source=self.name,
            line=max(1, self.lines - last + at),
            text=quote(lines[at]),
            frame=frame,
            own=own,
        )

    def end(self) -> None:
        """Let go of the text, when there are no more blocks: of many logs it would be much."""
        self._ending = self.ending()
        self._above = self._text = b""
        self._bars = []
        self._times = LineTimes()
        self._steps = Steps(_NO_BLOCK, b"", [])

    def __getstate__(self) -> dict[str, object]:
        """Give what was found, without what it was looked for with: a process may send it."""
        return {**self.__dict__, "_signatures": None, "_gate": None}

    def _finish(self, block: LogBlock) -> None:
        self._catch_up(len(self._text), len(self._text))
        if self._skipped is not None:
            self._take_metric(self._steps.spot(self._skipped), counted=True)
            self._skipped = None
        for late in self._late.values():
            late.bucket.last = self._placed(late.hit, late.symptom, late.spot)
        self._late.clear()
        self._above = (self._above + self._text)[-ABOVE:]
        self.lines = block.line - 1 + block.ends + (not block.data.endswith(b"\n"))
        self.bytes += block.size

    def _look(
        self, spot: LineBounds, line: Line, numbers: Iterable[int], known: set[int]
    ) -> set[int]:
        """Try the patterns the gate named in the order of the entries; the first to fit counts."""
        first = self._signatures.first_probe
        matched: set[int] = set()
        kinds = {self._signatures.kinds[number - first] for number in numbers if number >= first}
        if kinds and PROBED not in known:
            matched.add(PROBED)
            self._probe(kinds, spot)
        for number in sorted(numbers):
            if number >= first:
                break
            pattern = self._signatures.patterns[number]
            if pattern.symptom in matched or pattern.symptom in known:
                continue
            found = pattern.search(line)
            if found is not None:
                matched.add(pattern.symptom)
                if not self._is_told(pattern.symptom):
                    self._record(self._signatures.symptoms[pattern.symptom], spot, found)
        return matched

    def _is_told(self, number: int) -> bool:
        """Tell whether a context signature has been seen often enough to say what it says."""
        if self._signatures.symptoms[number].role == "context":
            self._context[number] += 1
            if self._context[number] >= self._most.context:
                self._told.add(number)
            return self._context[number] > self._most.context
        return False

    def _record(self, symptom: Symptom, spot: LineBounds, found: re.Match[str]) -> None:
        if symptom.role != "frame":
            self._catch_up(spot.start, spot.end)
        if symptom.role == "phase" and symptom.phase:
            self.phase = symptom.phase
        captures = tuple(_captures(symptom, found.groupdict()))
        named = dict(captures)
        said = named.get("rank", rank_of(self._head(spot)))
        rank = said if isinstance(said, int) and not isinstance(said, bool) else self._rank
        bucket = self.tally.bucket(symptom.id, (rank, named.get("gpu")))
        bucket.count += 1
        hit = Hit(
            symptom=symptom.id,
            source=self.name,
            line=spot.line,
            text=quote(found.string, found),
            rank=rank,
            phase="" if symptom.role == "frame" else self.phase,
            step=None if symptom.role == "frame" else self.series.step,
            captures=captures,
        )
        if bucket.wants() and self.kept < MOST_KEPT:
            self.kept += 1
            bucket.first.append(self._placed(hit, symptom, spot))
        else:
            self._late[id(bucket)] = Late(bucket, hit, symptom, spot)

    def _head(self, spot: LineBounds) -> str:
        return decode(self._text[spot.start : min(spot.end, spot.start + HEAD)])

    def _placed(self, hit: Hit, symptom: Symptom, spot: LineBounds) -> Hit:
        """Add to a kept hit what the lines above it tell: the time, and where a failure stands."""
        head = self._head(spot)
        at = seconds(self._times.at(spot.line) or head)
        wants_site = symptom.role == "failure" and bool(self._signatures.frames)
        if at is not None and not wants_site:
            return msgspec.structs.replace(hit, at=at)
        missing = max(0, ABOVE - spot.start)
        before = self._text[max(0, spot.start - ABOVE) : spot.start]
        text = (self._above[-missing:] if missing else b"") + before
        lines = decode(text).rstrip("\n").split("\n")
        site, frame, own = "", None, None
        if wants_site:
            hit = _with_above(hit, symptom, lines)
            traceback = tuple(above(lines, head))
            site = site_of(traceback, self._signatures.frames)
            frame = last_frame(traceback)
            own = own_frame(traceback, lines)
        return msgspec.structs.replace(
            hit,
            at=last_seconds(lines) if at is None else at,
            site=site,
            frame=None if frame is None else tuple(frame),
            own=None if own is None else tuple(own),
        )

    def _probe(self, kinds: set[Probe], spot: LineBounds) -> None:
        if "alarm" in kinds:
            self._catch_up(spot.start, spot.end)
            self._steps.done = spot.end
            self._skipped = None
            self._take_metric(spot)
        if "evaluation" in kinds:
            self._catch_up(spot.start, spot.end)
            self.series.see_evaluation()
        if "memory" in kinds:
            found = memory_of_line(
                decode(self._text[spot.start : spot.end][:MOST_METRIC]), spot.line
            )
            if found is not None:
                self.series.see_memory(found)
        if kinds & OTHERS:
            self._take_others(spot)

    def _catch_up(self, start: int, end: int) -> None:
        """Read bars and metrics before a line: step and phase are to be those of the place."""
        self._take_bars(end)
        for at in self._steps.before(start):
            if self.series.wants():
                self._skipped = None
                self._take_metric(self._steps.spot(at))
            else:
                self._skipped = at
                self.series.skip()

    def _take_bars(self, end: int) -> None:
        """Read the newest progress bar up to a place that counts steps of the training."""
        drawn = bisect_right(self._bars, end)
        newest = self._bars[max(self._bars_taken, drawn - BARS) : drawn]
        self._bars_taken = max(self._bars_taken, drawn)
        above = len(self._text)
        for at in reversed(newest):
            if at > above:
                continue
            above, stop = bounds(self._text, at)
            line = self._text[max(above, stop - MOST_METRIC) : stop]
            bar = bar_of_line(decode(line)) if may_train(line) else None
            if bar is not None and self.series.see_bar(bar):
                if self.phase in BEFORE_TRAINING:
                    self.phase = "train" if bar.done else "train-start"
                break

    def _take_metric(self, spot: LineBounds, *, counted: bool = False) -> None:
        text = decode(self._text[spot.start : spot.end][:MOST_METRIC])
        point = point_of_line(text, spot.line)
        if point is None:
            return
        series = self._series_of(rank_of(text))
        if not counted or series is not self.series:
            series.count += 1
        series.add(point, quote(text))
        self.phase = "train"

    def _series_of(self, rank: int | None) -> Series:
        """Give the series of the rank a line is labelled with: each logs all steps."""
        if self.series.rank is None:
            self.series.rank = rank
        if rank is None or rank == self.series.rank:
            return self.series
        return self.ranks.setdefault(rank, Series(self.name, rank, self.series.most))

    def _take_others(self, spot: LineBounds) -> None:
        text = decode(self._text[spot.start : spot.end][:MOST_METRIC])
        origin = Origin(source=self.name, line=spot.line, text=quote(text))
        world = WORLD.search(text)
        if world is not None:
            self._worlds += 1
            said = fact("log.world_size", int(world[1]), origin)
            self.world = max(self.world or said, said, key=size_of)
        code = EXIT.search(text)
        if code is not None and len(self.exits) < MOST_EXITS:
            self.exits.append(fact("exit.code", int(code[code.lastindex or 1]), origin))


def size_of(world: Fact) -> int:
    """Give the number of ranks that a fact tells."""
    return world.value if isinstance(world.value, int) else 0


def _with_above(hit: Hit, symptom: Symptom, lines: Sequence[str]) -> Hit:
    """Add what a symptom reads from the lines above: of the nearest that matches."""
    if not symptom.above:
        return hit
    near = lines[: -MOST_ABOVE - 1 : -1]
    groups: dict[str, str | None] = {}
    for name, regex in symptom.above.items():
        matches = (re.search(regex, line) for line in near)
        found = next((match for match in matches if match is not None), None)
        groups[name] = None if found is None else found[name]
    more = tuple(_captures(symptom, groups))
    return msgspec.structs.replace(hit, captures=(*hit.captures, *more))


def _captures(symptom: Symptom, groups: dict[str, str | None]) -> Iterator[tuple[str, Scalar]]:
    for name, text in groups.items():
        if text is not None:
            value = typed(text.replace("\0", ""), symptom.types.get(name, "text"))
            if value is not None:
                yield name, value
                yield from symptom.meaning(name, value).items()
