"""Root before echo: which symptoms only follow from another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trainrx.model.facts import Fact, Facts
from trainrx.model.knowledge import EchoOf, Symptom
from trainrx.reason.conditions import compare, fits
from trainrx.reason.reasoner import Reasoning
from trainrx.reason.rules import CLOCK

_ORDER = {"after": "gt", "since": "ge"}


def echoes(
    seen: Iterable[str], symptoms: Mapping[str, Symptom], reasoning: Reasoning
) -> dict[str, str]:
    """Map each symptom that is only a consequence to the symptom it follows from.

    A symptom is an echo when its entry or a rule explains every sighting of it, or when its role
    says so and something else failed. Chains are followed to their root; a circle leaves both as
    roots.
    """
    names = list(seen)
    direct = _explained(symptoms, reasoning)
    roots = [
        name
        for name in names
        if name not in direct and symptoms[name].role in ("failure", "observation")
    ]
    failed = [name for name in roots if symptoms[name].role == "failure"]
    for name in names:
        if symptoms[name].role == "echo" and name not in direct and failed:
            direct[name] = failed[0]
    return {name: root for name in names if (root := _root(name, direct)) != name}


def _explained(symptoms: Mapping[str, Symptom], reasoning: Reasoning) -> dict[str, str]:
    """Give the symptoms all of whose sightings follow from another, with the first such one."""
    ruled: dict[Fact, set[str]] = {}
    for link in reasoning.explanations:
        if link.effect_fact is not None:
            ruled.setdefault(link.effect_fact, set()).add(link.by)
    facts = reasoning.facts
    out: dict[str, str] = {}
    for name in facts.symptoms():
        entry = symptoms.get(name)
        links = entry.echo_of if entry is not None else ()
        by = [
            {*_followed(item, links, facts), *ruled.get(item, ())} for item in facts.sightings(name)
        ]
        if all(by):
            out[name] = min(set().union(*by))
    return out


def _followed(sighting: Fact, links: Iterable[EchoOf], facts: Facts) -> Iterator[str]:
    for link in links:
        for name in link.by:
            if any(_follows(sighting, root, link) for root in facts.sightings(name)):
                yield name


def _follows(sighting: Fact, root: Fact, link: EchoOf) -> bool:
    """Tell whether a sighting is known to follow from another as a link says."""
    return (
        fits(link.if_, sighting) is True
        and fits(link.by_if, root) is True
        and (link.at is None or _in_order(sighting, root, _ORDER[link.at]))
        and (link.rank is None or compare(sighting.get("rank"), "ne", root.get("rank")) is True)
    )


def _in_order(sighting: Fact, root: Fact, op: str) -> bool:
    same_clock = sighting.get(CLOCK) == root.get(CLOCK)
    return same_clock and compare(sighting.get("at"), op, root.get("at")) is True


def _root(name: str, direct: Mapping[str, str]) -> str:
    passed = [name]
    while (after := direct.get(passed[-1])) is not None:
        if after in passed:
            return name
        passed.append(after)
    return passed[-1]
