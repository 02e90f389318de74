"""Readings of one quantity over the steps or the time of a job."""

from __future__ import annotations

from typing import Literal

import msgspec

from trainrx.model.facts import Origin

Quantity = Literal["memory", "allocated", "host-memory", "utilisation", "step-time"]
Shape = Literal["flat", "staircase", "linear", "jump", "fragmentation", "evaluation"]
"""How memory develops.

staircase: it rises where a larger sample than before comes; linear: by as much each step; jump:
once; fragmentation: what is reserved grows away from what is used; evaluation: where one begins.
"""


class Curve(msgspec.Struct, frozen=True, kw_only=True):
    """Readings of one quantity, in order.

    Attributes:
        at: where each was taken, in steps, in seconds, or counted, as `by` says.
        values: memory in GiB, utilisation in per cent, times in seconds.
        lines: of the source, of each reading.
        unit: what it is of; number: which of them, None where it is not known.
        evaluations: where evaluations were, as in `at`.
        limit: the most there can be, None where it is not known.
    """

    quantity: Quantity
    source: str
    at: tuple[float, ...]
    values: tuple[float, ...]
    lines: tuple[int, ...]
    by: Literal["step", "second", "reading"] = "step"
    unit: Literal["rank", "card", "process", "machine"] = "rank"
    number: int | None = None
    evaluations: tuple[float, ...] = ()
    limit: float | None = None

    @property
    def origins(self) -> tuple[Origin, ...]:
        """Cite the first and the last reading."""
        ends = dict.fromkeys(self.lines[:1] + self.lines[-1:])
        return tuple(Origin(source=self.source, line=line) for line in ends)

    def since_last_start(self) -> Curve:
        """Leave out what was read before the job was started last: steps count from 1 again."""
        starts = [at for at in range(1, len(self.at)) if self.at[at] < self.at[at - 1]]
        if not starts:
            return self
        first = starts[-1]
        return msgspec.structs.replace(
            self, at=self.at[first:], values=self.values[first:], lines=self.lines[first:]
        )
