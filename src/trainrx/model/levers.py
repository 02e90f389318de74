"""Levers: what can be changed of a job to make it fit, and what each change costs."""

from __future__ import annotations

from typing import Literal

import msgspec

from trainrx.model.facts import Scalar
from trainrx.model.knowledge import Amount
from trainrx.model.parts import Condition, Reference, Status
from trainrx.model.planning import Price
from trainrx.model.text import Text


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
    status: Status
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
