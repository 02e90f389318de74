"""Root before echo: which symptoms only follow from another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trainrx.model.facts import Fact
from trainrx.model.knowledge import Symptom
from trainrx.reason.reasoner import Reasoning

PREFIX = "symptom."


def echoes(
    seen: Iterable[str], symptoms: Mapping[str, Symptom], reasoning: Reasoning
) -> dict[str, str]:
    """Map each symptom that is only a consequence to the symptom it follows from.

    A symptom is an echo when a rule explained every fact of it, or when its role says so and
    something else failed. Chains are followed to their root; a circle leaves both as roots.
    """
    names = list(seen)
    direct = _explained(reasoning)
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


def _explained(reasoning: Reasoning) -> dict[str, str]:
    """Give the symptoms all of whose facts a rule explained, with what explains the first."""
    facts: dict[str, set[Fact]] = {}
    for item in reasoning.facts:
        if item.kind.startswith(PREFIX):
            facts.setdefault(item.kind.removeprefix(PREFIX), set()).add(item)
    done: dict[str, set[Fact]] = {}
    by: dict[str, str] = {}
    for link in reasoning.explanations:
        if link.effect_fact is not None:
            done.setdefault(link.effect, set()).add(link.effect_fact)
            by[link.effect] = min(by.get(link.effect, link.by), link.by)
    return {name: by[name] for name, found in done.items() if found >= facts.get(name, set())}


def _root(name: str, direct: Mapping[str, str]) -> str:
    passed = [name]
    while (after := direct.get(passed[-1])) is not None:
        if after in passed:
            return name
        passed.append(after)
    return passed[-1]
