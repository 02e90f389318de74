"""When a job stands still: no sign of progress on any rank for many times its usual step.

The clock is passed in: the same events give the same judgement, live or from a file.
"""

from __future__ import annotations

from collections import deque
from typing import Literal

import msgspec

Sign = Literal["line", "step", "work"]
"""line: a process printed something; step: a step of the training was done; work: something else
that is counted goes on, such as an evaluation."""
RECENT = 33
"""Last pauses between steps of which the middle one is the usual."""


class StallRule(msgspec.Struct, frozen=True, kw_only=True):
    """How long a silence may last.

    Attributes:
        factor: usual steps.
        least: seconds, however short a step is: saving and evaluating take longer.
        starting: seconds until the first step: loading, tokenising, compiling.
        talking: seconds without a step where the job still prints lines.
        overcome: times the longest pause that was overcome: an evaluation may come again.
    """

    factor: float = 10.0
    least: float = 300.0
    starting: float = 1800.0
    talking: float = 3600.0
    overcome: float = 2.0


class Stall(msgspec.Struct, frozen=True, kw_only=True):
    """A job that stands still since the last sign of progress, at `since`.

    Attributes:
        silent: seconds since then.
        allowed: seconds that would have been no stall.
        usual: seconds from one step to the next; None where none was seen.
        last: the ranks that have been silent the longest, of those that ever gave a sign.
    """

    since: float
    silent: float
    allowed: float
    usual: float | None = None
    last: tuple[int, ...] = ()


class StallWatch:
    """What is known of the progress of a job; tell it what was seen, then ask it.

    Args:
        started: when the job was first looked at.
        rule: how long a silence may last.
    """

    def __init__(self, started: float, rule: StallRule | None = None) -> None:
        self.rule = rule or StallRule()
        self.ended = False
        self._line = started
        self._step = started
        self._stepped = False
        self._pauses: deque[float] = deque(maxlen=RECENT)
        self._longest = 0.0
        self._expected: float | None = None
        self._ranks: dict[int, float] = {}

    def expect(self, seconds: float | None) -> None:
        """Take what the job itself says of the time from one logged step to the next."""
        if seconds is not None and seconds > 0:
            self._expected = seconds

    def see(self, at: float, sign: Sign, rank: int | None = None) -> None:
        """Take a sign of progress; a step is a sign of the whole job, whoever did it."""
        self._line = max(self._line, at)
        if rank is not None:
            self._ranks[rank] = max(self._ranks.get(rank, at), at)
        if sign == "work" and self._stepped:
            self._step = max(self._step, at)
        if sign == "step":
            pause = at - self._step
            if self._stepped and pause > 0:
                self._pauses.append(pause)
                self._longest = max(self._longest, pause)
            self._step = max(self._step, at)
            self._stepped = True

    def end(self) -> None:
        """Take it that the job is over: what is over does not stand still."""
        self.ended = True

    def resume(self) -> None:
        """Take it that the job goes on, or was started again."""
        self.ended = False

    @property
    def usual(self) -> float | None:
        """Give the seconds from one step to the next, as seen or else as the job says."""
        if self._pauses:
            return max(sorted(self._pauses)[len(self._pauses) // 2], self._expected or 0.0)
        return self._expected

    def allowed(self) -> float:
        """Give the seconds without any sign that are no stall."""
        if not self._stepped and self._expected is None:
            return max(self.rule.starting, self.rule.least)
        rule = self.rule
        return max(rule.least, rule.factor * (self.usual or 0.0), rule.overcome * self._longest)

    def stall(self, now: float) -> Stall | None:
        """Say whether the job stands still now, and since when."""
        if self.ended:
            return None
        allowed = self.allowed()
        since = self._line
        if self._stepped and now - since <= allowed:
            since, allowed = self._step, max(allowed, self.rule.talking)
        if now - since <= allowed:
            return None
        return Stall(
            since=since,
            silent=now - since,
            allowed=allowed,
            usual=self.usual,
            last=self._longest_silent(),
        )

    def _longest_silent(self) -> tuple[int, ...]:
        """Give the ranks whose last sign is older than that of the others by more than a step."""
        if len(self._ranks) < 2:
            return ()
        newest, oldest = max(self._ranks.values()), min(self._ranks.values())
        near = max(self.usual or 0.0, 1.0)
        if newest - oldest <= near:
            return ()
        return tuple(sorted(rank for rank, at in self._ranks.items() if at <= oldest + near))
