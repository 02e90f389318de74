"""Unsloth, scripts of one's own on TRL: https://github.com/unslothai/unsloth."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from trainrx.frameworks.base import Framework
from trainrx.frameworks.trl import FRAMEWORK as TRL


class Unsloth(Framework):
    """Unsloth."""

    name = "unsloth"
    folders = ("unsloth",)
    spelled = True
    library = True
    own_adapters = True
    builds_on = ("trl",)
    lineage = ("trl", "transformers")

    def in_python(self, classes: Sequence[str], imports: Collection[str]) -> str | None:
        """A program that imports it trains with its patches."""
        if self.name not in imports:
            return None
        return TRL.in_python(classes, imports) or "train"

    stands_by = ("transformers", "trl")


FRAMEWORK = Unsloth()
