"""miles, a fork of slime: https://github.com/radixark/miles."""

from __future__ import annotations

from trainrx.frameworks.base import Framework


class Miles(Framework):
    """miles."""

    name = "miles"
    fork_of = "slime"
    builds_on = ("slime",)


FRAMEWORK = Miles()
