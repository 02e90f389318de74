from __future__ import annotations

import re

from trainrx.catalog.catalog import catalog, plain
from trainrx.knowledge.catalogs import read_old_names, read_replacements
from trainrx.model.catalog import Replacement

ITEMS = read_replacements()


def label(item: Replacement) -> str:
    return f"{item.package}-{item.old}-{item.since}-{'+'.join(item.when)}"


def takers(package: str, name: str) -> int:
    """Give the releases in which some command takes a name, its own or an inherited one."""
    known = catalog(package)
    bits = 0
    for option in known.find(name):
        bits |= known.bits(option)
    parents = {parent.package for group in known.contents.inherits.values() for parent in group}
    inherited = any(catalog(parent).find(name) for parent in parents)
    return known.all if inherited else bits


def old(item: Replacement) -> int:
    """Give the releases that take the name that is replaced."""
    known = catalog(item.package)
    since = known.of(f">={item.since}")
    return since if item.back else known.all & ~since


def new_names(item: Replacement) -> list[str]:
    return [re.split(r"[=+#]", text)[0] for text in item.gives if not text.startswith("ENV:")]


def test_what_is_replaced_is_an_argument_on_its_side() -> None:
    assert [label(item) for item in ITEMS if not takers(item.package, item.old) & old(item)] == []


def test_what_stands_for_it_is_an_argument_on_the_other() -> None:
    missing = [
        (label(item), name)
        for item in ITEMS
        for name in new_names(item)
        if not takers(item.package, name) & catalog(item.package).all & ~old(item)
    ]

    assert missing == []


def test_a_replacement_has_a_source_and_says_what_to_do() -> None:
    silent = [
        label(item)
        for item in ITEMS
        if not item.source
        or not (item.gives or item.gone or item.note is not None)
        or item.since not in catalog(item.package).releases
    ]

    assert silent == []


def test_old_names_are_told_once() -> None:
    seen = [(item.kind, plain(item.name)) for item in read_old_names()]

    assert len(set(seen)) == len(seen)
