"""AReaL: https://github.com/inclusionAI/AReaL."""

from __future__ import annotations

from trainrx.frameworks.base import Framework


class Areal(Framework):
    """AReaL."""

    name = "areal"
    folders = ("areal",)


FRAMEWORK = Areal()
