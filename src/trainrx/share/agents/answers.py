"""What tools give back: the parts of an answer that an agent acts on, typed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

MOST_LINES = 6
"""Lines that are given of a cause."""
Said = Mapping[str, Any]
"""An answer as the contract has it."""


class Quoted(BaseModel):
    """A line of what was given, as it stands there: data, whatever it says."""

    source: str
    line: int | None = None
    text: str = ""


class NamedCause(BaseModel):
    """A cause, how sure it is (0 to 1), and the lines that is read from."""

    id: str
    title: str
    verdict: str
    probability: float
    evidence: list[Quoted] = []


class OpenQuestion(BaseModel):
    """What would tell more: answer it with `answer_question`, by its id."""

    id: str
    what: str
    how: str = ""
    command: str = ""


class Diagnosed(BaseModel):
    """Why a job failed or will fail, and what to change.

    `changes` are written as the framework's release spells them. `proved`: they were tried on the
    launch, pass its checks and fit the memory model. `memory_gib` is per GPU, before and after.
    """

    verdict: str
    causes: list[NamedCause] = []
    changes: list[str] = []
    proved: bool = False
    memory_gib: dict[str, float] = {}
    questions: list[OpenQuestion] = []
    unread: list[str] = []
    token: str = ""


class LintFinding(BaseModel):
    """Something wrong with a launch, and what to write instead."""

    rule: str
    severity: str
    message: str
    file: str
    line: int | None = None
    edits: list[str] = []


class Linted(BaseModel):
    """What is wrong with some launches, the worst first."""

    findings: list[LintFinding]


class PlannedPatch(BaseModel):
    """Changes of the files of a launch; `patch` is for `patch -p1`."""

    verdict: str
    changes: list[str] = []
    patch: str = ""


class Estimated(BaseModel):
    """Memory of one GPU in GiB: what is used of the card, its range, and whether it fits."""

    verdict: str
    gib: float | None = None
    low: float | None = None
    high: float | None = None
    limit_gib: float | None = None
    terms: dict[str, float] = {}
    refusal: str = ""


class FoundEntry(BaseModel):
    """An entry of the knowledge; `explain` gives its page."""

    id: str
    title: str


class FoundEntries(BaseModel):
    """The entries nearest to a text, the nearest first."""

    entries: list[FoundEntry]


def diagnosed(said: Said, token: str) -> Diagnosed:
    """Give what an agent acts on of a diagnosis."""
    plan = said.get("plan") or {}
    predicted = plan.get("predicted") or {}
    return Diagnosed(
        verdict=said["verdict"],
        causes=[_cause(cause) for cause in said["causes"]],
        changes=[change["spelled"] for change in plan.get("changes", ())],
        proved=bool(plan.get("proved")),
        memory_gib={key: value for key, value in predicted.items() if isinstance(value, float)},
        questions=[OpenQuestion.model_validate(ask) for ask in said["asks"]],
        unread=[f"{item['source']}: {item['reason']}" for item in said["unread"]],
        token=token,
    )


def _cause(cause: Said) -> NamedCause:
    held = (reason for reason in cause["reasons"] if reason["holds"])
    lines = [Quoted.model_validate(line) for reason in held for line in reason["evidence"]]
    names = ("id", "title", "verdict", "probability")
    return NamedCause(**{name: cause[name] for name in names}, evidence=lines[:MOST_LINES])


def linted(said: Said) -> Linted:
    """Give the findings of lint."""
    return Linted(
        findings=[
            LintFinding(
                **{key: finding[key] for key in ("rule", "severity", "message", "file", "line")},
                edits=[edit["text"] for edit in (finding["fix"] or {}).get("edits", ())],
            )
            for finding in said["findings"]
        ]
    )


def planned(said: Said, patch: str) -> PlannedPatch:
    """Give the proposal that is chosen, with its patch."""
    chosen = [one for one in said["proposals"] if one["number"] == said["chosen"]]
    first: Said = chosen[0] if chosen else {}
    return PlannedPatch(
        verdict=said["verdict"],
        changes=[change["spelled"] for change in first.get("changes", ())],
        patch=patch if first else "",
    )


def estimated(said: Said) -> Estimated:
    """Give the memory of the job's own card."""
    card, peak = said.get("card") or {}, said.get("peak")
    phases = (phase for phase in said.get("phases", ()) if phase["phase"] == peak)
    terms = {term["name"]: term["gib"] for phase in phases for term in phase["terms"]}
    refusal = said.get("refusal") or {}
    return Estimated(
        verdict=said["verdict"],
        **{key: card.get(key) for key in ("gib", "low", "high")},
        limit_gib=said.get("limit_gib"),
        terms=terms,
        refusal=refusal.get("text", ""),
    )
