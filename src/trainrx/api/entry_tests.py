"""Run the tests that stand beside causes and rules (`<id>.test.yaml`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from trainrx.api.reason import reason_on
from trainrx.detect import detect
from trainrx.fix.plan import Target, plan
from trainrx.kb.conditions import facts_of
from trainrx.kb.store import Knowledge
from trainrx.kb.yaml12 import read_yaml
from trainrx.model.errors import KnowledgeError
from trainrx.model.facts import Fact, Facts, Origin, Scalar, fact
from trainrx.model.job import Input
from trainrx.model.knowledge import Cause
from trainrx.rank.order import rank
from trainrx.rank.score import ruled_out, score
from trainrx.api.facts import symptom_facts


class Framework(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose spelling the fixes take."""

    name: str
    version: str | None = None


class Expectation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What must come out: a verdict, the first fixes, the facts asked for; of a rule, firings."""

    verdict: Literal["present", "absent", "unknown"] | None = None
    fixes: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    already_right: tuple[str, ...] = ()
    fired: int | None = None


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One situation."""

    name: str
    expect: Expectation
    symptoms: tuple[dict[str, Scalar], ...] = ()
    facts: dict[str, Scalar] | list[dict[str, Scalar]] = {}
    versions: dict[str, str] = {}
    framework: Framework | None = None
    log: str = ""


class CaseFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A test file."""

    cases: tuple[Case, ...]


def read_cases(path: Path) -> tuple[Case, ...]:
    """Read a test file.

    Raises:
        KnowledgeError: it is malformed.
    """
    try:
        return msgspec.convert(read_yaml(path), CaseFile).cases
    except msgspec.ValidationError as error:
        raise KnowledgeError(str(path), "", str(error)) from error


def run_cause(cause: Cause, cases: Sequence[Case], knowledge: Knowledge) -> Iterator[str]:
    """Give a line for each expectation that does not hold."""
    kinds = {case.expect.verdict for case in cases}
    for kind in ("present", "absent", "unknown"):
        if kind not in kinds:
            yield f"{cause.id}: no case expects {kind}"
    for case in cases:
        for problem in _cause_case(cause, case, knowledge):
            yield f"{cause.id}: {case.name}: {problem}"
