"""Whose names apply to a launch, and which names and values its framework will refuse."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from trainrx.catalog.catalog import KnownArgument, catalog, plain
from trainrx.catalog.refusals import fate_of
from trainrx.catalog.resolved import Resolved
from trainrx.catalog.signature import (
    Signature,
    catalog_command,
    releases_taking,
    signature,
)
from trainrx.catalog.spellbook import SHORTEST
from trainrx.catalog.values import read_typed, write_value
from trainrx.frameworks import framework_of, frameworks
from trainrx.knowledge.catalogs import read_model_types
from trainrx.model.facts import Fact, Facts, Origin, fact
from trainrx.model.job import RawArg, RawLaunch
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
    """Name the choice a value stands next to, "" when none does, or two as near (`dppo`)."""
    from difflib import SequenceMatcher, get_close_matches

    lowered = next((text for text in choices if text.lower() == value.lower()), "")
    found = [lowered] if lowered else get_close_matches(value, choices, n=2, cutoff=SIMILAR)
    near = [SequenceMatcher(None, text, value).ratio() for text in found]
    return found[0] if found and near.count(near[0]) == 1 else ""


OTHER_RELEASES = ("renamed", "removed", "coming")
"""What became of a name that other releases of the framework take."""
_MAX_RENAMES = 6


def framework_facts(facts: Facts, versions: Mapping[str, str]) -> tuple[Fact, ...]:
    """Give the framework and its version where no launch tells: from the log, or as installed."""
    name = facts.text("launch.framework")
    installed = [one.name for one in frameworks() if one.only_trains and one.name in versions]
    if name is None and len(installed) == 1 and "launch.given" not in facts:
        name = installed[0]
    if name is None or name not in versions:
        return ()
    origin = Origin(source=f"{name} {versions[name]}")
    return (
        fact("launch.framework", name, origin, how="derived"),
        fact("launch.framework_version", versions[name], origin, how="derived"),
    )


def name_facts(
    launch: RawLaunch,
    resolved: Resolved,
    params: Mapping[str, Param],
    versions: Mapping[str, str],
) -> tuple[Fact, ...]:
    """Give the first name that is renamed, the first misspelt one, the first value that is refused.

    `launch.renamed_argument`, `launch.misspelt_argument`, `launch.refused_value`; and with
    `launch.written_for` the releases that take all names there are.
    """
    if not framework_of(launch.framework).refuses_unknown:
        return ()
    taken = taken_by(launch, resolved, versions)
    out = [_one_dash(arg) for arg in launch.args]
    for arg in resolved.unknown_flags:
        fate = fate_of(arg.name, launch, taken, params, versions)
        if fate.kind in OTHER_RELEASES:
            text = f"{arg.name} -> {fate.now[0][0]}" if fate.now else arg.name
            out.append(fact("launch.renamed_argument", text, arg.origin, how="derived"))
        elif fate.near:
            text = f"{arg.name} -> {fate.near}"
            out.append(fact("launch.misspelt_argument", text, arg.origin, how="derived"))
    out += [_model_type(arg, taken) for arg in launch.args if arg.name == "model_type"]
    if resolved.problems:
        out += refused_values(launch, resolved, taken, params)
    out.append(_written_for(launch, resolved, taken))
    first: dict[str, Fact] = {}
    for item in out:
        if item is not None:
            first.setdefault(item.kind, item)
    return tuple(first.values())


def _written_for(launch: RawLaunch, resolved: Resolved, taken: Signature) -> Fact | None:
    """Give the range of releases that take every name of a launch this release does not take."""
    strangers = resolved.unknown_flags
    if not strangers:
        return None
    known = taken.catalog
    bits = releases_taking((*launch.args, *strangers), known.package, taken.command)
    for arg in strangers:
        takers = 0
        for option in known.find(arg.name, taken.command):
            takers |= known.bits(option)
        bits &= takers
    spec = known.describe(bits)
    if not spec or bits & taken.bits:
        return None
    origins = (arg.origin for arg in strangers[:1])
    return fact("launch.written_for", spec, *origins, how="derived")


def _model_type(arg: RawArg, taken: Signature) -> Fact | None:
    """Find a model type that this version has under another name, or not any more."""
    if not framework_of(taken.catalog.package).renames_model_types or not arg.values:
        return None
    now = model_type_today(arg.values[0], taken)
    if now is None:
        return None
    text = f"model_type {arg.values[0]}"
    text += f" -> {' or '.join(now)}" if now else ""
    return fact("launch.renamed_argument", text, arg.origin, how="derived")


def model_type_today(name: str, taken: Signature) -> tuple[str, ...] | None:
    """Give the model types that stand for one of another release; None when it holds."""
    releases = taken.catalog
    names: tuple[str, ...] = (name,)
    for _ in range(_MAX_RENAMES):
        gone = [
            item
            for item in read_model_types()
            if item.old in names and releases.mask(((item.until, None),)) & taken.bits == taken.bits
        ]
        if not gone:
            break
        kept = tuple(n for n in names if n not in {item.old for item in gone})
        names = tuple(dict.fromkeys((*kept, *(new for item in gone for new in item.new))))
    return None if names == (name,) else names


def taken_by(launch: RawLaunch, resolved: Resolved, versions: Mapping[str, str]) -> Signature:
    """Give the arguments the command of a launch takes at the version the job runs."""
    owner = launch.framework
    bits = catalog(owner).of(versions.get(owner) or resolved.version)
    return signature(owner, catalog_command(owner, launch.command), bits, versions)


def _one_dash(arg: RawArg) -> Fact | None:
    """Find a long name behind a single dash, which argparse reads as something else."""
    name = arg.name.lstrip("-")
    if arg.via != "arg" or len(name) < SHORTEST or "_" not in name:
        return None
    text = arg.origin.text
    # looked for first: most are written with two, and each pattern must be compiled
    if f"-{name}" not in text.replace(f"--{name}", ""):
        return None
    if re.search(rf"(?:^|\s)-{re.escape(name)}(?![\w-])", text) is None:
        return None
    return fact("launch.misspelt_argument", f"-{name} -> --{name}", arg.origin, how="derived")
