"""From one version of a framework to another: what a translation is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from trainrx.catalog.catalog import catalog
from trainrx.catalog.signature import Signature, signature
from trainrx.catalog.spellbook import Spellbook
from trainrx.catalog.tables import tables_of
from trainrx.catalog.taken import Taker
from trainrx.model.job import RawLaunch
from trainrx.model.parts import Param
from trainrx.model.text import Text
from trainrx.model.translation import Outcome


class Side(NamedTuple):
    """One version of the framework as a launch meets it."""

    version: str
    launch: RawLaunch
    taken: Signature
    taker: Taker
    book: Spellbook


class Way(NamedTuple):
    """From one version to another, for one launch."""

    framework: str
    old: Side
    new: Side
    params: Mapping[str, Param]
    given: Mapping[str, Sequence[str] | None]
    hub: str


class Piece(NamedTuple):
    """Something written in the target version.

    `how` add: one more value of a list; number: behind each data set. `values` None: those the
    user's argument has, whatever they are.
    """

    name: str
    values: tuple[str, ...] | None
    kind: Literal["arg", "env"] = "arg"
    how: Literal["set", "add", "number"] = "set"


class Step(NamedTuple):
    """What becomes of one argument."""

    outcome: Outcome
    pieces: tuple[Piece, ...] = ()
    canonical: str = ""
    note: Text | None = None
    source: str = ""


def side(launch: RawLaunch, command: str, version: str, params: Mapping[str, Param]) -> Side:
    """Look at a version the way a command of it does."""
    placed = msgspec.structs.replace(launch, command=command)
    tables = tables_of(placed)
    bits = catalog(launch.framework).of(version)
    return Side(
        version=version,
        launch=placed,
        taken=signature(launch.framework, tables.command, bits, {}, tables.beside),
        taker=Taker(placed, version),
        book=Spellbook(params, launch.framework, {launch.framework: version}),
    )
