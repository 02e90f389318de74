"""What of a job is drawn: memory over its steps with what happened, and its last collectives."""

from __future__ import annotations

from typing import Literal

import msgspec

from trainrx.model.curves import Curve
from trainrx.model.ranks import CallState
from trainrx.model.result import JobSummary
from trainrx.model.text import Lang

EventKind = Literal["oom", "nan", "stall", "failure", "evaluation", "save"]


class FigureEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened at a step."""

    kind: EventKind
    step: float
    rank: int | None = None


class CallMark(msgspec.Struct, frozen=True, kw_only=True):
    """A collective as one rank called it; `seq` numbers it in its group."""

    rank: int
    seq: int
    op: str
    state: CallState | None = None


class StepForecast(msgspec.Struct, frozen=True, kw_only=True):
    """The step at which memory runs out, and its interval."""

    step: float
    low: float
    high: float


class JobFigure(msgspec.Struct, frozen=True, kw_only=True):
    """All that is drawn of a job.

    Attributes:
        memory: GiB over steps, a curve for each rank.
        limit_gib: what the card has.
        calls: the last collectives of the group in which the ranks come apart.
        culprits: ranks the others wait for; missing: those that left nothing.
    """

    job: JobSummary
    lang: Lang = "en"
    memory: tuple[Curve, ...] = ()
    events: tuple[FigureEvent, ...] = ()
    limit_gib: float | None = None
    forecast: StepForecast | None = None
    calls: tuple[CallMark, ...] = ()
    culprits: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()
