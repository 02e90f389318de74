"""Whose names apply to a launch, and which of them its framework will refuse."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from trainrx.model.facts import Fact, Facts, Origin, fact
from trainrx.model.job import RawArg, RawLaunch
from trainrx.model.knowledge import Param
from trainrx.parse.resolved import Resolved
from trainrx.parse.spellbook import Spellbook, plain, serves

STRICT = ("ms-swift", "llamafactory", "trl", "openrlhf")
"""These stop on an argument they do not know (argparse, HfArgumentParser)."""
TRAINERS = ("ms-swift", "llamafactory", "verl", "openrlhf", "axolotl")
"""Packages people install for the one purpose; trl and transformers come along with them."""
SHORTEST = 6
"""Shorter names have too many neighbours that are names of their own."""


def framework_facts(facts: Facts, versions: Mapping[str, str]) -> tuple[Fact, ...]:
    """Give the framework and its version where no launch tells: from the log, or as installed."""
    name = facts.text("launch.framework")
    installed = [trainer for trainer in TRAINERS if trainer in versions]
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
    """Give `launch.renamed_argument` and `launch.misspelt_argument` for the first such names."""
    if launch.framework not in STRICT:
        return ()
    known = {launch.framework: resolved.version} if resolved.version else dict(versions)
    book = Spellbook(params, launch.framework, known)
    out = [_renamed(arg, book, launch) for arg in resolved.unknown_flags]
    out += [_misspelt(arg, book, launch) for arg in resolved.unknown_flags]
    out += [_one_dash(arg) for arg in launch.args]
    first: dict[str, Fact] = {}
    for item in out:
        if item is not None:
            first.setdefault(item.kind, item)
    return tuple(first.values())


def _renamed(arg: RawArg, book: Spellbook, launch: RawLaunch) -> Fact | None:
    found = [e for e in book.find(arg.name, "arg", launch.command) if e.owner == launch.framework]
    if not found or any(book.live(entry) for entry in found):
        return None
    names = (
        other.spelling.arg
        for other in book.by_param[found[0].param.id]
        if other.spelling.arg and book.live(other) and serves(other.spelling, launch.command)
    )
    now = next(names, None)
    text = arg.name if now is None else f"{arg.name} -> {now}"
    return fact("launch.renamed_argument", text, arg.origin, how="derived")


def _misspelt(arg: RawArg, book: Spellbook, launch: RawLaunch) -> Fact | None:
    name = plain(arg.name)
    if len(name) < SHORTEST or book.find(arg.name, "arg"):
        return None
    near = next((known for known in sorted(_live_names(book, launch)) if _is_near(name, known)), "")
    if not near:
        return None
    return fact("launch.misspelt_argument", f"{arg.name} -> {near}", arg.origin, how="derived")


def _live_names(book: Spellbook, launch: RawLaunch) -> Iterable[str]:
    for entries in book.by_param.values():
        for entry in entries:
            spelling = entry.spelling
            if spelling.arg and book.live(entry) and serves(spelling, launch.command):
                yield from (plain(name) for name in (spelling.arg, *spelling.also))


def _is_near(name: str, known: str) -> bool:
    """Tell whether one letter is missing, added, wrong, or two stand in the wrong order.

    A name cut at its end is no mistake: argparse takes an unambiguous beginning.
    """
    if known.startswith(name) or name[0] != known[0] or abs(len(name) - len(known)) > 1:
        return False
    at = next((i for i, (a, b) in enumerate(zip(name, known, strict=False)) if a != b), len(known))
    rest, wanted = name[at:], known[at:]
    swapped = rest[:2] == wanted[:2][::-1] and rest[2:] == wanted[2:]
    return swapped or rest[1:] == wanted or rest == wanted[1:] or rest[1:] == wanted[1:]


def _one_dash(arg: RawArg) -> Fact | None:
    """Find a long name behind a single dash, which argparse reads as something else."""
    name = arg.name.lstrip("-")
    if arg.via != "arg" or len(name) < SHORTEST or "_" not in name:
        return None
    if re.search(rf"(?:^|\s)-{re.escape(name)}(?![\w-])", arg.origin.text) is None:
        return None
    return fact("launch.misspelt_argument", f"-{name} -> --{name}", arg.origin, how="derived")
