"""Small questions every derivation asks of the facts."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import mul

from trainrx.model.facts import Fact, Facts, Scalar, fact

UNRESOLVED = "launch.unresolved"
"""Parameters that are set to something nobody can tell, by canonical name, separated by spaces."""


def derived(facts: Facts, kind: str, value: Scalar, *sources: str) -> Fact:
    """Make a derived fact that cites where its sources stand."""
    return fact(kind, value, *facts.origins(*sources), how="derived")


def whole(facts: Facts, kind: str) -> int | None:
    """Give a positive whole number; None when it is unknown or anything else."""
    value = facts.number(kind)
    return int(value) if value is not None and value >= 1 and value == int(value) else None


def is_unset(facts: Facts, *kinds: str) -> bool:
    """Tell whether it is certain that nobody sets some parameters: the whole launch is at hand."""
    if facts.value("launch.given") is not True or facts.value("launch.env_complete") is not True:
        return False
    unresolved = (facts.text(UNRESOLVED) or "").split()
    return not any(kind in facts or kind in unresolved for kind in kinds)


def degree(facts: Facts, kind: str) -> int | None:
    """Give a parallel degree: 1 when nobody sets it, None when it cannot be told."""
    found = whole(facts, kind)
    if found is not None:
        return found
    return 1 if is_unset(facts, kind) else None


def product(numbers: Iterable[int]) -> int:
    """Multiply numbers; 1 for none. `math`, which has this, is a library to load."""
    return reduce(mul, numbers, 1)


def degrees(facts: Facts, *kinds: str) -> int | None:
    """Give the product of parallel degrees; None when one cannot be told."""
    found = [degree(facts, kind) for kind in kinds]
    return None if None in found else product(item for item in found if item is not None)


def is_megatron(facts: Facts) -> bool:
    """Tell whether Megatron trains: an ms-swift megatron command, or verl's Megatron workers."""
    command = facts.text("launch.command") or ""
    return command.startswith("megatron") or "megatron" in (facts.text("parallel.strategy") or "")


def roles_apart(facts: Facts) -> bool:
    """Tell whether each model of online training has processes of its own: OpenRLHF under Ray.

    Its `train_ppo` without Ray (to 0.6.1) keeps all models and the sampling in one process per
    card (cli/train_ppo.py).
    """
    command = facts.text("launch.command") or ""
    return framework(facts) == "openrlhf" and task(facts) in ("ppo", "grpo") and command != "ppo"


def framework(facts: Facts) -> str:
    """Give the framework's name; "" when it is unknown."""
    return facts.text("launch.framework") or ""


def task(facts: Facts) -> str:
    """Give the kind of job; "" when it is unknown."""
    return facts.text("launch.task") or ""
