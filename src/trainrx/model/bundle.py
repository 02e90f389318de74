"""The manifest of a bundle: what was taken of a live job, of which process, when and how."""

from __future__ import annotations

from typing import Literal

import msgspec

SCHEMA = "trainrx-bundle/1"
MANIFEST = "manifest.json"
ItemKind = Literal[
    "stacks",
    "usage",
    "recorder",
    "ras",
    "gpu",
    "kernel",
    "memory",
    "disk",
    "limits",
    "versions",
    "environment",
    "command",
    "script",
    "config",
    "log",
]
"""usage: processor time and states of threads; environment: variables by a list of names; command:
the words a process was started with."""
ProcessRole = Literal["launcher", "rank", "worker", "engine", "other"]
"""launcher: what started the ranks, or a script around it; worker: of a rank, such as one that
loads data; engine: a process of an inference engine or an actor of Ray; other: none of these."""


class BundleProcess(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A process of the job; `rank` of a worker is that of its rank, `argv` its words."""

    pid: int
    parent: int | None = None
    role: ProcessRole = "other"
    rank: int | None = None
    local_rank: int | None = None
    world_size: int | None = None
    host: str = ""
    argv: tuple[str, ...] = ()
    started: float | None = None


class BundleItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One file of a bundle.

    Attributes:
        path: its name in the bundle, with `/`.
        command: what printed it; source: the file it was copied from.
        at: seconds since the epoch when it was taken; round: from 1, where it was taken repeatedly.
        whole: whether it is all there was; else its end.
    """

    path: str
    kind: ItemKind
    host: str = ""
    pid: int | None = None
    parent: int | None = None
    rank: int | None = None
    at: float | None = None
    round: int | None = None
    command: str = ""
    source: str = ""
    whole: bool = True


class BundleGap(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What could not be taken and why; `grant` is the right that is needed, "" where none helps."""

    what: str
    why: str
    grant: str = ""
    host: str = ""
    pid: int | None = None
    rank: int | None = None


class BundleManifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a bundle holds. Fields are only added; a reader passes over those it does not know."""

    schema: str = SCHEMA
    tool: str = ""
    job: str = ""
    at: float = 0.0
    host: str = ""
    processes: tuple[BundleProcess, ...] = ()
    items: tuple[BundleItem, ...] = ()
    gaps: tuple[BundleGap, ...] = ()
