"""Levers: what can be changed of a job and what that costs; and what frameworks refuse."""

from __future__ import annotations

from typing import Literal

import msgspec

from trainrx.model.facts import Scalar
from trainrx.model.knowledge import Amount, Family, Fix, LinePattern, Samples
from trainrx.model.parts import Condition, Reference
from trainrx.model.planning import Price
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


class LeverStep(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One position of a lever: canonical parameters with their values, and its price.

    A parameter the framework has no word for makes the step impossible, but for those of `also`,
    which are set where there is a word. Those of `written` are written down even where they are so
    by default.
    """

    set: dict[str, Scalar | Amount]
    price: Price
    also: dict[str, Scalar | Amount] = {}
    written: tuple[str, ...] = ()
    when: Condition | None = None
    ref: str = ""


class Beside(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A command that has to run beside the job, for some versions (PEP 440) of a framework.

    `{model}` is the model of the job, `{gpus}` the devices its processes leave, `{count}` how many
    those are.
    """

    framework: str
    versions: str
    command: str


class Lever(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something to pull: at most one of its steps is taken, the mildest first.

    `when` must hold of the job; unknown is not enough. `unless` must not hold. `frameworks` limits
    it to ranges of versions (PEP 440) of some; empty means all that have the words for it.
    `excludes` names levers that do not go together with it. Where there is something in `beside`, a
    step is only taken with one of its commands.
    """

    schema: Literal[1]
    id: str
    title: Text
    why: Text
    since: str
    updated: str
    steps: tuple[LeverStep, ...]
    references: tuple[Reference, ...]
    when: Condition | None = None
    unless: Condition | None = None
    frameworks: dict[str, str] = {}
    excludes: tuple[str, ...] = ()
    beside: tuple[Beside, ...] = ()
    aliases: tuple[str, ...] = ()
