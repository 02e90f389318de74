"""An argument of another release in the words of this one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

from trainrx.model.job import RawArg, RawLaunch
from trainrx.model.knowledge import Param
from trainrx.parse.spell import Spelled, spell
from trainrx.parse.spellbook import plain
from trainrx.parse.values import read_value


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
