"""What a gate named, thinned out where a log repeats itself: bars, metrics, a stage begun again."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal

import msgspec

from trainrx.evidence.blocks import bounds
from trainrx.evidence.matcher import Candidate, Compiled, Line
from trainrx.model.knowledge import Symptom

Probe = Literal["metrics", "alarm", "bar", "world", "exit", "evaluation", "memory"]
"""alarm: a metric line that must be read even when most are skipped."""

_IS = r" {0,6}#?[=:\[]? {0,6}"
_STEP = rf"(?:step|iter|iteration|batch){_IS}\d"
PROBES: tuple[tuple[Probe, str, str], ...] = (
    ("metrics", "'loss':", r"'loss': ?'?[-\dniN]"),
    ("metrics", '"loss":', r'"loss": ?"?[-\dniN]'),
    (
        "metrics",
        "elapsed time per iteration",
        r"iteration +\d{1,12}/ +\d{1,12} .{0,200}elapsed time",
    ),
    ("metrics", "step:", r"step:\d{1,12} - \w"),
    ("metrics", "loss", rf"(?i){_STEP}{{1,9}}[^\w'\"].{{0,60}}loss{_IS}(?:-?\d|nan|-?inf)"),
    ("metrics", "epoch", rf"(?i)epoch{_IS}\d.{{0,20}}{_STEP}"),
    ("alarm", "loss", rf"(?i)loss{_IS}nan"),
    ("alarm", "loss", r"loss['\"]: ?['\"]?(?:nan|NaN|0\.0[,'\"}]|0[,'\"}])"),
    ("alarm", "grad_norm", r"grad_norm['\"]?: ?['\"]?(?:nan|NaN)"),
    ("evaluation", "eval_runtime", r"eval_runtime['\"]: ?['\"]?\d"),
    ("memory", "max reserved:", r"\(after \d{1,9} iterations\) memory"),
    ("memory", "MaxMemAllocated=", r"MaxMemAllocated=\d"),
    ("bar", "it/s", r"[\d?]it/s[\],]"),
    ("bar", "s/it", r"\ds/it[\],]"),
    ("world", "world_size", r"world_size['\"]?[=:] ?\d"),
    ("world", "nranks", r"nranks \d"),
    ("exit", "exitcode", r"exitcode {0,8}: {0,2}-?\d"),
    ("exit", "return code", r"return code ?[=:]? ?-?\d"),
    ("exit", "exit code", r"exit code:? -?\d"),
)

WORLD = re.compile(r"(?:world_size['\"]?[=:] ?|nranks )(\d{1,6})")
EXIT = re.compile(
    r"exitcode {0,8}: {0,2}(-?\d{1,5})|return code ?[=:]? ?(-?\d{1,5})|exit code:? (-?\d{1,5})"
)


def probes(first: int) -> tuple[tuple[Compiled, Probe], ...]:
    """Compile the probes; their patterns are numbered from `first`."""
    return tuple(
        (Compiled(first + number, -1, needle, regex, probe=True), kind)
        for number, (kind, needle, regex) in enumerate(PROBES)
    )


BARS = 8
"""Progress bars looked at before a hit: those of an evaluation may follow that of the training."""


class Sifted(msgspec.Struct):
    """`rest` is to be looked at line by line; the others come cheaper.

    `steps` are places on metric lines, `bars` on progress bars; `repeats` counts, per signature of
    a stage, the lines that begin the stage the log is in already.
    """

    rest: list[Candidate]
    steps: list[int]
    bars: list[int]
    repeats: Counter[int]


class Sieve:
    """Tells candidates apart by the pattern that found them.

    A log may consist of little else than bars and metrics: these must cost next to nothing.
    """

    def __init__(
        self, patterns: Sequence[Compiled], kinds: Sequence[Probe], symptoms: Sequence[Symptom]
    ) -> None:
        first = len(patterns) - len(kinds)
        self._patterns = patterns
        self._probes: dict[int, Probe] = dict(enumerate(kinds, first))
        self._stages = {
            pattern.index: pattern.symptom
            for pattern in patterns[:first]
            if symptoms[pattern.symptom].role == "phase"
        }

    def sift(
        self,
        places: Mapping[int, list[int]],
        text: bytes,
        *,
        worlds: bool,
        told: AbstractSet[int] = frozenset(),
    ) -> Sifted:
        """Split up the candidates of a block.

        `worlds`: whether the world size is still wanted; `told`: signatures that are not any more.
        """
        apart: dict[Probe, list[int]] = {"metrics": [], "bar": [], "world": []}
        candidates: list[Candidate] = []
        for number, ats in places.items():
            kind = self._probes.get(number)
            if kind in apart and not (kind == "world" and worlds):
                apart[kind] += ats
            elif kind is not None or self._patterns[number].symptom not in told:
                candidates += [(at, number) for at in ats]
        candidates.sort()
        found = Sifted([], sorted(apart["metrics"]), sorted(apart["bar"]), Counter())
        self._thin_out(candidates, text, found)
        return found

    def _thin_out(self, candidates: Sequence[Candidate], text: bytes, found: Sifted) -> None:
        """Count the lines that begin a stage again; the others are to be looked at."""
        stage, stage_end, again, step = -1, -1, False, 0
        steps = found.steps
        for at, number in candidates:
            begun = self._stages.get(number, -1)
            if begun >= 0:
                passed = bisect_left(steps, at, step)
                if passed > step:
                    stage, again, step = -1, False, passed
                if at > stage_end or begun != stage:
                    end = self._begins(number, at, text)
                    again = begun == stage and end >= 0
                    found.repeats[begun] += again
                    if end >= 0:
                        stage, stage_end = begun, end
                if again and begun == stage:
                    continue
            found.rest.append((at, number))

    def _begins(self, number: int, at: int, text: bytes) -> int:
        """Give the end of the line if the stage really begins there, else -1."""
        start, end = bounds(text, at)
        return end if self._patterns[number].search(Line(text[start:end])) is not None else -1
