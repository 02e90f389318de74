"""The moves a job leaves open: levers of `kb/levers` its framework has words for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from trainrx.catalog.spellbook import serves
from trainrx.facts.reading import is_unset
from trainrx.fix.amounts import NotComputable, target
from trainrx.fix.changes import SET_BY_USER, Target, spell_for
from trainrx.fix.holds import holds
from trainrx.model.facts import Scalar
from trainrx.model.levers import Lever, LeverStep
from trainrx.model.planning import Move
from trainrx.prove.beside import beside_of
from trainrx.prove.sources import source_for
from trainrx.versions.ranges import in_range

DEVICES = "parallel.visible_gpus"


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
    versions = _versions(job)
    if lever.when is not None and holds(lever.when, job.facts, versions) is not True:
        return False
    return lever.unless is None or holds(lever.unless, job.facts, versions) is not True


def _versions(job: Target) -> Mapping[str, str]:
    """Give the versions at hand, with the releases of the framework a launch was written for."""
    if not job.framework or job.version is None:
        return job.versions
    return {job.framework: job.version, **job.versions}


def _in(version: str | None, spec: str) -> bool:
    return version is not None and in_range(version, spec) is True


def _move(lever: Lever, step: LeverStep, job: Target) -> Move | None:
    if step.when is not None and holds(step.when, job.facts, _versions(job)) is not True:
        return None
    try:
        wanted = {
            name: target(name, value, job.facts, _least_default(name, job))
            for name, value in step.set.items()
        }
        also = {name: target(name, value, job.facts) for name, value in step.also.items()}
    except NotComputable:
        return None
    if not all(_sensible(name, value, job) for name, value in wanted.items()):
        return None
    values = dict(_new(wanted, job)) | dict(_new(_spellable(also, job), job))
    values |= {n: wanted[n] for n in step.written if _is_unwritten(n, job)} if values else {}
    if not any(name in wanted for name in values):
        return None
    beside = beside_of(lever, wanted, job) if lever.beside else None
    if beside is not None and spell_for(DEVICES, beside.devices, job) is not None:
        # a process that sees further cards may take them
        values[DEVICES] = beside.devices
    elif lever.beside:
        return None
    return Move(
        lever=lever.id,
        values=tuple(values.items()),
        price=step.price,
        why=lever.why,
        source=source_for(lever.references, step.ref, job.framework),
        beside="" if beside is None else beside.command,
        edits=sum(name in wanted for name in values),
    )


def _least_default(name: str, job: Target) -> float | None:
    """Give the smallest default over all releases of a parameter that nobody sets.

    Where the release is unknown, what is below it is less than the present value in any case.
    """
    param = job.knowledge.params.get(name)
    if param is None or not is_unset(job.facts, name):
        return None
    command = job.facts.text("launch.command") or ""
    defaults = [
        float(item.default)
        for item in param.spelled.get(job.framework, ())
        if isinstance(item.default, (int, float)) and not isinstance(item.default, bool)
        if serves(item, command)
    ]
    return min(defaults, default=None)


def _sensible(name: str, value: Scalar, job: Target) -> bool:
    """Refuse what has no word here, and counts that are none."""
    if isinstance(value, int) and not isinstance(value, bool) and value < 1:
        return False
    return spell_for(name, value, job) is not None


def _is_unwritten(name: str, job: Target) -> bool:
    present = job.facts.get(name)
    return present is None or present.how not in SET_BY_USER


def _spellable(values: Mapping[str, Scalar], job: Target) -> dict[str, Scalar]:
    return {n: v for n, v in values.items() if spell_for(n, v, job) is not None}


def _new(values: Mapping[str, Scalar], job: Target) -> Iterator[tuple[str, Scalar]]:
    for name, value in values.items():
        if job.facts.value(name) != value:
            yield name, value
