"""Plans: edits of a launch that make a job fit, each proved before it is shown."""

from __future__ import annotations

from typing import Literal

import msgspec

from trainrx.model.facts import Scalar
from trainrx.model.knowledge import Safety
from trainrx.model.memory import Figure
from trainrx.model.result import Change
from trainrx.model.text import Text

Aim = Literal["least-change", "fastest", "most-headroom"]


class Price(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a change costs: `quality` 0 (same result) to 3 (another model is trained), `slowdown`
    the factor on a step's time, low and high (1.0: none), `effort` 0 (a flag) to 3 (other hardware).
    """

    quality: int = 0
    slowdown: tuple[float, float] = (1.0, 1.0)
    effort: int = 0


class Move(msgspec.Struct, frozen=True, kw_only=True):
    """One lever pulled: canonical parameters with their new values, and what that costs."""

    lever: str
    values: tuple[tuple[str, Scalar], ...]
    price: Price
    why: Text
    source: str = ""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One proof of a plan: parsed, spelled, guards, batch, memory, lint."""

    name: str
    holds: bool
    detail: str = ""


class FilePatch(msgspec.Struct, frozen=True, kw_only=True):
    """A file before and after; `before` None where it is new. `name` as the caller named it."""

    name: str
    before: str | None
    after: str


class Left(msgspec.Struct, frozen=True, kw_only=True):
    """A change that could not be written into the user's files, and why."""

    change: Change
    reason: str


class Patched(msgspec.Struct, frozen=True, kw_only=True):
    """What edits make of the user's files."""

    files: tuple[FilePatch, ...] = ()
    left: tuple[Left, ...] = ()
    notes: tuple[str, ...] = ()


class Planned(msgspec.Struct, frozen=True, kw_only=True):
    """A plan with its proof. Memory in GiB per GPU; `batch` is the effective batch in samples."""

    aim: Aim
    also: tuple[Aim, ...] = ()
    moves: tuple[Move, ...]
    changes: tuple[Change, ...]
    safety: Safety
    before: Figure | None
    after: Figure
    limit_gib: float
    batch_before: int | None = None
    batch_after: int | None = None
    slowdown: tuple[float, float] = (1.0, 1.0)
    quality: int = 0
    checks: tuple[Check, ...] = ()
    sources: tuple[str, ...] = ()
    patched: Patched = Patched()
