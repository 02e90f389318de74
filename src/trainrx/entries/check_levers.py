"""Rules for levers: what they set exists, what they cost is a price, and a source says so."""

from __future__ import annotations

import math
from collections.abc import Iterator

from trainrx.entries.check_common import (
    KnownNames,
    condition_problems,
    date_problems,
    id_problems,
    range_problems,
    reference_problems,
    release_problems,
    text_problems,
    title_problems,
    unused_references,
)
from trainrx.entries.problem import Problem, error
from trainrx.model.levers import Lever, LeverStep
from trainrx.model.planning import Price

WORST = 3
"""The highest grade of quality and effort."""


def lever_problems(entry: Lever, stem: str, names: KnownNames) -> Iterator[Problem]:
    """List what is wrong with a lever that lies in `levers/<stem>.yaml`."""
    yield from id_problems(entry.id, stem, entry.aliases, names)
    yield from title_problems(entry.title)
    yield from text_problems(("why", entry.why))
    yield from date_problems("updated", entry.updated, names.today)
    yield from release_problems(entry.since)
    yield from reference_problems(entry.references, names.today)
    yield from unused_references(entry.references, {step.ref for step in entry.steps})
    for key, condition in (("when", entry.when), ("unless", entry.unless)):
        if condition is not None:
            yield from condition_problems(key, condition, names)
    for framework, spec in entry.frameworks.items():
        yield from range_problems(f"frameworks.{framework}", spec)
    if entry.id in entry.excludes:
        yield error("excludes", "a lever cannot exclude itself")
    if not entry.steps:
        yield error("steps", "needs at least one step")
    for index, step in enumerate(entry.steps):
        yield from _step_problems(entry, step, f"steps[{index}]", names)


def _step_problems(entry: Lever, step: LeverStep, key: str, names: KnownNames) -> Iterator[Problem]:
    if not step.set:
        yield error(f"{key}.set", "sets nothing")
    for name in (*step.set, *step.also):
        if name not in names.params:
            yield error(f"{key}.set", f"{name!r} is not in kb/params")
    if step.ref not in {reference.id for reference in entry.references}:
        yield error(f"{key}.ref", f"no reference {step.ref!r}: every price needs its source")
    if step.when is not None:
        yield from condition_problems(f"{key}.when", step.when, names)
    yield from _price_problems(step.price, f"{key}.price")


def _price_problems(price: Price, key: str) -> Iterator[Problem]:
    for name in ("quality", "effort"):
        if not 0 <= getattr(price, name) <= WORST:
            yield error(f"{key}.{name}", f"is no grade from 0 to {WORST}")
    low, high = price.slowdown
    if not (math.isfinite(high) and 0 < low <= high):
        yield error(f"{key}.slowdown", "must be a factor above 0 and one not below it")
