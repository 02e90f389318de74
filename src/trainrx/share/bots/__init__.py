"""Bots of chats: what they answer, and one adapter for each platform, found by its name."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Protocol, cast

from trainrx.render import markup

if TYPE_CHECKING:
    from trainrx.share.bots.core import Core

FORGES = frozenset(("github", "gitlab"))
"""Platforms whose bots run where the forge runs them, and answer no connection."""


class Adapter(Protocol):
    """A module that speaks with one platform.

    Attributes:
        VARIABLES: of the environment, which hold what it shows the platform.
    """

    VARIABLES: tuple[str, ...]

    async def run(self, core: Core, environment: Mapping[str, str]) -> None:
        """Answer until it is told to stop."""

    async def check(self, environment: Mapping[str, str]) -> tuple[str, ...]:
        """Say what is missing: permissions, settings; nothing is sent to anybody."""


def load(name: str) -> Adapter:
    """Give the adapter of a platform; the SDK it works with may be missing (ImportError)."""
    return cast("Adapter", import_module(f"{__name__}.{name}"))


def names() -> tuple[str, ...]:
    """Name the chats."""
    found = {module.name for module in iter_modules(__path__)}
    return tuple(sorted(found & set(markup.names()) - FORGES))
