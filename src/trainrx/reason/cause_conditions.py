"""Every condition the causes hold, under the name its truth is looked up by."""

from __future__ import annotations

from collections.abc import Iterable

from trainrx.model.knowledge import Cause
from trainrx.model.parts import Condition


def for_name(cause: str, evidence: str) -> str:
    """Name a supporting test."""
    return f"{cause}/for/{evidence}"


def against_name(cause: str, evidence: str) -> str:
    """Name a contradicting test."""
    return f"{cause}/against/{evidence}"


def requires_name(cause: str) -> str:
    """Name the precondition."""
    return f"{cause}/requires"


def prior_name(cause: str, index: int) -> str:
    """Name the condition of one prior."""
    return f"{cause}/prior/{index}"


def applies_name(cause: str, package: str) -> str:
    """Name the version test of one package."""
    return f"{cause}/applies/{package}"


def fix_name(cause: str, fix: str) -> str:
    """Name the condition of a fix."""
    return f"{cause}/fix/{fix}"


def conditions(causes: Iterable[Cause]) -> dict[str, Condition]:
    """Collect them all."""
    chosen = tuple(causes)
    return {**ranking_conditions(chosen), **fix_conditions(chosen)}


def ranking_conditions(causes: Iterable[Cause]) -> dict[str, Condition]:
    """Collect those that decide the order."""
    out: dict[str, Condition] = {}
    for cause in causes:
        for vote in cause.evidence.supports:
            out[for_name(cause.id, vote.id)] = vote.when
        for vote in cause.evidence.contradicts:
            out[against_name(cause.id, vote.id)] = vote.when
        for index, case in enumerate(cause.priors):
            out[prior_name(cause.id, index)] = case.when
        if cause.requires is not None:
            out[requires_name(cause.id)] = cause.requires
        for package, spec in cause.applies_to.items():
            out[applies_name(cause.id, package)] = Condition(package=package, versions=spec)
    return out


def fix_conditions(causes: Iterable[Cause]) -> dict[str, Condition]:
    """Collect those that decide which fixes are offered; only named causes need them."""
    return {
        fix_name(cause.id, fix.id): fix.only_if
        for cause in causes
        for fix in cause.fixes
        if fix.only_if is not None
    }
