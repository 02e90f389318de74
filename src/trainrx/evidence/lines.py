"""What the start of a log line tells: which rank or worker printed it, and when."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timezone

from trainrx.model.pattern import late

HEAD = 240
"""Characters of a line in which labels and stamps are looked for."""

LABEL = late(r"\[rank(\d{1,5})\]|^\s?\[default(\d{1,5})\]:|^\[\d+,(\d{1,5})\]<std")
INNER = late(r"\[[Rr]ank[: ]\s?(\d{1,5})\]|\bRank (\d{1,5})\]")
HOST = late(r"\[host ([^\]\n]{1,160})\]: ")
"""Which of several sources printed a line (inputs.wrappers); no part of what it printed."""
WORKER = late(r"\(((?:[A-Za-z_][\w.]{0,60}(?: [\w/]{1,20})? )?pid=\d{1,10}(?:, ip=[\w.:]{2,45})?)")

STAMP = late(
    r"(?<!\d)(?:(?P<year>20\d\d)[-/](?P<month>\d\d)[-/](?P<day>\d\d)[T ]"
    r"(?P<clock>\d\d:\d\d:\d\d)(?:[.,](?P<part>\d{1,9}))?"
    r"|[IWEF](?P<gday>\d{4}) (?P<gclock>\d\d:\d\d:\d\d)(?:\.(?P<gpart>\d{1,9}))?"
    r"|(?P<vmonth>\d\d)-(?P<vday>\d\d) (?P<vclock>\d\d:\d\d:\d\d))(?!\d)"
)
NEAR = 300
"""Lines above an unstamped one that may lend it their stamp."""
NO_YEAR = 2000
"""Stands for the year where a stamp has none (glog, vLLM); a leap year, so that each day exists."""

PREFIX = late(
    r"(?:\[host [^\]]{1,160}\]: "
    r"|\s?\[rank\d+\]:\s?|\s?\[default\d+\]:"
    r"|\((?:\w[\w.]*(?: [\w/]{1,20})? )?pid=\d+[^)]{0,80}\)\s?"
    r"|\[\d+,\d+\]<std(?:err|out)>:?\s?"
    r"|[\w.-]{1,64}: (?=\[rank)"
    r"|(?:ERROR|WARNING|INFO) \d\d-\d\d \d\d:\d\d:\d\d \[[^\]]{0,80}\] ?"
    r"|\[?20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,]?\d{0,9}Z?\]? ?)"
)
RANK_IN_PATH = (
    late(r"attempt_\d+/(\d{1,5})/std(?:err|out)\.log"),
    late(r"(?:^|[/_.-])rank[_-]?(\d{1,5})(?:\D|$)", re.IGNORECASE),
    late(r"slurm-\d+_(\d{1,5})\.(?:out|err|log)"),
)


def path_rank(name: str) -> int | None:
    """Give the rank a per-rank log belongs to by its path, or None."""
    for pattern in RANK_IN_PATH:
        found = pattern.search(name)
        if found is not None:
            return int(found[1])
    return None


def rank_of(line: str) -> int | None:
    """Give the rank a line names as its own, or None."""
    head = line[:HEAD]
    if "ank" not in head and "[" not in head[:2]:
        return None
    for pattern in (LABEL, INNER):
        found = pattern.search(head)
        if found is not None:
            return int(found[found.lastindex or 1])
    return None


def speaker(line: str) -> str:
    """Name who printed a line, so that lines of one traceback can be told from those between."""
    head = line[:HEAD]
    if "[" not in head and "pid=" not in head:
        return ""
    host = HOST.match(head)
    where = host[1] if host is not None else ""
    found = LABEL.search(head)
    if found is not None:
        return where + found[found.lastindex or 1]
    worker = WORKER.search(head) if "pid=" in head else None
    return where + worker[1] if worker is not None else where


def bare(line: str) -> str:
    """Take labels and stamps off the front of a line."""
    for _ in range(4):
        found = PREFIX.match(line)
        if found is None:
            break
        line = line[found.end() :]
    return line


def seconds(line: str) -> float | None:
    """Give the time stamp of a line in seconds; stamps without a year all count from one year."""
    found = STAMP.search(line[:HEAD])
    return None if found is None else _seconds(found)


def last_seconds(lines: Sequence[str]) -> float | None:
    """Give the time stamp of the last line that has one, among the nearest lines."""
    for line in reversed(lines[-NEAR:]):
        at = seconds(line)
        if at is not None:
            return at
    return None


def _seconds(found: re.Match[str]) -> float | None:
    month = found["month"] or found["vmonth"] or (found["gday"] or "")[:2]
    day = found["day"] or found["vday"] or (found["gday"] or "")[2:]
    clock = found["clock"] or found["gclock"] or found["vclock"]
    hour, minute, second = (int(part) for part in clock.split(":"))
    try:
        moment = datetime(NO_YEAR, int(month), int(day), hour, minute, second, tzinfo=timezone.utc)
    except ValueError:
        return None
    part = found["part"] or found["gpart"]
    return moment.timestamp() + (float(f"0.{part}") if part else 0.0)
