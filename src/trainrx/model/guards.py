"""A framework's own refusals: what it checks before it trains, says when it refuses, and wants."""

from __future__ import annotations

from typing import Literal

import msgspec

from trainrx.model.facts import Scalar
from trainrx.model.knowledge import Family, Fix, LinePattern, Samples
from trainrx.model.parts import Condition, Reference, Status
from trainrx.model.text import Text


class GuardExamples(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Launches the guard refuses and launches it lets pass.

    `versions` are those they run with, `facts` what is known of the job besides (its GPUs).
    """

    violates: tuple[str, ...]
    keeps: tuple[str, ...]
    versions: dict[str, str] = {}
    facts: dict[str, Scalar] = {}


class Guard(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One check of a package on the arguments it was given.

    `effect` reject: it raises; alter: it changes the argument and goes on; warn: it only says so.
    `versions` are PEP 440 ranges of `package`, any of them; empty means every release. `when` holds
    for a launch the check objects to; it is absent where a launch alone cannot tell. `patterns` is
    the message; `symptom` names an entry that reads it already. `cause` names the entry the guard
    is one sign of; without it a guard that rejects is a cause of its own, under its id.
    """

    schema: Literal[1]
    id: str
    package: str
    effect: Literal["reject", "alter", "warn"]
    title: Text
    summary: Text
    status: Status
    since: str
    updated: str
    references: tuple[Reference, ...]
    versions: tuple[str, ...] = ()
    family: Family = "config_error"
    patterns: tuple[LinePattern, ...] = ()
    samples: Samples | None = None
    symptom: str = ""
    cause: str = ""
    when: Condition | None = None
    examples: GuardExamples | None = None
    fixes: tuple[Fix, ...] = ()
    aliases: tuple[str, ...] = ()
