"""The moves a job leaves open: levers of `kb/levers` its framework has words for."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from trainrx.catalog.spellbook import serves
from trainrx.fix.amounts import NotComputable, target
from trainrx.fix.changes import SET_BY_USER, Target, spell_for
from trainrx.frameworks import frameworks
from trainrx.model.facts import Facts, Scalar
from trainrx.model.levers import Lever, LeverStep
from trainrx.model.parts import Reference
from trainrx.model.planning import Move
from trainrx.reason.conditions import holds
from trainrx.versions.ranges import in_range

_PART = re.compile(r"[/.]")
_PARTS = 8


def source_for(references: Sequence[Reference], ref: str, framework: str) -> str:
    """Give the address a step rests on; of those of a lever one that has to do with the job.

    The reference a step names stays, unless it is of another framework: then one of this framework
    stands for it, else one of none.
    """
    named = next((item for item in references if item.id == ref), None)
    if named is None:
        return ""
    if owner(named.url) in ("", framework):
        return named.url
    for wanted in (framework, ""):
        other = next((item for item in references if owner(item.url) == wanted), None)
        if other is not None:
            return other.url
    return named.url


def owner(url: str) -> str:
    """Give the framework whose page or repository an address is, "" for none.

    Papers, DeepSpeed, PyTorch, transformers and vLLM hold for all.
    """
    parts = {_plain(part) for part in _PART.split(url.partition("://")[2])[:_PARTS]}
    found = (
        one.name
        for one in frameworks()
        if one.spelled
        and one.owns_names
        and (one.repository in url if one.repository else _plain(one.name) in parts)
    )
    return next(found, "")


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


PROCESSES = "parallel.processes_per_node"


class Apart(NamedTuple):
    """A command beside the job, and the devices that stay with the job."""

    command: str
    devices: str


def beside_of(lever: Lever, values: Mapping[str, Scalar], job: Target) -> Apart | None:
    """Write down the command a step needs beside the job; None where it cannot be.

    Args:
        lever: what is pulled.
        values: canonical parameters as the step sets them.
        job: whose framework, version, model and cards they are.
    """
    command = next(
        (
            item.command
            for item in lever.beside
            if item.framework == job.framework and in_range(job.version or "", item.versions)
        ),
        None,
    )
    model, processes = job.facts.text("model.name"), values.get(PROCESSES)
    devices = _devices(job.facts)
    if command is None or not model or not isinstance(processes, int) or devices is None:
        return None
    left = devices[processes:]
    named = {"gpus": ",".join(left), "count": str(len(left)), "model": shlex.quote(model)}
    for name, text in named.items():
        command = command.replace("{" + name + "}", text)
    return Apart(command, ",".join(devices[:processes])) if left and processes else None


def _devices(facts: Facts) -> list[str] | None:
    """List the devices of a machine as CUDA_VISIBLE_DEVICES has them, else by number."""
    visible = facts.text("parallel.visible_gpus")
    count = facts.number("hardware.gpus_per_node")
    if visible:
        return [part.strip() for part in visible.split(",") if part.strip()]
    return None if count is None else [str(number) for number in range(int(count))]


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
    if param is None or not job.facts.is_unset(name):
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
