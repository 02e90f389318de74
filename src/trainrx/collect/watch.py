"""What the files of a job that runs say of it now: fed with what they grow by, and asked."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import msgspec

from trainrx.collect.follow import NewBytes
from trainrx.collect.sources import FollowedSource, RankSign
from trainrx.collect.stall import Stall, StallRule, StallWatch
from trainrx.collect.standing import Going, has_ended, shown, still_standing
from trainrx.collect.state import (
    MemoryReading,
    OomForecast,
    Outcome,
    RankState,
    WatchAlert,
    WatchState,
)
from trainrx.evidence.detector import Detector
from trainrx.evidence.series.history import Series
from trainrx.evidence.series.memory import forecast_facts
from trainrx.model.curves import Curve
from trainrx.model.facts import Facts, fact
from trainrx.model.job import Detection, SymptomHits
from trainrx.model.knowledge import Family
from trainrx.model.result import Tool
from trainrx.model.text import Lang

MOST_READINGS = 120
"""Readings of memory of a state."""
LOOKS = 5
"""Times in a row a rank has to be behind: what it prints is buffered."""


class WatchSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the job besides its files."""

    tool: Tool
    lang: Lang = "en"
    capacity_gib: float | None = None
    rule: StallRule = StallRule()


class Watch:
    """A job that is followed.

    Args:
        detector: what lines are looked through with.
        settings: what is known besides.
        now: when it is begun.
    """

    def __init__(self, detector: Detector, settings: WatchSettings, now: float) -> None:
        self._detector = detector
        self._settings = settings
        self._sources: dict[str, FollowedSource] = {}
        self._seen = Detection()
        self._pace = StallWatch(now, settings.rule)
        self._behind: dict[int, deque[int]] = {}
        self._stepped_at: float | None = None

    def take(self, new: Iterable[NewBytes]) -> int:
        """Read what the files grew by; tells how many bytes that was."""
        grown = 0
        before: dict[str, tuple[int | None, dict[int, int | None]]] = {}
        for piece in new:
            source = self._sources.get(piece.name)
            if source is None:
                source = self._sources[piece.name] = FollowedSource(piece.name, self._detector)
            before.setdefault(piece.name, (source.series.step, _steps(source)))
            source.take(piece)
            grown += len(piece.data)
        if grown:
            scans = [s.scan for s in self._sources.values() if s.scan is not None]
            stored = [s.series for s in self._sources.values() if s.scan is None]
            self._seen = self._detector.seen(scans, stored)
            for name, (step, ranks) in before.items():
                self._note(self._sources[name], step, ranks)
            pace = Facts(self._seen.facts).number("series.seconds_per_step")
            self._pace.expect(None if pace is None else pace * self._spacing())
            self._note_ranks()
        return grown

    def _note(self, source: FollowedSource, step: int | None, ranks: dict[int, int | None]) -> None:
        """Tell the clock of the stall what a file showed."""
        moved = source.series.step not in (None, step)
        for rank, now in _steps(source).items():
            moved = moved or now not in (None, ranks.get(rank))
        for rank, sign in source.signs().items():
            if sign.at == source.at:
                self._pace.see(sign.at, "line", rank)
        self._pace.see(source.at, "step" if moved else "line", source.rank)
        if moved:
            self._stepped_at = max(self._stepped_at or 0.0, source.at)

    def _note_ranks(self) -> None:
        signs = self._signs()
        furthest = max((s.step for s in signs.values() if s.step is not None), default=None)
        for rank, sign in signs.items():
            if furthest is not None and sign.step is not None:
                seen = self._behind.setdefault(rank, deque(maxlen=LOOKS))
                seen.append(furthest - sign.step)

    def state(self, now: float) -> WatchState:
        """Say how the job stands."""
        facts = Facts(self._seen.facts)
        step, total = facts.whole("series.last_step"), facts.whole("series.total_steps")
        spacing = self._spacing()
        going = Going(self._stepped_at, spacing, self._pace.usual)
        symptoms = self._detector.symptoms
        standing = still_standing(self._seen.symptoms, symptoms, self._sources, going)
        ended = has_ended(self._seen.symptoms, symptoms, self._sources, going)
        complete = bool(total) and (step or 0) >= (total or 0)
        stall = None if ended or complete or not self._sources else self._pace.stall(now)
        outcome = self._outcome(standing, stall, step, ended=ended or (complete and not standing))
        curves = tuple(curve.since_last_start() for curve in self._seen.curves)
        memory = tuple(_thinned(_readings(curves)))
        pace = facts.number("series.seconds_per_step")
        capacity = self._settings.capacity_gib or facts.number("oom.card_gib")
        ranks = tuple(self._ranks(now, spacing, curves))
        forecast = _forecast(curves, capacity, total) if outcome == "training" else None
        last = max((source.at for source in self._sources.values()), default=None)
        return WatchState(
            outcome=outcome,
            at=now,
            tool=self._settings.tool,
            lang=self._settings.lang,
            framework=facts.text("launch.framework"),
            step=step,
            total=total,
            seconds_per_step=pace,
            eta_seconds=_eta(step, total, pace) if outcome == "training" else None,
            ranks=ranks,
            stragglers=tuple(rank.rank for rank in ranks if rank.straggles),
            memory=memory,
            memory_gib=memory[-1].gib if memory else None,
            capacity_gib=capacity,
            forecast=forecast,
            stall=stall if outcome == "stalled" else None,
            silent=None if last is None else max(0.0, now - last),
            symptoms=shown(self._seen.symptoms, standing, symptoms, self._settings.lang),
            alerts=tuple(self._alerts(outcome, standing, step, forecast)),
            sources=tuple(self._sources),
        )

    def _outcome(
        self,
        standing: Sequence[SymptomHits],
        stall: Stall | None,
        step: int | None,
        *,
        ended: bool,
    ) -> Outcome:
        if not self._sources:
            return "waiting"
        if standing:
            return "failed"
        if ended:
            return "finished"
        if stall is not None:
            return "stalled"
        return "starting" if step is None else "training"

    def _alerts(
        self,
        outcome: Outcome,
        standing: Sequence[SymptomHits],
        step: int | None,
        forecast: OomForecast | None,
    ) -> Iterator[WatchAlert]:
        if outcome == "failed":
            yield WatchAlert(kind="failed", family=self._family(standing))
        if outcome == "stalled":
            yield WatchAlert(kind="stalled", family="init_hang" if step is None else "hang")
        if forecast is not None:
            yield WatchAlert(kind="oom-forecast", family="oom")
        if any(_is_nan(series) for series in self._all_series()):
            yield WatchAlert(kind="nan-loss", family="nan_loss")

    def _family(self, standing: Sequence[SymptomHits]) -> Family:
        """Give the kind of failure: of one that is plain and no echo, where there is one."""
        found = [self._detector.symptoms[item.symptom] for item in standing]
        found.sort(key=lambda symptom: (symptom.vague, symptom.role == "echo"))
        return next((symptom.family for symptom in found if symptom.family), "crash_other")

    def _all_series(self) -> list[Series]:
        return [source.series for source in self._sources.values()]

    def _signs(self) -> dict[int, RankSign]:
        """Give the newest sign of each rank over all files."""
        found: dict[int, RankSign] = {}
        for source in self._sources.values():
            for rank, sign in source.signs().items():
                other = found.get(rank)
                found[rank] = sign if other is None else _newer(other, sign)
        return found

    def _ranks(self, now: float, spacing: float, curves: Sequence[Curve]) -> Iterator[RankState]:
        signs = self._signs()
        memory = {c.number: c.values[-1] for c in curves if c.quantity == "memory"}
        furthest = max((s.step for s in signs.values() if s.step is not None), default=None)
        for rank, sign in sorted(signs.items()):
            looks = self._behind.get(rank, deque())
            behind = None if furthest is None or sign.step is None else furthest - sign.step
            yield RankState(
                rank=rank,
                step=sign.step,
                behind=behind,
                memory_gib=memory.get(rank),
                silent=max(0.0, now - sign.at),
                straggles=len(looks) == LOOKS and min(looks) >= 2 * spacing,
            )

    def _spacing(self) -> float:
        """Give the steps from one logged step to the next, of the source that logs the most."""
        lead = max(self._all_series(), key=lambda series: series.count, default=None)
        if lead is None:
            return 1.0
        steps = [point.step for point in lead.points if point.step is not None]
        gaps = sorted(later - before for before, later in pairwise(steps) if later > before)
        thinned = max(1.0, lead.count / max(1, len(lead.points)))
        return max(1.0, gaps[len(gaps) // 2] / thinned) if gaps else 1.0


def _steps(source: FollowedSource) -> dict[int, int | None]:
    return {rank: sign.step for rank, sign in source.signs().items()}


def _newer(one: RankSign, other: RankSign) -> RankSign:
    """Join two signs of a rank: it may log its steps in one file and its errors in another."""
    steps = [sign.step for sign in (one, other) if sign.step is not None]
    return RankSign(max(one.at, other.at), max(steps, default=None))


def _eta(step: int | None, total: int | None, pace: float | None) -> float | None:
    if step is None or total is None or pace is None:
        return None
    return max(0, total - step) * pace


def _is_nan(series: Series) -> bool:
    """Tell whether the loss or the gradient is NaN now: a gradient that is does not come back."""
    points = series.all_points()
    last = (points[-1].loss, points[-1].grad_norm) if points else ()
    return any(value is not None and math.isnan(value) for value in last)


def _readings(curves: Iterable[Curve]) -> list[MemoryReading]:
    """Give the highest memory at each step."""
    highest: dict[float, float] = {}
    for curve in curves:
        if curve.quantity == "memory" and curve.by == "step":
            for at, gib in zip(curve.at, curve.values, strict=True):
                if gib > 0:
                    highest[at] = max(gib, highest.get(at, 0.0))
    return [MemoryReading(step=step, gib=gib) for step, gib in sorted(highest.items())]


def _forecast(
    curves: Sequence[Curve], capacity: float | None, total: int | None
) -> OomForecast | None:
    """Say when memory that leaks comes to the end of the card."""
    known = Facts()
    if capacity is not None:
        known.add(fact("hardware.gpu_gib", capacity))
    if total is not None:
        known.add(fact("series.total_steps", total))
    found = Facts(forecast_facts(curves, known))
    step, low, high = (found.number(f"series.memory_forecast_{x}") for x in ("step", "low", "high"))
    if step is None or low is None or high is None:
        return None
    return OomForecast(step=step, low=low, high=high)


def _thinned(readings: Sequence[MemoryReading]) -> Iterator[MemoryReading]:
    """Give at most so many readings, the last one among them."""
    count = len(readings)
    if count <= MOST_READINGS:
        yield from readings
        return
    for number in range(MOST_READINGS):
        yield readings[round(number * (count - 1) / (MOST_READINGS - 1))]
