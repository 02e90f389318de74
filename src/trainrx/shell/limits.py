"""What reading one script may cost: a script is data from strangers."""

from __future__ import annotations

MAX_TEXT = 128 * 1024
"""Characters of a script that are read; published launch scripts have at most a few thousand."""
MAX_VALUE = 64 * 1024
"""Characters one variable or word may grow to."""
MAX_DEPTH = 24
"""Nesting of compound commands, of expansions, of scripts within scripts (real ones: under 8)."""
MAX_ITERATIONS = 16
"""Rounds of a loop over literals that are followed."""
MAX_DEFECTS = 200
"""Defects of one script that are reported."""


class TooMuch(Exception):  # noqa: N818  # control flow inside the package, never seen outside
    """The script asks for more work or nesting than it is allowed."""


class Budget:
    """A count of work units, about two microseconds each, so that a script always gets as far.

    `seconds` are for the grammar, whose work cannot be counted; an honest script needs a hundredth.
    """

    def __init__(self, units: int, seconds: float = 0.5) -> None:
        self._left = units
        self.seconds = seconds

    def spend(self, units: int = 1) -> None:
        """Take units.

        Raises:
            TooMuch: Nothing is left.
        """
        self._left -= units
        if self._left < 0:
            raise TooMuch("more work than a launch script needs")
