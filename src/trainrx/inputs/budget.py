"""What of the budgets of a request is left: parts of parts draw on the same."""

from __future__ import annotations

import time

from trainrx.model.limits import LIMITS, ReadingLimits


class Allowance:
    """What may still be spent, by all inputs together.

    Attributes:
        passed: files that were passed over as nothing was left for them.
    """

    def __init__(self, limits: ReadingLimits) -> None:
        self.held = limits.held
        self.members = limits.members
        self.files = limits.files
        self.unpacked = limits.unpacked
        self.plain = limits.plain
        self.passed = 0
        self._until = time.process_time() + limits.seconds

    @property
    def is_timely(self) -> bool:
        """Tell whether the processor has time left for reading."""
        return time.process_time() < self._until


class ReadingBudget:
    """What reading an input may take.

    Attributes:
        limits: of each input, and of all.
        left: what all inputs have left.
        depth: how many archives and mails this one lies in.
        sharing: how many inputs there may be that are packed.
    """

    def __init__(
        self,
        limits: ReadingLimits = LIMITS,
        *,
        left: Allowance | None = None,
        depth: int = 0,
        sharing: int = 1,
    ) -> None:
        self.limits = limits
        self.left = left or Allowance(limits)
        self.depth = depth
        self.sharing = sharing

    def inside(self) -> ReadingBudget:
        """Give the budget of what lies in an input."""
        return ReadingBudget(
            self.limits, left=self.left, depth=self.depth + 1, sharing=self.sharing
        )

    def shared(self, count: int) -> ReadingBudget:
        """Give the budget of each of several inputs."""
        sharing = self.sharing * max(count, 1)
        return ReadingBudget(self.limits, left=self.left, depth=self.depth, sharing=sharing)
