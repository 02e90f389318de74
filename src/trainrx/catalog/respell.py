"""An argument of another release in the words of this one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

from trainrx.catalog.catalog import plain
from trainrx.catalog.spell import Spelled, spell
from trainrx.catalog.values import read_value
from trainrx.model.facts import Origin
from trainrx.model.job import RawArg, RawLaunch
from trainrx.model.parts import Param
from trainrx.versions.ranges import in_range


class Respelled(msgspec.Struct, frozen=True, kw_only=True):
    """One argument as written and as this framework and version want it."""

    arg: RawArg
    canonical: str
    now: Spelled


def respelled(
    launch: RawLaunch,
    version: str | None,
    params: Mapping[str, Param],
    via: Literal["arg", "config"] = "arg",
) -> Iterator[Respelled]:
    """Translate the arguments that only other versions of the launch's framework know."""
    for arg in launch.args:
        for param in params.values():
            found = _respell(arg, param, launch, version, params, via)
            if found is not None:
                yield Respelled(arg=arg, canonical=param.id, now=found)
                break


def _respell(
    arg: RawArg,
    param: Param,
    launch: RawLaunch,
    version: str | None,
    params: Mapping[str, Param],
    via: Literal["arg", "config"],
) -> Spelled | None:
    for spelling in param.spelled.get(launch.framework, ()):
        names = {plain(name) for name in (spelling.arg, *spelling.also) if name}
        if plain(arg.name) not in names or arg.values is None:
            continue
        value = read_value(param, spelling, arg.values).value
        if value is None:
            continue
        now = spell(param.id, value, launch.framework, version, params, via=via, launch=launch)
        if now is not None and plain(now.param) != plain(arg.name):
            return now
    return None


def value_today(
    name: str,
    value: str,
    framework: str,
    version: str | None,
    params: Mapping[str, Param],
) -> Respelled | None:
    """Give what stands today for a value that only other releases take under the same name.

    Args:
        name: the argument.
        value: what it was given.
        framework: whose argument it is.
        version: its version, as far as known.
        params: the parameters.
    """
    for param in params.values():
        for spelling in param.spelled.get(framework, ()):
            if plain(spelling.arg) != plain(name) or value not in spelling.values.values():
                continue
            if in_range(version or "", spelling.versions) is not False:
                continue
            meant = read_value(param, spelling, (value,)).value
            now = None if meant is None else spell(param.id, meant, framework, version, params)
            if now is not None and plain(now.param) == plain(name) and now.value != value:
                arg = RawArg(name=name, values=(value,), origin=Origin(source=""))
                return Respelled(arg=arg, canonical=param.id, now=now)
    return None


def named_by_value(value: str, framework: str, params: Mapping[str, Param]) -> str:
    """Give the argument of which alone some release takes a value, "" when nothing tells."""
    names = {
        spelling.arg
        for param in params.values()
        for spelling in param.spelled.get(framework, ())
        if spelling.arg and value in spelling.values.values()
    }
    return names.pop() if len(names) == 1 else ""
