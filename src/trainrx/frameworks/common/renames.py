"""Names of models, templates, data sets and modules that changed with a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from trainrx.model.job import RawLaunch
from trainrx.model.text import Text

Given: TypeAlias = Mapping[str, Sequence[str] | None]
"""All arguments of a launch, by name."""


class RenamedValues(NamedTuple):
    """What values become: the words, further `name=value` arguments, and what to know.

    `words` None: the argument goes; its meaning is in `more` or needs no word.
    """

    words: tuple[str, ...] | None
    more: tuple[str, ...] = ()
    note: Text | None = None
    lost: bool = False
    source: str = ""


class ValueRenames(Protocol):
    """A module that knows both sides of the release at which the names changed."""

    SINCE: str
    """The first release with the new ones."""
    TEMPLATE_OF_TYPE: Text
    TYPE_FROM_CONFIG: Text
    DEFAULT_MODULES: Text

    def forwards(
        self, name: str, values: Sequence[str], given: Given, *, hub: str
    ) -> RenamedValues | None:
        """Say what values before it are since; None where they are the same words."""

    def backwards(self, name: str, values: Sequence[str], given: Given) -> RenamedValues | None:
        """Say what values since then were before."""

    def is_old_type(self, name: str) -> bool:
        """Tell whether a type of model is one of before, and not of since."""

    def template_of(self, name: str) -> str:
        """Give the template a type of model brought along, "" for none."""

    def hub_of(self, launch: RawLaunch) -> str:
        """Tell where models come from: `hf` or `ms`."""

    def default_modules(self, given: Given) -> tuple[str, ...]:
        """Give the modules LoRA was given before where none are named; () when not known."""
