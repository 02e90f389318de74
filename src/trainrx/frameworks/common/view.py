"""What the rules for computed arguments may look at, and how they judge what is not known."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Final, Protocol, TypeAlias

from trainrx.model.catalog import Value

Truth: TypeAlias = bool | None
"""None: not known."""


class Unknown(enum.Enum):
    """The value of an argument that depends on something that is not known."""

    UNKNOWN = "unknown"


UNKNOWN: Final = Unknown.UNKNOWN
Held: TypeAlias = Value | Unknown
Worked: TypeAlias = Mapping[str, Held]
"""Argument name to the value the framework gives it after parsing."""


class ArgumentView(Protocol):
    """One launch: its arguments as parsed, and what else the framework would see."""

    @property
    def command(self) -> str:
        """Sub-command of the framework."""

    @property
    def world_size(self) -> int | None:
        """Processes of the whole job; None when not known."""

    @property
    def distributed(self) -> Truth:
        """Whether a launcher starts the processes, be it one."""

    @property
    def model(self) -> Mapping[str, Value] | None:
        """config.json of the model; None when it is not at hand."""

    def has(self, name: str) -> bool:
        """Tell whether the command takes an argument of this name."""

    def get(self, name: str) -> Held:
        """Give the value as parsed: given, or the declared default."""

    def given(self, name: str) -> bool:
        """Tell whether the launch sets an argument."""

    def since(self, release: str) -> Truth:
        """Tell whether the framework is of this release or a later one."""

    def package_since(self, package: str, release: str) -> Truth:
        """Tell the same of another package."""

    def env(self, name: str) -> str | Unknown | None:
        """Give an environment variable; None when it is not set."""


def both(*parts: Truth) -> Truth:
    """Tell whether all hold."""
    if any(part is False for part in parts):
        return False
    return None if any(part is None for part in parts) else True


def either(*parts: Truth) -> Truth:
    """Tell whether one of them holds."""
    if any(part is True for part in parts):
        return True
    return None if any(part is None for part in parts) else False


def negate(part: Truth) -> Truth:
    """Turn true and false around."""
    return None if part is None else not part
