"""Look at a job that was started here: what it prints, whether it stands still, how it ended."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from trainrx.collect.follow import Follower, is_followed
from trainrx.collect.relay import copies
from trainrx.collect.stall import Sign, Stall, StallRule, StallWatch
from trainrx.collect.streams import OutputFile
from trainrx.collect.supervise import CollectAsked, JobEnded, JobEvent, JobStarted
from trainrx.evidence.lines import path_rank
from trainrx.evidence.matcher import decode
from trainrx.evidence.series.points import bar_of_line, point_of_line

TICK = 2.0
DISCOVERY = 15.0
"""Seconds after which the processes of the job are asked which files they write."""
MOST_FILES = 256
MOST_LOOKED = 1 << 14
"""Bytes at the end of what is new in which a step is looked for."""
LONGEST_LINE = 4096
MOST_COPIED = 1 << 26
"""Bytes of a file that was there before the job which are taken for the answer."""


class StepReader:
    """How far the lines of one file say the job is."""

    def __init__(self) -> None:
        self._step: int | None = None
        self._counted: tuple[int, int] | None = None

    def read(self, data: bytes) -> Sign:
        """Say what new lines are a sign of."""
        lines = data[-MOST_LOOKED:].replace(b"\r", b"\n").split(b"\n")
        for line in reversed(lines):
            text = decode(line[-LONGEST_LINE:])
            bar = bar_of_line(text)
            if bar is not None and not bar.training:
                return self._work((bar.done, bar.total))
            point = None if bar is not None else point_of_line(text, 0)
            step = bar.done if bar is not None else point.step if point is not None else None
            if step is not None:
                return self._stepped(step)
            if point is not None:
                return "step"
        return "line"

    def _stepped(self, step: int) -> Sign:
        """Tell a new step from a bar that is drawn again."""
        before, self._step = self._step, step
        return "line" if step in (before, 0) else "step"

    def _work(self, counted: tuple[int, int]) -> Sign:
        before, self._counted = self._counted, counted
        return "line" if counted == before else "work"


class JobObserver:
    """What is known of a job from outside.

    Args:
        told: the descriptor on which it is told of the job.
        rule: how long a silence may last.
        folder: where pieces of files go that are needed for an answer.
    """

    def __init__(self, told: int, rule: StallRule, folder: Path) -> None:
        self.pid: int | None = None
        self.started = time.time()
        self._told = told
        self._folder = folder
        self._rest = b""
        self._over = False
        self._pace = StallWatch(self.started, rule)
        self._followers: dict[str, Follower] = {}
        self._readers: dict[str, StepReader] = {}
        self._written: dict[str, OutputFile] = {}
        self._copies: tuple[Path, ...] = ()
        self._looked_through = self.started
        self._own: list[bytes] = []
        self._armed = True

    def events(self) -> Iterator[Stall | CollectAsked | JobEnded]:
        """Give what is to be acted on, until the job has ended or nobody tells us of it."""
        while not self._over:
            for event in self._heard(TICK):
                if isinstance(event, JobStarted):
                    self._begin(event)
                else:
                    self._look()
                    yield event
            self._look()
            stall = self._pace.stall(time.time())
            if stall is not None and self._armed:
                self._armed = False  # until the job gets on: a line now and then changes nothing
                yield stall

    def close(self) -> None:
        """Let go of the files."""
        for follower in self._followers.values():
            follower.close()

    def _heard(self, seconds: float) -> Iterator[JobEvent]:
        ready, _, _ = select.select([self._told], [], [], seconds)
        if not ready:
            return
        data = os.read(self._told, 1 << 16)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            event = msgspec.json.decode(line, type=JobEvent)
            self._over = self._over or isinstance(event, JobEnded)
            yield event
        self._over = self._over or not data

    def _begin(self, job: JobStarted) -> None:
        self.pid = job.pid
        self._copies = tuple(place for path in job.copies for place in copies(Path(path)))
        for place in self._copies:
            self._follow(str(place))
        for written in job.files:
            self._written[written.path] = written
            self._follow(written.path)
            if written.begin:
                list(self._followers[written.path].poll(time.time()))

    def _follow(self, path: str) -> None:
        self._followers[path] = Follower((Path(path),))
        self._readers[path] = StepReader()

    def _look(self) -> None:
        """Read what is new."""
        now = time.time()
        if now - self._looked_through >= DISCOVERY:
            self._looked_through = now
            for path in opened_logs(self.pid):
                if path not in self._followers and len(self._followers) < MOST_FILES:
                    self._follow(path)
        for path, follower in self._followers.items():
            for new in follower.poll(now):
                data = self._without_own(new.data) if path in self._written else new.data
                if data:
                    sign = self._readers[path].read(data)
                    self._armed = self._armed or sign != "line"
                    self._pace.see(now, sign, path_rank(path))

    def disown(self, text: bytes) -> None:
        """Take it that we write this to where the job may write as well."""
        self._own.append(text)

    def _without_own(self, data: bytes) -> bytes:
        for text in self._own:
            data = data.replace(text, b"")
        return data

    def outputs(self) -> list[Path]:
        """Give the files that hold what the job printed."""
        found = [place for place in self._copies if _size(place)]
        found += [self._piece(one) for one in self._written.values()]
        found += [Path(path) for path in self._followers if path not in self._written]
        return [place for place in dict.fromkeys(found) if _size(place)]

    def _piece(self, written: OutputFile) -> Path:
        """Cut out what the job wrote to a file that others wrote to as well."""
        if not written.begin and not self._own:
            return Path(written.path)
        piece = self._folder / Path(written.path).name
        with suppress(OSError), Path(written.path).open("rb") as file:
            file.seek(max(written.begin, _size(Path(written.path)) - MOST_COPIED))
            piece.write_bytes(self._without_own(file.read(MOST_COPIED)))
        return piece


def opened_logs(pid: int | None) -> Iterator[str]:
    """Name the logs that a process and all it started have open to write."""
    try:
        import psutil
    except ImportError:
        return
    with suppress(psutil.Error):
        first = psutil.Process(pid)
        for process in (first, *first.children(recursive=True)):
            with suppress(psutil.Error):
                for file in process.open_files():
                    if file.mode != "r" and is_followed(Path(file.path).name):
                        yield file.path


def _size(place: Path) -> int:
    try:
        return place.stat().st_size
    except OSError:
        return 0
