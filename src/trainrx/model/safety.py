"""What a remedy may not be called: the rules of `kb/safety.yaml`."""

from __future__ import annotations

import msgspec

from trainrx.model.facts import Scalar
from trainrx.model.parts import Safety
from trainrx.model.text import Text

GRAVITY: dict[Safety, int] = {
    "safe": 0,
    "costs": 1,
    "changes-results": 2,
    "manual": 2,
    "destructive": 3,
}
"""From mild to grave; what a person decides by hand may be anything but a destruction."""


QUALITY: dict[Safety, int] = {
    "safe": 0,
    "costs": 0,
    "changes-results": 2,
    "manual": 2,
    "destructive": 3,
}
"""Grades of `Price.quality` where no lever gives one."""
BY_HAND: frozenset[Safety] = frozenset({"manual", "destructive"})
"""What no edit and no patch does."""


def graver(one: Safety, other: Safety) -> Safety:
    """Give the graver of two classes, the first where they weigh the same."""
    return other if GRAVITY[other] > GRAVITY[one] else one


class SafetyRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The class of remedies that touch some parameters or arguments, or tell to run some commands.

    `values` narrow it to settings of them; `commands` are patterns. The class does not hold where a
    remedy sets one of `kept_with` too beside another parameter, or is one of `except`
    (entry/remedy).
    """

    id: str
    class_: Safety = msgspec.field(name="class")
    why: Text
    parameters: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    values: tuple[Scalar, ...] = ()
    commands: tuple[str, ...] = ()
    kept_with: tuple[str, ...] = ()
    except_: tuple[str, ...] = msgspec.field(default=(), name="except")
