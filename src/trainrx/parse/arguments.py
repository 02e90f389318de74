"""What a launch gives its framework, argument by argument, as the framework's parser reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from trainrx.model.facts import How
from trainrx.model.job import Argument, RawArg
from trainrx.parse.catalog import Known, Signature, plain
from trainrx.parse.typed import is_bool, is_list, read_as

Style = Literal["hf", "argparse", "hydra", "keys"]

STYLES: dict[str, Style] = {
    "ms-swift": "hf",
    "llamafactory": "hf",
    "trl": "hf",
    "transformers": "hf",
    "openrlhf": "argparse",
    "vllm": "argparse",
    "verl": "hydra",
    "axolotl": "keys",
}
"""hf: HfArgumentParser (argparse with `no_x` for switches that are on, `a-b` for `a_b`); hydra and
keys take exact names only."""

_OUTSIDE = frozenset({"config"})
"""Taken by the program that starts the framework's command: it reads the file and goes on."""

_ABBREVIATES = frozenset({"hf", "argparse"})


class Named(NamedTuple):
    """An argument under the framework's own name; `problem` says why it has none."""

    arg: RawArg
    known: Known | None
    given_as: str = ""
    problem: str = ""


class Given(NamedTuple):
    """All arguments of a launch: named ones, the effective values, and what is no argument."""

    args: tuple[RawArg, ...]
    configs: tuple[RawArg, ...]
    values: dict[str, Argument]
    strangers: tuple[RawArg, ...]
    problems: tuple[tuple[RawArg, str], ...]


def read_given(
    args: Sequence[RawArg], configs: Sequence[RawArg], signature: Signature, style: Style
) -> Given:
    """Name every argument in full, type its value, and keep the one that takes effect.

    The command line comes before config files; of one name the last wins, as in argparse.
    """
    named = [name_argument(arg, signature, style) for arg in args]
    filed = [name_argument(arg, signature, style) for arg in configs]
    values: dict[str, Argument] = {}
    problems: list[tuple[RawArg, str]] = []
    for item in (*filed, *named):
        if item.problem:
            problems.append((item.arg, item.problem))
        if item.known is not None:
            argument, problem = _argument(item, item.known)
            values[item.known.name] = argument
            if problem:
                problems.append((item.arg, problem))
    return Given(
        args=tuple(item.arg for item in named),
        configs=tuple(item.arg for item in filed),
        values=values,
        strangers=tuple(
            item.arg
            for item in (*named, *filed)
            if item.known is None and not item.problem and item.arg.name not in _OUTSIDE
        ),
        problems=tuple(problems),
    )


def name_argument(arg: RawArg, signature: Signature, style: Style) -> Named:
    """Find what an argument is called in full: abbreviations, `no_x`, aliases, dashes."""
    known = signature.get(arg.name)
    if known is not None:
        return _under(arg, known)
    if arg.via == "config" or style not in _ABBREVIATES:
        return Named(arg, None)
    name = plain(arg.name)
    if name.startswith("no_") and not arg.values:
        known = signature.get(name[3:])
        if known is not None and is_bool(known.type):
            return _under(msgspec.structs.replace(arg, values=("false",)), known)
    fitting = signature.completing(name)
    if len(fitting) == 1:
        return _under(arg, fitting[0])
    if fitting:
        some = ", ".join(f"--{known.name}" for known in fitting[:4])
        return Named(arg, None, problem=f"could stand for {some}: write the name in full")
    return Named(arg, None)


def dumped(dumps: Sequence[RawArg], signature: Signature) -> dict[str, Argument]:
    """Give the values the framework itself wrote down of its arguments."""
    named = (Named(arg, signature.get(arg.name)) for arg in dumps)
    found = (_argument(item, item.known)[0] for item in named if item.known is not None)
    return {item.name: msgspec.structs.replace(item, via="log") for item in found}


def declared(
    signature: Signature, given: Iterable[str], how: How, *, complete: bool = True
) -> dict[str, Argument]:
    """Give the declared default of every argument nobody gave.

    When further arguments may be hidden (`complete` is false), none of them is known.
    """
    taken = set(given)
    return {
        known.name: Argument(
            name=known.name,
            value=known.default if complete else None,
            known=known.settled and complete,
            via="default",
            how=how,
            package=known.package,
            why=_open(known, complete=complete),
        )
        for known in signature
        if known.name not in taken
    }


def meaning(arguments: Mapping[str, Argument], canonical: Mapping[str, str]) -> dict[str, Argument]:
    """Give the arguments with the canonical parameters their (plain) names stand for."""
    return {
        name: msgspec.structs.replace(item, canonical=canonical[plain(name)])
        if plain(name) in canonical
        else item
        for name, item in arguments.items()
    }


def _under(arg: RawArg, known: Known) -> Named:
    if arg.name == known.name:
        return Named(arg, known)
    return Named(msgspec.structs.replace(arg, name=known.name), known, given_as=arg.name)


def _argument(item: Named, known: Known) -> tuple[Argument, str]:
    arg = item.arg
    values = arg.values
    from_file = arg.via == "config"
    taken = values or ()
    extra = taken[1:] if known.type and not is_list(known.type) and not from_file else ()
    taken = taken[: len(taken) - len(extra)]
    typed = read_as(known.type, known.choices, taken, from_file=from_file)
    problem = typed.problem
    if extra and not problem:
        problem = f"takes one value; {' '.join(extra)[:80]!r} behind it belongs to no argument"
    return (
        Argument(
            name=known.name,
            value=typed.value if values is not None else None,
            known=values is not None,
            text=" ".join(values or ()),
            given_as=item.given_as,
            via="config" if arg.via == "config" else "arg",
            how="read",
            origins=(arg.origin,),
            package=known.package,
            alternatives=arg.alternatives,
            why="" if values is not None else "it is not set in the script",
        ),
        problem if values is not None else "",
    )


def _open(known: Known, *, complete: bool) -> str:
    if not complete:
        return "it may be among the arguments that are not at hand"
    if known.settled:
        return ""
    if known.default is None and known.releases & (known.releases - 1):
        return "its default differs between the releases the job may run"
    return "its default is computed when the program starts"
