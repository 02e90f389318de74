"""Whose names are whose: of a fork and its origin, and of frameworks that stand on another."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from trainrx.frameworks import framework_of
from trainrx.model.facts import Fact

_FRAMEWORK = "launch.framework"


def without_origins(facts: Iterable[Fact], *named: str) -> Iterator[Fact]:
    """Leave out that a job is of a framework where something names a fork of it.

    A fork runs the files and workers of its origin, and so its logs show both.
    """
    held = tuple(facts)
    running = {*named, *(str(item.value) for item in held if item.kind == _FRAMEWORK)}
    origins = {framework_of(name).fork_of for name in running}
    return (item for item in held if item.kind != _FRAMEWORK or item.value not in origins)


def is_of_others(owners: Collection[str], running: Collection[str]) -> bool:
    """Tell whether all that know a name are other frameworks than the one that runs.

    Where that is not known, or where a library is among the owners, nothing is of others.
    """
    own = {name for run in running for name in (run, *framework_of(run).builds_on)}
    return (
        bool(owners)
        and bool(running)
        and own.isdisjoint(owners)
        and all(framework_of(name).owns_names for name in owners)
    )
