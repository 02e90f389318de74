"""Code tables of many releases as one table of ranges, and back."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec

from catalog.tables import Argument, Command, Commands, Table
from trainrx.model.catalog import Contents, Inherited, Option, Span

T = TypeVar("T")
History = dict[str, Argument | None]
"""What a name is at each release at which its command exists; None: not taken."""


def code_ranges(
    package: str,
    releases: Sequence[str],
    tables: Mapping[str, Commands],
    references: Mapping[str, Mapping[str, str]] | None = None,
) -> tuple[Contents, tuple[Option, ...]]:
    """Write the tables of all releases (ascending) as histories."""
    lives: dict[str, list[str]] = {}
    for release in releases:
        for command in tables[release]:
            lives.setdefault(command, []).append(release)
    contents = Contents(
        package=package,
        releases=tuple(releases),
        commands={name: spans(releases, set(lives[name])) for name in sorted(lives)},
        inherits=_inherits(releases, tables),
        references={
            other: changes([(r, by[r]) for r in releases if r in by])
            for other, by in sorted((references or {}).items())
        },
    )
    return contents, tuple(_options(releases, tables, lives))


def expand(contents: Contents, options: Iterable[Option]) -> dict[str, dict[str, Command]]:
    """Give the tables of every release back."""
    place = {release: i for i, release in enumerate(contents.releases)}
    out: dict[str, dict[str, Command]] = {}
    for release in contents.releases:
        alive = [c for c, life in contents.commands.items() if _covers(place, life, release)]
        out[release] = {c: Command({}, _parents(contents, place, c, release)) for c in alive}
    for option in options:
        for release in contents.releases:
            if _covers(place, option.spans, release):
                argument = _at(option, place, release)
                for command in option.commands:
                    if command in out[release]:
                        out[release][command].arguments[option.name] = argument
    return out


def spans(releases: Sequence[str], present: set[str]) -> tuple[Span, ...]:
    """Write a set of releases as stretches."""
    found: list[Span] = []
    since: str | None = None
    for release in releases:
        if release in present:
            since = since or release
        elif since:
            found.append((since, release))
            since = None
    return (*found, (since, None)) if since else tuple(found)


def changes(values: Iterable[tuple[str, T]]) -> tuple[tuple[str, T], ...]:
    """Keep the values that differ from the one before; 1, 1.0 and True are three."""
    found: list[tuple[str, T]] = []
    for release, value in values:
        if not found or _key(found[-1][1]) != _key(value):
            found.append((release, value))
    return tuple(found)


def _key(value: object) -> Hashable:
    return msgspec.json.encode(value)


def _options(
    releases: Sequence[str], tables: Mapping[str, Commands], lives: Mapping[str, list[str]]
) -> list[Option]:
    histories: dict[str, dict[str, Table]] = {}
    for release in releases:
        for command, read in tables[release].items():
            for name, argument in read.arguments.items():
                histories.setdefault(name, {}).setdefault(command, {})[release] = argument
    out: list[Option] = []
    for name in sorted(histories):
        full = {
            command: {release: taken.get(release) for release in lives[command]}
            for command, taken in histories[name].items()
        }
        for commands, history in _groups(full):
            out += _described(name, commands, history, releases)
    return out


def _groups(histories: Mapping[str, History]) -> list[tuple[list[str], History]]:
    """Join commands that agree on the name at every release which has both."""
    groups: list[tuple[list[str], History]] = []
    for command, history in sorted(histories.items(), key=lambda x: (-len(x[1]), x[0])):
        for commands, joined in groups:
            if all(_same(joined[r], a) for r, a in history.items() if r in joined):
                commands.append(command)
                joined.update(history)
                break
        else:
            groups.append(([command], dict(history)))
    return groups


def _same(one: Argument | None, other: Argument | None) -> bool:
    return _key(one) == _key(other)


def _described(
    name: str, commands: list[str], history: History, releases: Sequence[str]
) -> list[Option]:
    """Write a history; one option for each set of other spellings, as those have no history."""
    spellings = dict.fromkeys(a.aliases for a in history.values() if a is not None)
    return [
        _option(
            name,
            commands,
            {r: a if a is not None and a.aliases == same else None for r, a in history.items()},
            releases,
        )
        for same in spellings
    ]


def _option(name: str, commands: list[str], history: History, releases: Sequence[str]) -> Option:
    taken = [(r, a) for r in releases if (a := history.get(r)) is not None]
    allowed = changes((r, a.choices) for r, a in taken)
    # a release without any of these commands does not end a stretch
    alive = [release for release in releases if release in history]
    return Option(
        name=name,
        commands=tuple(sorted(commands)),
        spans=spans(alive, {r for r, _ in taken}),
        types=changes((r, a.type) for r, a in taken),
        defaults=changes((r, a.default) for r, a in taken),
        choices=allowed if any(value is not None for _, value in allowed) else (),
        aliases=taken[0][1].aliases,
    )


def _inherits(
    releases: Sequence[str], tables: Mapping[str, Commands]
) -> dict[str, tuple[Inherited, ...]]:
    present: dict[str, dict[tuple[str, str], set[str]]] = {}
    for release in releases:
        for command, read in tables[release].items():
            for parent in read.inherits:
                present.setdefault(command, {}).setdefault(parent, set()).add(release)
    return {
        command: tuple(
            Inherited(package=package, command=cls, span=span)
            for (package, cls), where in parents.items()
            for span in spans(releases, where)
        )
        for command, parents in sorted(present.items())
    }


def _covers(place: Mapping[str, int], stretches: Iterable[Span], release: str) -> bool:
    at = place[release]
    return any(place[a] <= at and (b is None or at < place[b]) for a, b in stretches)


def _parents(
    contents: Contents, place: Mapping[str, int], command: str, release: str
) -> tuple[tuple[str, str], ...]:
    return tuple(
        (parent.package, parent.command)
        for parent in contents.inherits.get(command, ())
        if _covers(place, (parent.span,), release)
    )


def _at(option: Option, place: Mapping[str, int], release: str) -> Argument:
    return Argument(
        type=_value(option.types, place, release, ""),
        default=_value(option.defaults, place, release, None),
        choices=_value(option.choices, place, release, None),
        aliases=option.aliases,
    )


def _value(
    history: Sequence[tuple[str, T]], place: Mapping[str, int], release: str, otherwise: T
) -> T:
    found = otherwise
    for since, value in history:
        if place[since] <= place[release]:
            found = value
    return found
