"""Whether the command of a launch takes a name and a value at its version, by the catalog."""

from __future__ import annotations

from typing import Literal

from trainrx.catalog.arguments import name_argument
from trainrx.catalog.catalog import catalog
from trainrx.catalog.signature import signature
from trainrx.catalog.tables import judges, tables_of
from trainrx.catalog.typed import read_as
from trainrx.frameworks import framework_of
from trainrx.model.facts import Origin
from trainrx.model.job import RawArg, RawLaunch

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
