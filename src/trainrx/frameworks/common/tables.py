"""Which tables of a catalog a launch is read with, and whether they are all it may be read with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from trainrx.model.job import RawArg, RawLaunch


class Tables(msgspec.Struct, frozen=True):
    """The command of a catalog, further tables that count beside it, and what to make of the rest.

    `closed` is false when the program takes names that no table here lists: then nothing it is
    given can be called unknown. `among`: the command is the one of these that takes most names.
    """

    command: str
    beside: tuple[str, ...] = ()
    closed: bool = True
    among: tuple[str, ...] = ()


class TableContext(msgspec.Struct, frozen=True):
    """What a framework chooses its tables by.

    `command`: what the catalog calls the command of the launch; `listed`: all tables it has;
    `configs`: keys of the files at hand; `variables`: in lower case.
    """

    launch: RawLaunch
    command: str
    listed: frozenset[str]
    configs: Sequence[RawArg]
    variables: Mapping[str, str]

    def values(self, name: str) -> Iterator[str]:
        """Give the values of a key of the files."""
        for arg in self.configs:
            if arg.name == name:
                yield from arg.values or ()
