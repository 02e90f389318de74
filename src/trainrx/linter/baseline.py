"""Findings that were there before: a file of them, so that only new ones are told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Literal

import msgspec

from trainrx.model.errors import UsageError
from trainrx.model.findings import Finding

Line = Callable[[str, int | None], str]
"""Gives a line of a file by its number, "" when there is none."""


class Kept(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, order=True):
    """Findings of one rule in lines of one text; lines may move, so their numbers do not count."""

    file: str
    rule: str
    text: str
    count: int = 1


class Baseline(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All findings that were there."""

    version: Literal[1] = 1
    findings: tuple[Kept, ...] = ()


def baseline_of(findings: Iterable[Finding], line: Line) -> str:
    """Write findings down as JSON, in a fixed order."""
    counts = Counter(_key(item, line) for item in findings)
    kept = (Kept(file=f, rule=r, text=t, count=n) for (f, r, t), n in counts.items())
    data = msgspec.json.encode(Baseline(findings=tuple(sorted(kept))))
    return msgspec.json.format(data, indent=2).decode() + "\n"


def read_baseline(text: str, name: str) -> Baseline:
    """Read what `baseline_of` wrote.

    Raises:
        UsageError: it is none.
    """
    try:
        return msgspec.json.decode(text, type=Baseline)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        said = f"{name}: is no baseline ({error}): write one with --write-baseline {name}"
        raise UsageError(said) from error


def new_ones(findings: Iterable[Finding], held: Baseline, line: Line) -> tuple[list[Finding], int]:
    """Leave out what the baseline holds; give what is new and how many were left out."""
    left = Counter({(kept.file, kept.rule, kept.text): kept.count for kept in held.findings})
    fresh: list[Finding] = []
    gone = 0
    for item in findings:
        key = _key(item, line)
        if left[key] > 0:
            left[key] -= 1
            gone += 1
        else:
            fresh.append(item)
    return fresh, gone


def _key(item: Finding, line: Line) -> tuple[str, str, str]:
    text = " ".join(line(item.file, item.line).split())
    return item.file.replace("\\", "/"), item.rule, text
