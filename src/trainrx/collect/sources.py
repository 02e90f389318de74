"""One file of a job that is followed: what it shows so far, and which rank printed when."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath

import msgspec

from trainrx.collect.follow import NewBytes
from trainrx.evidence.blocks import BlockCutter
from trainrx.evidence.detector import Detector
from trainrx.evidence.lines import HEAD, path_rank
from trainrx.evidence.matcher import decode
from trainrx.evidence.scan import MOST_METRIC, Scan
from trainrx.evidence.series.history import Series
from trainrx.evidence.series.points import bar_of_line, point_of_line
from trainrx.evidence.stored import metric_lines, take_step
from trainrx.inputs.wrappers.unwrap import LineTimes, Unwrapping

LONGEST = 1 << 17
"""Bytes of one line that are held: a job has hundreds of files."""
MOST_LINES = 4096
"""Lines at the end of a piece in which labels of ranks are looked for."""
_LABEL = re.compile(rb"\s?(?:\[rank(\d{1,5})\]|\[default(\d{1,5})\]:|\[\d{1,9},(\d{1,5})\]<std)")
_LABELLED = (b"[rank", b"[default", b"]<std")
_STEPS = (b"it/s", b"s/it", b"step", b"loss", b"iteration")


class RankSign(msgspec.Struct):
    """The last sign of a rank: the step it is at, and when it printed."""

    at: float
    step: int | None = None


class FollowedSource:
    """One followed file.

    Args:
        name: what it is cited by.
        detector: what its lines are looked through with.
    """

    def __init__(self, name: str, detector: Detector) -> None:
        self.name = name
        self.rank = path_rank(name)
        self.at = 0.0
        self._detector = detector
        self._begin()

    def _begin(self) -> None:
        """Take the file for a new one: what an earlier job left in it is gone."""
        stored = PurePath(self.name).suffix == ".jsonl"
        self.times = LineTimes()
        self._labelled: dict[int, RankSign] = {}
        self.scan: Scan | None = None if stored else self._detector.follow(self.name, self.times)
        self._stored = Series(self.name, self.rank)
        self._unwrapping = Unwrapping(times=self.times)
        self._cutter = BlockCutter(longest=LONGEST, first=0)

    @property
    def series(self) -> Series:
        """Give the steps it logs."""
        return self._stored if self.scan is None else self.scan.series

    def take(self, new: NewBytes) -> None:
        """Read what it grew by."""
        self.at = max(self.at, new.at)
        if new.begins == "new":
            self._begin()
        elif new.begins == "rotated":
            self._cutter = BlockCutter(longest=LONGEST, first=0)
        if self.scan is None:
            for block in self._cutter.feed(new.data):
                for point, text in metric_lines(block.data, block.line):
                    take_step(self._stored, point, text)
            return
        for piece in self._unwrapping.feed(new.data):
            for block in self._cutter.feed(piece):
                self.scan.feed(block)
                for rank, step in labelled_steps(block.data):
                    self._sign(rank, step, new.at)

    def _sign(self, rank: int, step: int | None, at: float) -> None:
        sign = self._labelled.setdefault(rank, RankSign(at))
        sign.at = max(sign.at, at)
        sign.step = sign.step if step is None else step

    def signs(self) -> Mapping[int, RankSign]:
        """Give the last sign of each rank it is of, by its path or by labels on its lines."""
        if self.rank is None:
            return self._labelled
        return {self.rank: RankSign(self.at, self.series.step)}


def labelled_steps(data: bytes) -> Iterator[tuple[int, int | None]]:
    """Give the ranks whose labels lines bear, each with the last step it printed."""
    if not any(mark in data for mark in _LABELLED):
        return
    found: dict[int, int | None] = {}
    for line in reversed(data.replace(b"\r", b"\n").split(b"\n")[-MOST_LINES:]):
        label = _LABEL.match(line[:HEAD])
        if label is None:
            continue
        rank = int(label[label.lastindex or 1])
        if found.get(rank) is None:
            found[rank] = _step_of(line)
    yield from found.items()


def _step_of(line: bytes) -> int | None:
    if not any(mark in line for mark in _STEPS):
        return None
    text = decode(line[-MOST_METRIC:])
    bar = bar_of_line(text)
    if bar is not None:
        return bar.done if bar.training else None
    point = point_of_line(text, 0)
    return None if point is None else point.step
