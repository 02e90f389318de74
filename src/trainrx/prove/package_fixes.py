"""Remedies that install something: one set of versions that fits together, as one pip line."""

from __future__ import annotations

from collections.abc import Iterable

from trainrx.facts.packages import package_facts
from trainrx.fix.changes import pinned_change
from trainrx.fix.pins import consistent_set
from trainrx.fix.versions import install_command
from trainrx.knowledge.packages import read_requirements
from trainrx.model.facts import Facts
from trainrx.model.planning import ProofCheck
from trainrx.model.result import Change, FixOut
from trainrx.prove.reread import LaunchContext


def installs(fix: FixOut) -> bool:
    """Tell whether a remedy is nothing but packages, each with the range it must be in."""
    return bool(fix.changes) and all(
        change.kind == "package" and change.to is not None for change in fix.changes
    )


def version_set(fix: FixOut, around: LaunchContext) -> tuple[Change, ...] | None:
    """Find versions that do what a remedy wants and fit all others; None where none are known.

    The framework stays as it is unless it is what the remedy changes, or no set has it.
    """
    wanted = {change.param: change.to or "" for change in fix.changes}
    installed = around.versions
    if not all(name in installed for name in wanted):
        return None
    framework = around.known.text("launch.framework") or ""
    keep = (framework,) if framework and framework not in wanted else ()
    known = read_requirements()
    found = consistent_set(installed, known, keep=keep, wanted=wanted)
    if found is None and keep:
        found = consistent_set(installed, known, wanted=wanted)
    return None if not found else tuple(pinned_change(n, installed[n], v) for n, v in found.items())


def packages_check(changes: Iterable[Change], around: LaunchContext) -> ProofCheck:
    """Check that with these versions nothing contradicts what a release says it needs."""
    after = dict(around.versions) | {c.param: (c.to or "").removeprefix("==") for c in changes}
    facts = Facts(item for item in around.known if not item.kind.startswith("packages."))
    found = Facts(package_facts(facts, after))
    detail = found.text("packages.conflicts") or ", ".join(c.spelled for c in changes)
    return ProofCheck(
        name="packages", holds=found.value("packages.fit") is not False, detail=detail
    )


def pip_line(changes: tuple[Change, ...]) -> tuple[str, ...]:
    """Give the one command that installs a set; pip then checks it as a whole."""
    return install_command(changes)
