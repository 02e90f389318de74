"""Whose arguments a parser refused, where nothing else tells the framework."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trainrx.catalog.catalog import catalog
from trainrx.facts.refusals import SYMPTOM, named_by
from trainrx.frameworks import framework_of, frameworks
from trainrx.model.facts import Fact, fact

_LISTED = SYMPTOM + "hf-args-unused"
_LIBRARIES = ("transformers", "trl")
"""Their own arguments reach scripts and frameworks of many hands: such a name tells nothing."""


def owner_facts(sighted: Iterable[Fact]) -> tuple[Fact, ...]:
    """Give the one framework that has, or had, all names that HfArgumentParser refused.

    Frameworks share this parser and its message. A name that several have, or that comes from
    transformers, leaves the question open; so does one that no release of any had.
    """
    for item in sighted:
        if item.kind != _LISTED:
            continue
        names = [named.name for named in named_by(item) if named.name]
        owner = _sole_owner(names)
        if owner:
            return (fact("launch.framework", owner, *item.origins[:1], how="derived"),)
    return ()


def _sole_owner(names: Sequence[str]) -> str:
    packages = (*(one.name for one in frameworks() if one.only_trains), *_LIBRARIES)
    having = [package for package in packages if names and all(map(catalog(package).find, names))]
    return having[0] if len(having) == 1 and framework_of(having[0]).only_trains else ""
