"""What a failure is grouped by: its cause, its framework and where it happened.

A fingerprint is `VERSION:DIGEST`. Another way of grouping is another version; the ways before it
stay here, so that a group somebody has named keeps its name and goes on growing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from trainrx.fleet.record import JobAnswer

DIGEST_BYTES = 8
LONGEST_SITE = 512
_QUOTED = re.compile(r"'[^']{0,200}'|\"[^\"]{0,200}\"")
_ADDRESS = re.compile(r"0x[0-9a-f]+|(?<![0-9a-z])[0-9a-f]{8,64}(?![0-9a-z])")
_NUMBER = re.compile(r"[0-9]+")
_SPACE = re.compile(r"\s+")


NO_FAILURE = frozenset({"", "healthy", "no_problem_foreseen", "at_risk", "will_not_fit"})
"""Verdicts of jobs that did not fail, or of which nothing was seen; `will_fail` names a cause."""


class FailureKey(NamedTuple):
    """What of an answer is grouped by.

    Attributes:
        cause: the id of the likeliest cause; of a failure nobody can name its symptom.
        framework: what trains.
        stage: what the job was at.
        place: the innermost call, or the collective its ranks wait in.
    """

    cause: str
    framework: str
    stage: str
    place: str


Algorithm = Callable[[FailureKey], str]


def failure_of(answer: JobAnswer) -> FailureKey | None:
    """Give what an answer is grouped by; None where the job did not fail."""
    if answer.outcome not in ("answered", "unknown") or answer.verdict in NO_FAILURE:
        return None
    if answer.causes:
        cause = answer.causes[0][0]
    elif answer.symptoms:
        cause = f"symptom:{answer.symptoms[0]}"
    else:
        return None
    site = answer.site
    return FailureKey(cause, answer.framework, site.stage, site.frame or site.collective)


def _first(failure: FailureKey) -> str:
    """Group by cause, framework and site, without rank, node, time, address or number."""
    return "\0".join(_without_numbers(part) for part in failure)


ALGORITHMS: Mapping[int, Algorithm] = MappingProxyType({1: _first})
"""The ways there have been to group, by version; the last one names new groups."""


def fingerprint(answer: JobAnswer) -> str:
    """Name the failure of an answer as the newest way of grouping does; "" where there is none."""
    failure = failure_of(answer)
    return "" if failure is None else fingerprints(failure)[-1]


def fingerprints(
    failure: FailureKey, algorithms: Mapping[int, Algorithm] = ALGORITHMS
) -> tuple[str, ...]:
    """Name a failure in every way there has been, the oldest first."""
    return tuple(
        f"{version}:{_digest(algorithm(failure))}"
        for version, algorithm in sorted(algorithms.items())
    )


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=DIGEST_BYTES).hexdigest()


def _without_numbers(text: str) -> str:
    shown = text[:LONGEST_SITE].lower()
    for pattern, put in ((_QUOTED, "_"), (_ADDRESS, "_"), (_NUMBER, "#"), (_SPACE, " ")):
        shown = pattern.sub(put, shown)
    return shown.strip()
