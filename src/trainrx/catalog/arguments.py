"""What a launch gives its framework, argument by argument, as the framework's parser reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import msgspec

from trainrx.catalog.catalog import KnownArgument, plain
from trainrx.catalog.signature import Signature
from trainrx.catalog.typed import is_bool, is_list, read_as
from trainrx.frameworks import framework_of
from trainrx.frameworks.common.arguments import Parser
from trainrx.model import reasons
from trainrx.model.facts import How
from trainrx.model.job import Argument, RawArg

_HYDRA = frozenset(
    {"config_name", "cn", "config_path", "cp", "config_dir", "cd", "multirun", "m", "cfg", "c"}
    | {"package", "p", "resolve", "info", "i", "run", "r", "experimental_rerun", "version", "help"}
    | {"hydra_help", "shell_completion", "sc"}
)
"""Flags of hydra itself, which choose the configuration."""

OUTSIDE = frozenset({"config", "help"})
"""Taken by the program that starts the framework's command: it reads the file and goes on; every
parser has --help."""

_SPELLED_TWICE = "4.46.0"
_ABBREVIATES = frozenset({"hf", "argparse"})


MANY_STRANGERS = 4
"""Names that no release has, from which on a program is a fork."""


class NamedArgument(msgspec.Struct, frozen=True):
    """An argument under the framework's own name; `problem` says why it has none.

    `own` says that the name is the launch's to choose: it is taken, whatever it is.
    """

    arg: RawArg
    known: KnownArgument | None
    given_as: str = ""
    problem: str = ""
    own: bool = False


class GivenArguments(msgspec.Struct, frozen=True):
    """All arguments of a launch: named ones, the effective values, and what is no argument."""

    args: tuple[RawArg, ...]
    configs: tuple[RawArg, ...]
    values: dict[str, Argument]
    strangers: tuple[RawArg, ...]
    problems: tuple[tuple[RawArg, str], ...]


def read_given(
    args: Sequence[RawArg],
    configs: Sequence[RawArg],
    signature: Signature,
    style: Parser,
    *,
    closed: bool = True,
    outside: frozenset[str] = OUTSIDE,
) -> GivenArguments:
    """Name every argument in full, type its value, and keep the one that takes effect.

    The command line comes before config files; of one name the last wins, as in argparse.

    Args:
        args: the command line.
        configs: keys of config files.
        signature: what the command takes.
        style: how its parser reads names.
        closed: nothing else is taken; otherwise no name is called unknown.
        outside: names that are taken before the arguments are parsed.
    """
    written = {plain(arg.name) for arg in configs} if style == "hydra" else set()
    named = [_chosen(name_argument(arg, signature, style), written) for arg in args]
    filed = [name_argument(arg, signature, style) for arg in configs]
    values: dict[str, Argument] = {}
    problems: list[tuple[RawArg, str]] = []
    for item in (*filed, *named):
        if item.problem:
            problems.append((item.arg, item.problem))
        if item.known is not None:
            argument, problem = _argument(item, item.known)
            values[item.known.name] = argument
            if problem and style != "hydra":
                # hydra's files declare no types: what stands there is only an example
                problems.append((item.arg, problem))
    strangers = tuple(
        item.arg for item in (*named, *filed) if closed and _is_stranger(item, outside)
    )
    if len(strangers) >= MANY_STRANGERS:
        problems = []  # of a fork no release tells what it takes
    return GivenArguments(
        args=tuple(item.arg for item in named),
        configs=tuple(item.arg for item in filed),
        values=values,
        strangers=strangers,
        problems=tuple(item for item in problems if plain(item[0].name) not in outside),
    )


def name_argument(arg: RawArg, signature: Signature, style: Parser) -> NamedArgument:
    """Find what an argument is called in full: abbreviations, `no_x`, aliases, dashes."""
    if style == "hydra":
        return _override(arg, signature)
    known = signature.get(arg.name)
    if known is None and style == "keys":
        known = signature.nested(arg.name)
    if known is not None:
        return _under(arg, known)
    if arg.via == "config" or arg.sign or style not in _ABBREVIATES:
        return NamedArgument(arg, None)
    name = plain(arg.name)
    if name.startswith("no_") and not arg.values:
        known = signature.get(name[3:])
        if known is not None and is_bool(known.type):
            return _under(msgspec.structs.replace(arg, values=("false",)), known)
    fitting = signature.completing(name)
    if len(fitting) == 1 and not (style == "hf" and _fits_twice(arg, fitting[0], signature)):
        return _under(arg, fitting[0])
    if fitting:
        some = ", ".join(f"--{known.name}" for known in fitting[:4])
        some += f", --{fitting[0].name.replace('_', '-')}" if len(fitting) == 1 else ""
        return NamedArgument(arg, None, problem=f"could stand for {some}: write the name in full")
    return NamedArgument(arg, None)


def _fits_twice(arg: RawArg, known: KnownArgument, signature: Signature) -> bool:
    """Tell whether a beginning fits both spellings HfArgumentParser gives an option.

    Since transformers 4.46 there are `--a_b` and `--a-b`, and argparse counts them as two: `--a` is
    ambiguous, `--a_` is not.
    https://github.com/huggingface/transformers/blob/v4.46.0/src/transformers/hf_argparser.py
    """
    start = arg.name.lstrip("-")
    once = not known.name.replace("_", "-").startswith(start) or "_" not in known.name
    return not once and signature.runs_with("transformers", _SPELLED_TWICE)


def _override(arg: RawArg, signature: Signature) -> NamedArgument:
    """Read a key of hydra: it must be there, or be added with `+`; a file brings its own keys.

    https://hydra.cc/docs/advanced/override_grammar/basic/
    """
    name = plain(arg.name.removeprefix("~"))
    if arg.via == "config" or name in _HYDRA or name.startswith(("hydra.", "hydra/")):
        return NamedArgument(arg, signature.get(name) if arg.via == "config" else None, own=True)
    known = signature.get(name)
    if arg.sign == "~":
        return NamedArgument(arg, None, own=known is not None or signature.below(name))
    if arg.sign == "+" and known is not None and _is_there(known, signature):
        why = "is in the configuration already: leave out the + or write ++"
        return NamedArgument(arg, None, problem=why)
    if known is not None:
        return _under(arg, known)
    return NamedArgument(
        arg, None, own=bool(arg.sign) or signature.below(name) or _item(name, signature)
    )


def _is_there(known: KnownArgument, signature: Signature) -> bool:
    """Tell whether a key surely has a value: hydra adds to none and to mappings all the same."""
    everywhere = known.releases == signature.bits and known.settled
    return everywhere and known.default is not None and not isinstance(known.default, (dict, list))


def _item(name: str, signature: Signature) -> bool:
    """Tell whether a name is an item of a list there is (`files.0`)."""
    front, _, number = name.rpartition(".")
    return number.isdecimal() and signature.get(front) is not None


def _chosen(item: NamedArgument, written: set[str]) -> NamedArgument:
    """Take a key that a config file at hand brings, or that stands around some it brings.

    Where such a file is at hand, no release tells what is there to be added to: it may be older.
    """
    if item.known is not None or item.own or not written:
        return item
    name = plain(item.arg.name.removeprefix("~"))
    if item.problem and name not in written:
        return NamedArgument(item.arg, None, own=True)
    there = name in written or any(key.startswith(f"{name}.") for key in written)
    return msgspec.structs.replace(item, own=there)


def _is_stranger(item: NamedArgument, outside: frozenset[str]) -> bool:
    taken = item.known is not None or item.own or item.problem
    return not taken and item.arg.name not in outside


def dumped(dumps: Sequence[RawArg], signature: Signature) -> dict[str, Argument]:
    """Give the values the framework itself wrote down of its arguments."""
    named = (NamedArgument(arg, signature.get(arg.name)) for arg in dumps)
    found = (_argument(item, item.known)[0] for item in named if item.known is not None)
    return {item.name: msgspec.structs.replace(item, via="log") for item in found}


def declared(
    signature: Signature, given: Iterable[str], how: How, *, complete: bool = True
) -> dict[str, Argument]:
    """Give the declared default of every argument nobody gave.

    When further arguments may be hidden (`complete` is false), none of them is known.
    """
    taken = set(given)
    every = _declared(signature, how, complete=complete)
    return {name: item for name, item in every.items() if name not in taken}


@lru_cache(maxsize=64)
def _declared(signature: Signature, how: How, *, complete: bool) -> Mapping[str, Argument]:
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
        if not _is_inside(known.name, signature)
    }


def _is_inside(name: str, signature: Signature) -> bool:
    """Tell a key of a model inside, which has no value while nobody gives the model."""
    front, _, rest = name.partition(".")
    return bool(rest) and signature.get(front) is not None


def meaning(arguments: Mapping[str, Argument], canonical: Mapping[str, str]) -> dict[str, Argument]:
    """Give the arguments with the canonical parameters their (plain) names stand for."""
    found = dict(arguments)
    for name, item in arguments.items():
        meant = canonical.get(plain(name))
        if meant is not None:
            found[name] = msgspec.structs.replace(item, canonical=meant)
    return found


def _under(arg: RawArg, known: KnownArgument) -> NamedArgument:
    if arg.name == known.name:
        return NamedArgument(arg, known)
    return NamedArgument(msgspec.structs.replace(arg, name=known.name), known, given_as=arg.name)


def _argument(item: NamedArgument, known: KnownArgument) -> tuple[Argument, str]:
    arg = item.arg
    values = arg.values
    from_file = arg.via == "config"
    taken = values or ()
    extra = taken[1:] if known.type and not is_list(known.type) and not from_file else ()
    taken = taken[: len(taken) - len(extra)]
    typed = read_as(known.type, known.choices, taken, from_file=from_file)
    problem = typed.problem
    if values == () and not from_file and _wants_value(known):
        problem = "a value is missing behind it"
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
            why="" if values is not None else reasons.NOT_SET,
        ),
        problem if values is not None else "",
    )


def _wants_value(known: KnownArgument) -> bool:
    """Tell a switch that may also be None: HfArgumentParser lets only plain ones stand alone."""
    if (
        not framework_of(known.package).training_arguments
        or not is_bool(known.type)
        or known.type == "bool"
    ):
        return False
    return known.settled and known.default is None


def _open(known: KnownArgument, *, complete: bool) -> str:
    if not complete:
        return reasons.HIDDEN
    if known.settled:
        return ""
    if known.default is None and known.releases & (known.releases - 1):
        return reasons.DIFFERS
    return reasons.AT_START
