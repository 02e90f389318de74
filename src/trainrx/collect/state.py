"""The state of a job that is followed, as it is shown, alerted on and counted."""

from __future__ import annotations

from typing import Literal

import msgspec

from trainrx.collect.stall import Stall
from trainrx.model.findings import Unread
from trainrx.model.knowledge import Family
from trainrx.model.result import SymptomSeen, Tool
from trainrx.model.text import Lang

Outcome = Literal["waiting", "starting", "training", "stalled", "failed", "finished"]
"""waiting: nothing was written yet; starting: no step was seen; finished: it ended as it should."""
AlertKind = Literal["failed", "stalled", "oom-forecast", "nan-loss"]


class RankState(msgspec.Struct, frozen=True, kw_only=True):
    """How far a rank is, as far as it prints.

    Attributes:
        behind: steps the furthest rank is ahead of it.
        silent: seconds since its last line.
        straggles: it falls behind, and not only by one logged step.
    """

    rank: int
    step: int | None = None
    behind: int | None = None
    memory_gib: float | None = None
    silent: float | None = None
    straggles: bool = False


class MemoryReading(msgspec.Struct, frozen=True, kw_only=True):
    """The highest memory of a card that some rank logged at a step."""

    step: float
    gib: float


class OomForecast(msgspec.Struct, frozen=True, kw_only=True):
    """The step at which memory that grows comes to the end of the card, and its interval."""

    step: float
    low: float
    high: float


class CauseSeen(msgspec.Struct, frozen=True, kw_only=True):
    """The first cause of a whole diagnosis, and the first thing to change."""

    id: str
    title: str
    family: Family
    verdict: Literal["likely", "possible"]
    probability: float
    fix: str = ""


class WatchAlert(msgspec.Struct, frozen=True, kw_only=True):
    """Something somebody should look at now."""

    kind: AlertKind
    family: Family


class WatchState(msgspec.Struct, frozen=True, kw_only=True):
    """All that is shown of a job that is followed.

    Attributes:
        at: when this was so, seconds since the epoch.
        step: steps done; total: steps there are.
        seconds_per_step: its pace; eta_seconds: until the last step at this pace.
        memory: the newest readings, thinned out; memory_gib: the last one.
        capacity_gib: what the card has.
        cause: what a diagnosis of the whole job says of a failure or a stall.
        sources: the files it is read from.
    """

    outcome: Outcome
    at: float
    tool: Tool
    lang: Lang = "en"
    schema_version: Literal[1] = 1
    framework: str | None = None
    step: int | None = None
    total: int | None = None
    seconds_per_step: float | None = None
    eta_seconds: float | None = None
    ranks: tuple[RankState, ...] = ()
    stragglers: tuple[int, ...] = ()
    memory: tuple[MemoryReading, ...] = ()
    memory_gib: float | None = None
    capacity_gib: float | None = None
    forecast: OomForecast | None = None
    stall: Stall | None = None
    silent: float | None = None
    symptoms: tuple[SymptomSeen, ...] = ()
    cause: CauseSeen | None = None
    alerts: tuple[WatchAlert, ...] = ()
    sources: tuple[str, ...] = ()
    unread: tuple[Unread, ...] = ()
