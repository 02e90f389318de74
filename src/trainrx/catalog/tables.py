"""Which tables of a catalog a launch is read with, and whether they take a name and a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from trainrx.catalog.arguments import name_argument
from trainrx.catalog.catalog import Catalog, catalog, plain
from trainrx.catalog.signature import catalog_command, signature
from trainrx.catalog.typed import read_as
from trainrx.frameworks import framework_of, frameworks
from trainrx.frameworks.common.tables import TableContext, Tables
from trainrx.model.facts import Origin
from trainrx.model.job import EnvVar, RawArg, RawLaunch


def tables_of(
    launch: RawLaunch, configs: Sequence[RawArg] = (), env: Sequence[EnvVar] = ()
) -> Tables:
    """Say which tables describe what a launch may be given.

    Args:
        launch: the command.
        configs: keys of the framework's own config files at hand.
        env: variables given beside the launch.
    """
    known = catalog(launch.framework)
    found = framework_of(launch.framework).tables(
        TableContext(
            launch=launch,
            command=catalog_command(launch.framework, launch.command),
            listed=frozenset(known.contents.commands),
            configs=configs,
            variables={item.name: (item.value or "").lower() for item in (*env, *launch.env)},
        )
    )
    if not found.among:
        return found
    names = {plain(arg.name) for arg in (*launch.args, *configs)}
    return Tables(_most_taken(names, found.among, known))


def judges(tables: Tables, framework: str, bits: int) -> bool:
    """Tell whether a name that is in none of the tables is unknown at some releases.

    A table that did not exist yet, or no longer, says nothing about them.
    """
    known = catalog(framework)
    named = (tables.command, *tables.beside)
    return tables.closed and all(known.life(table) & bits for table in named)


def _most_taken(names: set[str], commands: Sequence[str], known: Catalog) -> str:
    """Give the command that takes most of the names; the first one of equals."""
    scores = {
        command: sum(
            bool(known.find(name, command)) or _inherits(name, command, known) for name in names
        )
        for command in commands
    }
    return max(commands, key=lambda command: scores[command])


def _inherits(name: str, command: str, known: Catalog) -> bool:
    parents = known.contents.inherits.get(command, ())
    return any(catalog(parent.package).find(name, parent.command) for parent in parents)


Answer = Literal["taken", "added", "refused", "unlisted"]
"""added: hydra takes the name with a `+` in front; unlisted: no command of any release lists it."""

_NOWHERE = Origin(source="")


class Taker:
    """What the command of a launch takes at one version or range."""

    def __init__(self, launch: RawLaunch, version: str | None) -> None:
        framework = launch.framework
        tables = tables_of(launch)
        known = catalog(framework)
        bits = known.of(version)
        self._older = known.precedes(version)
        self._style = framework_of(framework).parser
        self._all = signature(framework, "", known.all)
        self._own = signature(framework, tables.command, bits, {}, tables.beside)
        self._closed = bool(len(self._own)) and judges(tables, framework, bits)

    def lacks(self, name: str) -> bool:
        """Tell whether an argument is certainly not of this command, whatever its value.

        It is another command's, or that of a library which this command does not hand on.
        """
        if self._older or not self._closed:
            return False
        named = name_argument(RawArg(name=name, values=(), origin=_NOWHERE), self._own, self._style)
        if named.known is not None or named.own:
            return False
        lent = (catalog(one.name) for one in frameworks() if one.lends_names)
        return self._all.get(name) is not None or any(one.find(plain(name), "") for one in lent)

    def answer(self, name: str, written: str, *, from_file: bool = False) -> Answer:
        """Say whether a name with this value (empty: a bare switch) would be taken."""
        if self._older:
            return "unlisted"
        values = (written,) if written or from_file else ()
        arg = RawArg(
            name=name, values=values, origin=_NOWHERE, via="config" if from_file else "arg"
        )
        named = name_argument(arg, self._own, self._style)
        known = named.known
        if known is None:
            return self._without(name, own=named.own and not from_file)
        typed = read_as(known.type, known.choices, values, from_file=from_file)
        return "refused" if typed.problem and known.type else "taken"

    def _without(self, name: str, *, own: bool) -> Answer:
        if own:
            return "taken"
        if self._all.get(name) is None:
            inside = self._style == "hydra" and len(self._own) and not self._own.get(name)
            return "added" if inside and self._around(name) else "unlisted"
        return "refused" if self._closed else "unlisted"

    def _around(self, name: str) -> bool:
        """Tell whether some mapping around a dotted name is there to add it to."""
        fronts = [name.rsplit(".", n)[0] for n in range(1, name.count(".") + 1)]
        return any(self._own.get(front) or self._own.below(front) for front in fronts)
