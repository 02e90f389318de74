"""Small questions every derivation asks of the facts."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import mul

from trainrx.frameworks import framework_of
from trainrx.frameworks.base import Framework
from trainrx.model.facts import Fact, Facts, Scalar, fact


def derived(facts: Facts, kind: str, value: Scalar, *sources: str) -> Fact:
    """Make a derived fact that cites where its sources stand."""
    return fact(kind, value, *facts.origins(*sources), how="derived")


def product(numbers: Iterable[int]) -> int:
    """Multiply numbers; 1 for none. `math`, which has this, is a library to load."""
    return reduce(mul, numbers, 1)


def degrees(facts: Facts, *kinds: str) -> int | None:
    """Give the product of parallel degrees; None when one cannot be told."""
    found = [facts.degree(kind) for kind in kinds]
    return None if None in found else product(item for item in found if item is not None)


def is_megatron(facts: Facts) -> bool:
    """Tell whether Megatron trains: an ms-swift megatron command, or verl's Megatron workers."""
    command = facts.text("launch.command") or ""
    return command.startswith("megatron") or "megatron" in (facts.text("parallel.strategy") or "")


def framework(facts: Facts) -> Framework:
    """Give what is known of the framework that runs."""
    return framework_of(facts.text("launch.framework") or "")


def task(facts: Facts) -> str:
    """Give the kind of job; "" when it is unknown."""
    return facts.text("launch.task") or ""
