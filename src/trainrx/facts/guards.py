"""Arithmetic that the checks of frameworks do on several arguments at once.

A condition compares one fact with a constant. What a check computes of several (a batch divides,
the GPUs add up) is a fact of its own; its entry in `kb/facts` says of what it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from trainrx.facts.reading import derived, product
from trainrx.model.facts import Fact, Facts
from trainrx.model.parts import Relation, RelationKind

HOLDS: Mapping[RelationKind, Callable[[Sequence[int], Sequence[int]], bool]] = {
    "divides": lambda left, right: product(right) % product(left) == 0,
    "at-most": lambda left, right: product(left) <= product(right),
    "equal": lambda left, right: product(left) == product(right),
    "sum-at-most": lambda left, right: sum(left) <= product(right),
    "sums-to": lambda left, right: sum(left) == product(right),
}


def guard_facts(facts: Facts, relations: Mapping[str, Relation]) -> Iterator[Fact]:
    """Give each relation whose numbers are all known (whole, from 1), and which steps are whole."""
    for name, relation in relations.items():
        if relation.kind == "whole-above-one":
            value = facts.number(relation.left[0])
            if value is not None and value > 1:
                yield derived(facts, name, value == int(value), *relation.left)
            continue
        left, right = _all(facts, relation.left), _all(facts, relation.right)
        if left is not None and right is not None:
            holds = HOLDS[relation.kind](left, right)
            yield derived(facts, name, holds, *relation.left, *relation.right)


def _all(facts: Facts, names: Sequence[str]) -> tuple[int, ...] | None:
    found = [facts.whole(name) for name in names]
    return None if None in found else tuple(value for value in found if value is not None)
