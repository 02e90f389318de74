"""What the inference engine concluded, as the ranking reads it."""

from __future__ import annotations

import msgspec

from trainrx.model.facts import Fact
from trainrx.model.text import Text


class Truth(msgspec.Struct, frozen=True, kw_only=True):
    """The three-valued truth of a condition and the facts that decided it."""

    holds: bool | None
    facts: tuple[Fact, ...] = ()


class Vote(msgspec.Struct, frozen=True, kw_only=True):
    """A rule's vote for (weight > 0) or against a cause, in nats, and the facts it matched."""

    rule: str
    cause: str
    weight: float
    why: Text
    group: str
    facts: tuple[Fact, ...] = ()


class Explained(msgspec.Struct, frozen=True, kw_only=True):
    """One thing follows from another: two symptom facts, or two cause ids."""

    rule: str
    effect: Fact | str
    by: Fact | str


class Reasoning(msgspec.Struct, frozen=True, kw_only=True):
    """All conclusions; `engine` really ran, `notes` say when it is not the default one."""

    facts: tuple[Fact, ...]
    truths: dict[str, Truth]
    votes: tuple[Vote, ...] = ()
    explained: tuple[Explained, ...] = ()
    asks: tuple[str, ...] = ()
    engine: str = ""
    notes: tuple[str, ...] = ()
