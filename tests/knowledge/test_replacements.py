from __future__ import annotations

import re

import pytest

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


@pytest.mark.parametrize("item", ITEMS, ids=label)
def test_what_is_replaced_is_an_argument_on_its_side(item: Replacement) -> None:
    known = catalog(item.package)
    since = known.of(f">={item.since}")
    side = since if item.back else known.all & ~since

    assert takers(item.package, item.old) & side


@pytest.mark.parametrize("item", [i for i in ITEMS if i.gives], ids=label)
def test_what_stands_for_it_is_an_argument_on_the_other(item: Replacement) -> None:
    known = catalog(item.package)
    since = known.of(f">={item.since}")
    side = known.all & ~since if item.back else since
    names = [re.split(r"[=+#]", text)[0] for text in item.gives if not text.startswith("ENV:")]

    assert [name for name in names if not takers(item.package, name) & side] == []


@pytest.mark.parametrize("item", ITEMS, ids=label)
def test_a_replacement_has_a_source_and_says_what_to_do(item: Replacement) -> None:
    assert item.source
    assert item.gives or item.gone or item.note is not None
    assert item.since in catalog(item.package).releases


def test_old_names_are_told_once() -> None:
    seen = [(item.kind, plain(item.name)) for item in read_old_names()]

    assert len(set(seen)) == len(seen)
