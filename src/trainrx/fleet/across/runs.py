"""Answers as runs that can be compared: who ran where with what, and whether it went well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from trainrx.fleet.record import AnswerSummary

Axis = Literal["node", "version", "image", "card"]
AXES: tuple[Axis, ...] = ("node", "version", "image")
WELL = "healthy"
FAILED = frozenset({"diagnosed", "suspected", "unknown"})
ANY = ""
"""The kind of a failure that may be any."""
NAMELESS = "?"
"""The kind of a failure nobody can name."""


class RanJob(NamedTuple):
    """A job that ran.

    Attributes:
        answer: to it.
        kind: the likeliest cause of its failure; None where it went well.
    """

    answer: AnswerSummary
    kind: str | None


def runs_of(answers: Iterable[AnswerSummary]) -> list[RanJob]:
    """Give the jobs of which it is known whether they failed, repeated failures folded."""
    known = [RanJob(one, _kind(one)) for one in answers if _ran(one)]
    return list(_folded(known))


def failed(answer: AnswerSummary) -> bool:
    """Tell whether a job ran and failed."""
    return _ran(answer) and answer.verdict in FAILED


def _ran(answer: AnswerSummary) -> bool:
    """Tell whether an answer says how a job went, not only how it would go."""
    return answer.outcome in ("answered", "unknown") and answer.verdict in {WELL, *FAILED}


def _kind(answer: AnswerSummary) -> str | None:
    if answer.verdict == WELL:
        return None
    return answer.causes[0][0] if answer.causes else NAMELESS


def _folded(runs: Iterable[RanJob]) -> Iterator[RanJob]:
    """Count a launch that fails the same way whenever it is started as one failure.

    Somebody starts a broken launch thirty times: that is one piece of evidence against the node it
    lands on, not thirty. A launch that also went well somewhere counts each time.
    """
    runs = list(runs)
    sound = {run.answer.launch_digest for run in runs if run.kind is None}
    seen: set[tuple[str, ...]] = set()
    for run in runs:
        digest = run.answer.launch_digest
        if run.kind is not None and digest and digest not in sound:
            named = (digest, run.kind, run.answer.fingerprint)
            if named in seen:
                continue
            seen.add(named)
        yield run


def subjects(run: RanJob, axis: Axis) -> Iterator[tuple[str, str]]:
    """Give what of an axis a run is on, each with what it is compared within: a package."""
    answer = run.answer
    if axis == "node":
        yield from (("", node) for node in dict.fromkeys(answer.nodes))
    elif axis == "image" and answer.image:
        yield "", answer.image
    elif axis == "version":
        yield from answer.versions.items()
