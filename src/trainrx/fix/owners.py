"""What of a remedy belongs to another framework than the one that runs."""

from __future__ import annotations

from trainrx.frameworks import framework_of
from trainrx.frameworks.common.owners import is_of_others
from trainrx.model.facts import Facts
from trainrx.model.knowledge import Fix


def running(facts: Facts) -> tuple[str, ...]:
    """Name the framework that runs, under both facts that tell it; empty where neither does.

    A user may name a library as the package in question: that says nothing of what trains.
    """
    framework, package = facts.text("launch.framework"), facts.text("launch.package")
    named = (framework, package if framework_of(package).only_named else None)
    return tuple(name for name in named if name)


def is_package_of_others(name: str, facts: Facts) -> bool:
    """Tell whether a release of this package cannot matter to what runs.

    It does matter where the exception was raised in it, whatever runs.
    """
    own = framework_of(name)
    if not own.owns_names or own.is_lent or facts.text("failure.package") == name:
        return False
    return is_of_others((name,), running(facts))


def is_in_part_of_others(fix: Fix, facts: Facts) -> bool:
    """Tell whether some change of a remedy belongs to another framework."""
    runs = running(facts)
    return any(is_of_others(measure.of, runs) for measure in fix.measures) or any(
        is_package_of_others(package.name, facts) for package in fix.packages
    )
