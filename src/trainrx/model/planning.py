"""Plans: edits of a launch that make a job fit, each proved before it is shown."""

from __future__ import annotations

from typing import Literal

import msgspec

from trainrx.model.facts import Scalar
from trainrx.model.findings import Unread
from trainrx.model.memory import Figure, Refusal
from trainrx.model.parts import Safety
from trainrx.model.result import Change, JobSummary, Tool
from trainrx.model.text import Lang, Text

Aim = Literal["least-change", "fastest", "most-headroom", "another-way", "frees-most"]


class Price(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a change costs.

    `quality` 0 (same result) to 3 (another model is trained), `slowdown` the factor on a step's
    time, low and high (1.0: none), `effort` 0 (a flag) to 3 (other hardware).
    """

    quality: int = 0
    slowdown: tuple[float, float] = (1.0, 1.0)
    effort: int = 0


class Move(msgspec.Struct, frozen=True, kw_only=True):
    """One lever pulled: canonical parameters with their new values, and what that costs.

    `beside` is a command that has to run beside the job. `edits` is for how many settings it
    counts, 0 for as many as there are values: some are only details of another.
    """

    lever: str
    values: tuple[tuple[str, Scalar], ...]
    price: Price
    why: Text
    source: str = ""
    beside: str = ""
    edits: int = 0


class ProofCheck(msgspec.Struct, frozen=True, kw_only=True):
    """One proof of a plan: parsed, spelled, guards, batch, memory, lint."""

    name: str
    holds: bool
    detail: str = ""


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """Something that stops the launch before and after an edit.

    `id` is that of the check or lint rule, `title` what it objects to, `todo` what to do ("" where
    the title says it).
    """

    id: str
    title: str
    todo: str = ""


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
    """What edits make of the user's files.

    `named` are values that were to be a file, and the file that is named in their place.
    """

    files: tuple[FilePatch, ...] = ()
    left: tuple[Left, ...] = ()
    notes: tuple[str, ...] = ()
    named: tuple[tuple[str, str], ...] = ()


class Planned(msgspec.Struct, frozen=True, kw_only=True):
    """A plan with its proof. Memory in GiB per GPU; `batch` is the effective batch in samples.

    `refused` is what the framework refuses in the launch as it is, and still would.
    """

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
    checks: tuple[ProofCheck, ...] = ()
    sources: tuple[str, ...] = ()
    refused: tuple[Standing, ...] = ()
    patched: Patched = Patched()


class OnHardware(msgspec.Struct, frozen=True, kw_only=True):
    """What a job needs to run on some cards.

    `name` as known here, else as given; `gib` of one card, None when it is not known. `verdict`
    fits: it runs as it is; plans: it runs with one of `plans`; none: nothing that may be changed is
    enough; unknown: it cannot be told, `refusal` says why. `before` is what the job as it is takes
    there, GiB per GPU. `fewest` is the least number of these cards that will do, `smallest` the
    least memory of a card that will do with as many, GiB; both only where the verdict is none, and
    None where nothing up to 64 cards, or 180 GiB, is enough.
    """

    name: str
    gib: float | None = None
    gpus: int | None = None
    verdict: Literal["fits", "plans", "none", "unknown"]
    before: Figure | None = None
    plans: tuple[Planned, ...] = ()
    refusal: Refusal | None = None
    fewest: int | None = None
    smallest: float | None = None


class PlanAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What `diagnose plan` answers: one entry for each hardware asked about, in that order."""

    tool: Tool
    job: JobSummary
    schema_version: Literal[1] = 1
    lang: Lang = "en"
    hardware: tuple[OnHardware, ...] = ()
    unread: tuple[Unread, ...] = ()
