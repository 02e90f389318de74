"""The verdict on a launch that has not run: what refuses it, what it takes, what is foreseen."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from trainrx.diagnosis.conclusion import Conclusion
from trainrx.linter.given import ESTIMATED
from trainrx.model.findings import Finding
from trainrx.model.memory import Prediction, Refusal
from trainrx.model.result import CauseOut, Diagnosis, Verdict

ASIDE = frozenset({"secret-in-script", "unused-ignore"})
"""Warnings that say nothing of how the run goes."""


def was_seen(done: Conclusion, found: Diagnosis) -> bool:
    """Tell whether anything of a run was seen: a log, a note, or what a reply says."""
    return bool(done.given.logs or done.given.notes or found.symptoms)


class Foreseen(NamedTuple):
    """What is known of a launch before it runs.

    `rules` are those of lint itself, without the checks of frameworks. `recognised`: a training
    command was read.
    """

    findings: Sequence[Finding]
    rules: Container[str]
    causes: Sequence[CauseOut]
    memory: Prediction | Refusal
    recognised: bool


def preflight(known: Foreseen) -> Verdict:
    """Join lint, memory and foreseen causes into one verdict.

    What refuses a launch does so while it parses its arguments, imports its packages or sets itself
    up: before memory matters, so that goes first. That the job does not fit is what `estimate` says
    of the same launch and card. Unknown is not called free of problems, nor is a launch of which
    `estimate` cannot say whether it fits the card that is named.
    """
    errors = {item.rule for item in known.findings if item.severity == "error"}
    if errors - ESTIMATED:
        return "will_fail"
    fit = None if isinstance(known.memory, Refusal) else known.memory.verdict
    if errors or fit == "does-not-fit":
        return "will_not_fit"
    warned = any(_is_of_consequence(item, known.rules) for item in known.findings)
    if known.causes or fit == "tight" or warned:
        return "at_risk"
    told = known.recognised and fit != "cannot-say"
    return "no_problem_foreseen" if told else "unknown"


def _is_of_consequence(item: Finding, rules: Container[str]) -> bool:
    """Tell whether the run may suffer: with what a package alters, it goes on."""
    return item.severity == "warning" and item.rule in rules and item.rule not in ASIDE
