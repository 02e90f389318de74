"""Rules for levers and for `retry.yaml`: what they name exists, prices are prices with a source."""

from __future__ import annotations

import math
from collections.abc import Iterator

from trainrx.entries.check_common import (
    KnownNames,
    condition_problems,
    head_problems,
    range_problems,
    reference_problems,
    text_problems,
    unused_references,
)
from trainrx.entries.check_safety import step_problems
from trainrx.entries.problem import Problem, error
from trainrx.model.fixing import RetryRule
from trainrx.model.levers import Lever, LeverStep
from trainrx.model.planning import Price

WORST = 3
"""The highest grade of quality and effort."""


def lever_problems(entry: Lever, stem: str, names: KnownNames) -> Iterator[Problem]:
    """List what is wrong with a lever that lies in `levers/<stem>.yaml`."""
    yield from head_problems(entry, stem, names)
    yield from text_problems(("why", entry.why))
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
        yield from step_problems(step, entry.id, index + 1, names.safety)


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


def retry_problems(rule: RetryRule, at: str, names: KnownNames) -> Iterator[Problem]:
    """List what is wrong with one rule; `at` is its place in the table (`[3]`)."""
    yield from text_problems((f"{at}.why", rule.why), (f"{at}.before", rule.before))
    for key, known in (("causes", names.causes), ("symptoms", names.symptoms)):
        for name in getattr(rule, key):
            if name not in known:
                yield error(f"{at}.{key}", f"no {key.removesuffix('s')} {name!r}")
    if not (rule.causes or rule.families or rule.symptoms or rule.symptom_families):
        yield error(at, "speaks of no cause, symptom or family")
    if rule.when is not None:
        yield from condition_problems(f"{at}.when", rule.when, names)
    if rule.references:
        yield from reference_problems(rule.references, names.today, f"{at}.references")
