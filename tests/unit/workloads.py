"""Workloads of launches, as `diagnose estimate` would work them out."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from trainrx.facts.all import derive
from trainrx.knowledge.load import load
from trainrx.knowledge.store import Knowledge
from trainrx.launch.given import gather
from trainrx.launch.job import all_launches, launch_facts, settle
from trainrx.launch.request import Request
from trainrx.memory.workload import workload_of
from trainrx.model.facts import Facts
from trainrx.model.hardware import ModelShape, TokenStats
from trainrx.model.memory import Assumption, Refusal, Workload
from trainrx.models.facts import shape_of


@cache
def knowledge() -> Knowledge:
    return load(launches=True)


def facts_of(*paths: Path, gpus: int | None = None, **versions: str) -> Facts:
    """Read one launch; `versions` by package name, `_` for `-`."""
    known = {name.replace("_", "-"): version for name, version in versions.items()}
    request = Request(paths=tuple(map(str, paths)), versions=known or None, gpus=gpus)
    given = gather(request, knowledge())
    launches, _ = all_launches(given)
    told = {**known, **given.versions}
    launch = settle(launches[0], given, versions=told, knowledge=knowledge())
    return derive((*given.facts, *launch_facts(launch, told)), knowledge(), launch.shape)


def shape_for(facts: Facts) -> ModelShape | None:
    return shape_of(facts, knowledge().models)


def work_out(
    facts: Facts, lengths: TokenStats | None = None
) -> tuple[Workload, tuple[Assumption, ...]] | Refusal:
    return workload_of(
        facts,
        shape_for(facts),
        lengths,
        models=knowledge().models,
        datasets=knowledge().datasets,
    )


def workload(facts: Facts, lengths: TokenStats | None = None) -> Workload:
    found = work_out(facts, lengths)
    assert not isinstance(found, Refusal), found.reason
    return found[0]


def refusal(facts: Facts) -> Refusal:
    found = work_out(facts)
    assert isinstance(found, Refusal), found
    return found
