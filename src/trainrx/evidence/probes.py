"""What we look for in every log besides the signatures: metrics, progress, ranks, exit codes."""

from __future__ import annotations

import re
from typing import Literal

from trainrx.evidence.matcher import Compiled

Probe = Literal["metrics", "alarm", "bar", "collective", "world", "exit"]
"""alarm: a metric line that must be read even when most are skipped."""

PROBES: tuple[tuple[Probe, str, str], ...] = (
    ("metrics", "'loss':", r"'loss': ?'?[-\dniN]"),
    ("metrics", '"loss":', r'"loss": ?"?[-\dniN]'),
    (
        "metrics",
        "elapsed time per iteration",
        r"iteration +\d{1,12}/ +\d{1,12} .{0,200}elapsed time",
    ),
    ("metrics", "step:", r"step:\d{1,12} - \w"),
    ("alarm", "loss", r"loss['\"]: ?['\"]?(?:nan|NaN|0\.0[,'\"}]|0[,'\"}])"),
    ("alarm", "grad_norm", r"grad_norm['\"]?: ?['\"]?(?:nan|NaN)"),
    ("bar", "it/s", r"[\d?]it/s[\],]"),
    ("bar", "s/it", r"\ds/it[\],]"),
    ("collective", "WorkNCCL(", r"WorkNCCL\(SeqNum=\d"),
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
