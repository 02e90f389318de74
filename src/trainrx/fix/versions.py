"""The versions to install: those of a range a fact tells, or a set that fits together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainrx.facts.packages import distribution_of
from trainrx.facts.releases import package_in_question, releases_of
from trainrx.fix.arguments import REFUSING, release_changes
from trainrx.fix.changes import (
    Target,
    install,
    package_change,
    pinned_change,
    release_change,
)
from trainrx.fix.measures import is_package_of_others
from trainrx.fix.pins import consistent_set
from trainrx.knowledge.packages import read_requirements
from trainrx.model.knowledge import FORMER, Fix, PackageChange
from trainrx.model.pattern import late
from trainrx.model.result import Change
from trainrx.versions.ranges import in_range, is_exact

FROM_FACT = "$"
FRAMEWORK = "framework"
"""Stands for the package of the framework that was launched, whichever it is; where that is not
known, for the package a user names or the exception was raised in."""
RAISED_IN = "raised-in"
"""Stands for the package the exception was raised in, where it is another one."""
REQUIRED = "required"
"""Stands for the package, and the range of it, that a version check printed."""

FORMER_SAID = "  # the release that ran before"

LACKING, ASKING = "lacking", "asking"
"""Stand for the package that lacks a name in this release, and for the one that wants it there."""

REPAIRED = "repaired"
"""Stands for the package whose own code a later release changed where it failed, from there on."""

MISSING = "missing-module"
"""Stands for the package of a module that could not be imported."""
_REQUIREMENT = late(r"(?P<name>[\w.-]+)(?P<range>(?:[<>=!~*].*)?)")
"""A module, or the requirement a check of distributions prints."""


def package_changes(fix: Fix, job: Target) -> Iterator[Change]:
    """Give the change of each package of a fix that is not in its range already.

    The package of another framework than runs here is left out.
    """
    for wanted in fix.packages:
        if wanted.name == REFUSING:
            yield from release_changes(job)
            continue
        if wanted.name == REQUIRED:
            yield from _as_the_check_wants(job)
            continue
        if wanted.name in (LACKING, ASKING):
            yield from _with_the_name(wanted.name, job)
            continue
        if wanted.name == REPAIRED:
            yield from _with_the_repair(job)
            continue
        if wanted.name == MISSING:
            yield from _of_the_missing_module(job)
            continue
        if wanted.name in (FRAMEWORK, RAISED_IN) and not wanted.spec:
            newer = _newer(_package(wanted.name, job), job)
            yield from [newer] if newer is not None else []
            continue
        spec = wanted.spec
        if spec.startswith(FROM_FACT):
            told = job.facts.text(spec.removeprefix(FROM_FACT))
            if told is None:
                continue
            spec = told
        if is_package_of_others(wanted.name, job.facts):
            continue
        if spec == FORMER:
            yield _former(wanted.name, job)
            continue
        name = _package(wanted.name, job) if wanted.name == FRAMEWORK else wanted.name
        yield from _into(name, spec, job)


def _former(name: str, job: Target) -> Change:
    """Give the way back to the release that ran before."""
    present = job.versions.get(name)
    older = f"<{present}" if present is not None and is_exact(present) else ""
    spelled = install(name, older or "==VERSION") + FORMER_SAID
    return release_change(name, present, older or None, upgrade=False, spelled=spelled)


def _as_the_check_wants(job: Target) -> Iterator[Change]:
    """Give the release a version check asked for by name and range."""
    name, spec = job.facts.text("requirement.package"), job.facts.text("requirement.range")
    floor = job.facts.text("requirement.minimum")
    spec = spec or (f">={floor}" if floor else None)
    found = job.facts.text("requirement.found")
    yield from _into(name.lower() if name else None, spec, job, found)


def _into(
    name: str | None, spec: str | None, job: Target, found: str | None = None
) -> Iterator[Change]:
    """Give the change of a package into a range; none where either is unknown, or it holds."""
    if name and spec is not None:
        change = package_change(PackageChange(name=name, spec=spec), job, found=found)
        yield from [change] if change is not None else []


def _with_the_name(stands_for: str, job: Target) -> Iterator[Change]:
    """Give the release that has a missing name, or of the package that asks one that does not."""
    kinds = ("symbol.package", "symbol.releases")
    if stands_for == ASKING:
        kinds = ("symbol.asker", "symbol.asker_releases")
    name, spec = (job.facts.text(kind) for kind in kinds)
    yield from _into(name, spec or None, job)


def _with_the_repair(job: Target) -> Iterator[Change]:
    """Give the release that changed the code in question; none where no release has the change."""
    name, spec = (job.facts.text(kind) for kind in ("repair.package", "repair.releases"))
    yield from _into(name, spec or None, job)


def _of_the_missing_module(job: Target) -> Iterator[Change]:
    """Give the package to install; a part of a package that is there is not a missing one."""
    module = job.facts.text("missing.module") or ""
    wanted = _REQUIREMENT.fullmatch(module)
    if wanted is not None and "." not in wanted["name"]:
        yield from _into(distribution_of(wanted["name"]), wanted["range"], job)


def _package(stands_for: str, job: Target) -> str:
    """Name the package a word of the knowledge stands for; "" when it is not known."""
    asked = package_in_question(job.facts)
    if stands_for == FRAMEWORK:
        return asked
    raised = job.facts.text("failure.package") or ""
    return "" if raised == asked else raised


def _newer(name: str, job: Target) -> Change | None:
    """Give the upgrade of a package; None where there is none newer, or it is not known."""
    if not name:
        return None
    releases = releases_of(name)
    present = job.versions.get(name)
    if releases and present is not None and in_range(present, f">={releases[-1]}") is not False:
        return None
    bound = f">{present}" if present is not None and is_exact(present) else ""
    spelled = install(name, bound, newest=True)
    return release_change(name, present, bound or None, upgrade=True, spelled=spelled)


def set_changes(fix: Fix, job: Target) -> tuple[Change, ...]:
    """Give the change of each package that a set that fits together replaces.

    The framework stays as it is unless no set has this release of it.
    """
    if not fix.consistent_set or not job.versions:
        return ()
    needed = job.facts.text("model.needs_transformers")
    wanted = {"transformers": needed} if needed is not None else {}
    lacking, spec = (job.facts.text(kind) for kind in ("symbol.package", "symbol.releases"))
    if lacking and spec and lacking in job.versions:
        wanted[lacking] = ",".join(part for part in (wanted.get(lacking), spec) if part)
    known = read_requirements()
    own = (job.framework,) if job.framework else ()
    found = consistent_set(job.versions, known, keep=own, wanted=wanted)
    if found is None and own:
        found = consistent_set(job.versions, known, wanted=wanted)
    return tuple(
        pinned_change(name, job.versions[name], version) for name, version in (found or {}).items()
    )


def install_command(changes: Iterable[Change]) -> tuple[str, ...]:
    """Give one command that installs a whole set; pip then checks it as a whole."""
    words = [f'"{change.param}{change.to}"' for change in changes]
    return (f"pip install {' '.join(words)}",) if words else ()
