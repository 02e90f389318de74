"""Which tables of a catalog a launch is read with, and whether they are all it may be read with."""

from __future__ import annotations

from collections.abc import Sequence

from trainrx.catalog.catalog import Catalog, catalog, plain
from trainrx.catalog.signature import catalog_command
from trainrx.frameworks import framework_of
from trainrx.frameworks.common.tables import TableContext, Tables
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
