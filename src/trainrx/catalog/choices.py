"""Values a parser refuses because they are none of its choices, and the choice that was meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainrx.catalog.catalog import KnownArgument, plain
from trainrx.catalog.resolved import Resolved
from trainrx.catalog.signature import Signature
from trainrx.catalog.values import read_typed, write_value
from trainrx.frameworks import framework_of
from trainrx.model.facts import Fact, fact
from trainrx.model.job import RawLaunch
from trainrx.model.parts import Param

SIMILAR = 0.75
MOST_SHOWN = 80


def refused_values(
    launch: RawLaunch, resolved: Resolved, taken: Signature, params: Mapping[str, Param]
) -> Iterator[Fact]:
    """Give `launch.refused_value` (`torch_dtype bf16 -> bfloat16`) for values that are no choice.

    Files in which nothing looks at choices are left out.
    """
    for arg, _ in resolved.problems:
        known = taken.get(arg.name)
        if known is None or not known.choices or not arg.values or len(arg.values) > 1:
            continue
        if arg.via == "config" and framework_of(launch.framework).unchecked_files:
            continue
        value = arg.values[0]
        if any(value == str(choice) for choice in known.choices) or len(value) > MOST_SHOWN:
            continue
        meant = meant_by(value, known, launch.framework, params)
        text = f"{known.name} {value}" + (f" -> {meant}" if meant else "")
        yield fact("launch.refused_value", text, arg.origin, how="derived")


def meant_by(value: str, known: KnownArgument, framework: str, params: Mapping[str, Param]) -> str:
    """Give the choice that means what a value means elsewhere, else the one it stands next to."""
    choices = [str(choice) for choice in known.choices or ()]
    for param in params.values():
        for spelling in param.spelled.get(framework, ()):
            if plain(spelling.arg or "") != plain(known.name):
                continue
            read = read_typed(param, value).value
            written = None if read is None else write_value(spelling, read)
            if written in choices:
                return str(written)
    return nearest_choice(value, choices)


def nearest_choice(value: str, choices: list[str]) -> str:
    """Name the choice a value stands next to, "" when none does."""
    from difflib import get_close_matches

    lowered = next((text for text in choices if text.lower() == value.lower()), "")
    found = [lowered] if lowered else get_close_matches(value, choices, n=1, cutoff=SIMILAR)
    return found[0] if found else ""
