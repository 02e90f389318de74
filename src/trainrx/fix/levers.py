"""The moves a job leaves open: levers of `kb/levers` its framework has words for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from trainrx.fix.amounts import NotComputable, target
from trainrx.fix.changes import Target, spell_for
from trainrx.fix.holds import holds
from trainrx.model.facts import Scalar
from trainrx.model.levers import Lever, LeverStep
from trainrx.model.planning import Move
from trainrx.parse.version_range import in_range


def moves_of(lever: Lever, job: Target, keep: AbstractSet[str] = frozenset()) -> tuple[Move, ...]:
    """Give the steps of one lever that can be taken in this job, the mildest first.

    What the user pinned (`keep`, canonical names) is never touched.
    """
    if not _applies(lever, job):
        return ()
    found: dict[tuple[tuple[str, Scalar], ...], Move] = {}
    for step in lever.steps:
        move = _move(lever, step, job)
        if move is not None and keep.isdisjoint(name for name, _ in move.values):
            found.setdefault(move.values, move)
    return tuple(found.values())


def _applies(lever: Lever, job: Target) -> bool:
    if lever.frameworks:
        spec = lever.frameworks.get(job.framework)
        if spec is None or (spec and not _in(job.version, spec)):
            return False
    if lever.when is not None and holds(lever.when, job.facts, job.versions) is not True:
        return False
    return lever.unless is None or holds(lever.unless, job.facts, job.versions) is not True


def _in(version: str | None, spec: str) -> bool:
    return version is not None and in_range(version, spec) is True


def _move(lever: Lever, step: LeverStep, job: Target) -> Move | None:
    if step.when is not None and holds(step.when, job.facts, job.versions) is not True:
        return None
    try:
        wanted = {name: target(name, value, job.facts) for name, value in step.set.items()}
        also = {name: target(name, value, job.facts) for name, value in step.also.items()}
    except NotComputable:
        return None
    if not all(_sensible(name, value, job) for name, value in wanted.items()):
        return None
    values = dict(_new(wanted, job)) | dict(_new(_spellable(also, job), job))
    if not any(name in wanted for name in values):
        return None
    return Move(
        lever=lever.id,
        values=tuple(values.items()),
        price=step.price,
        why=lever.why,
        source=next((r.url for r in lever.references if r.id == step.ref), ""),
    )


def _sensible(name: str, value: Scalar, job: Target) -> bool:
    """Refuse what has no word here, and counts that are none."""
    if isinstance(value, int) and not isinstance(value, bool) and value < 1:
        return False
    return spell_for(name, value, job) is not None


def _spellable(values: Mapping[str, Scalar], job: Target) -> dict[str, Scalar]:
    return {n: v for n, v in values.items() if spell_for(n, v, job) is not None}


def _new(values: Mapping[str, Scalar], job: Target) -> Iterator[tuple[str, Scalar]]:
    for name, value in values.items():
        if job.facts.value(name) != value:
            yield name, value
