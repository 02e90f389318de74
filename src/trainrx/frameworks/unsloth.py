"""Unsloth, scripts of one's own on TRL: https://github.com/unslothai/unsloth."""

from __future__ import annotations

from trainrx.frameworks.base import Framework


class Unsloth(Framework):
    """Unsloth."""

    name = "unsloth"
    spelled = True
    library = True
    builds_on = ("trl",)

    stands_by = ("transformers", "trl")


FRAMEWORK = Unsloth()
