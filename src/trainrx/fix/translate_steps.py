"""One argument of a launch in the words of another version of its framework."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec
from packaging.version import Version

from trainrx.fix.translate_names import backwards, forwards
from trainrx.kb.catalogs import read_renames, read_replacements
from trainrx.model.catalog import Rename, Replacement
from trainrx.model.facts import Scalar
from trainrx.model.job import RawArg, RawLaunch
from trainrx.model.knowledge import Param
from trainrx.model.text import Text
from trainrx.model.translation import Outcome
from trainrx.parse.arguments import STYLES, name_argument
from trainrx.parse.catalog import catalog, plain
from trainrx.parse.names import model_type_today
from trainrx.parse.signature import Signature, signature
from trainrx.parse.spell import Spelled, spell
from trainrx.parse.spellbook import Entry, Spellbook
from trainrx.parse.tables import tables_of
from trainrx.parse.taken import Taker
from trainrx.parse.values import read_value

_DEPTH = 4
_MOST_RENAMES = 6
_TRUE = frozenset({"true", "1", "yes", "on"})
_SWIFT_3 = "3.0.0"

REMOVED = Text(en="{target} has nothing in its place", zh="{target} 没有对应的参数")
UNKNOWN = Text(
    en="{version} does not take it, so it cannot be told what it should mean",
    zh="{version} 不认这个参数，无从判断其含义",
)
REFUSED_VALUE = Text(
    en="{target} takes the name, but not this value", zh="{target} 认这个参数名，但不认这个取值"
)


class Side(NamedTuple):
    """One version of the framework as a launch meets it."""

    version: str
    launch: RawLaunch
    taken: Signature
    taker: Taker
    book: Spellbook


class Way(NamedTuple):
    """From one version to another, for one launch."""

    framework: str
    old: Side
    new: Side
    params: Mapping[str, Param]
    given: Mapping[str, Sequence[str] | None]
    hub: str


class Piece(NamedTuple):
    """Something written in the target version. `how` add: one more value of a list; number: behind
    each data set. `values` None: those the user's argument has, whatever they are."""

    name: str
    values: tuple[str, ...] | None
    kind: Literal["arg", "env"] = "arg"
    how: Literal["set", "add", "number"] = "set"


class Step(NamedTuple):
    """What becomes of one argument."""

    outcome: Outcome
    pieces: tuple[Piece, ...] = ()
    canonical: str = ""
    note: Text | None = None
    source: str = ""


def side(
    launch: RawLaunch, command: str, version: str, params: Mapping[str, Param]
) -> Side:
    """Look at a version the way a command of it does."""
    placed = msgspec.structs.replace(launch, command=command)
    tables = tables_of(placed)
    bits = catalog(launch.framework).of(version)
    return Side(
        version=version,
        launch=placed,
        taken=signature(launch.framework, tables.command, bits, {}, tables.beside),
        taker=Taker(placed, version),
        book=Spellbook(params, launch.framework, {launch.framework: version}),
    )


def carry(arg: RawArg, way: Way, depth: int = 0) -> Step:
    """Carry one argument over."""
    style = STYLES.get(way.framework, "hf")
    named = name_argument(arg, way.old.taken, style)
    if named.known is None and not named.own and way.old.taker.answer(arg.name, "x") == "refused":
        return _stranger(arg, way)
    arg = named.arg
    for step in (_replaced, _renamed_values, _by_meaning, _same, _by_name):
        found = step(arg, way, depth)
        if found is not None:
            return found
    return Step("missing", note=REMOVED)


def _stranger(arg: RawArg, way: Way) -> Step:
    """Leave what the old version refuses as it is, when the new one takes it."""
    if way.new.taken.get(arg.name) is not None:
        return Step("kept", (Piece(arg.name, arg.values),))
    return Step("stranger", note=UNKNOWN)


def _replaced(arg: RawArg, way: Way, depth: int) -> Step | None:
    """Apply what knowledge says of this argument and value."""
    for item in read_replacements():
        if item.old != plain(arg.name) or not _concerns(item, arg, way):
            continue
        outcome: Outcome = "replaced" if item.gives else ("dropped" if item.gone else "missing")
        parts = [_written(text, arg.values) for text in item.gives]
        only_name = len(parts) == 1 and parts[0].name == arg.name and parts[0].values == arg.values
        if only_name and parts[0].how == "set" and parts[0].kind == "arg":
            return None
        pieces = [one for part in parts for one in _onwards(part, item, arg, way, depth)]
        return Step(outcome, tuple(pieces), note=item.note, source=item.source)
    return None


def _concerns(item: Replacement, arg: RawArg, way: Way) -> bool:
    known = way.old.taken.get(arg.name)
    owners = {way.framework, known.package if known is not None else ""}
    if item.package not in owners:
        return False
    if item.commands and way.old.launch.command not in item.commands:
        return False
    if item.when and (arg.values is None or " ".join(arg.values).lower() not in item.when):
        return False
    if arg.values is None and any("{value}" in text for text in item.gives):
        return False
    old, new = _place(item.package, way)
    since = Version(item.since)
    return new < since <= old if item.back else old < since <= new


def _place(package: str, way: Way) -> tuple[Version, Version]:
    """Give the versions of the package an argument comes from on both sides."""
    if package == way.framework:
        return Version(way.old.version), Version(way.new.version)
    return _beside(package, way.framework, way.old), _beside(package, way.framework, way.new)


def _beside(package: str, framework: str, at: Side) -> Version:
    """Give the release of another package that came with a release of the framework."""
    known = catalog(framework)
    named = known.values(known.contents.references.get(package, ()), known.of(at.version))
    releases = catalog(package).releases
    return Version(named[-1] if named else (releases[-1] if releases else "0"))


def _written(text: str, values: Sequence[str] | None) -> Piece:
    kind: Literal["arg", "env"] = "env" if text.startswith("ENV:") else "arg"
    text = text.removeprefix("ENV:")
    how: Literal["set", "add", "number"] = "set"
    name, sign, value = text.partition("=")
    if name.endswith("+"):
        name, how = name[:-1], "add"
    elif "#" in name:
        name, _, value = text.partition("#")
        how, sign = "number", "#"
    if value == "{value}":
        return Piece(name, tuple(values or ()), kind, how)
    filled = value.replace("{value}", " ".join(values or ()))
    return Piece(name, (filled,) if sign else (), kind, how)


def _onwards(
    piece: Piece, item: Replacement, arg: RawArg, way: Way, depth: int
) -> Iterator[Piece]:
    """Carry what a later release says on to the target: its words may have changed again."""
    at = item.since
    if (
        piece.kind == "env"
        or piece.how != "set"
        or depth >= _DEPTH
        or item.package != way.framework
        or item.back
        or at == way.new.version
    ):
        yield piece
        return
    middle = side(way.old.launch, way.new.launch.command, at, way.params)
    again = msgspec.structs.replace(arg, name=piece.name, values=piece.values)
    step = carry(again, way._replace(old=middle), depth + 1)
    yield from step.pieces if step.outcome not in ("missing", "stranger") else (piece,)


def _renamed_values(arg: RawArg, way: Way, depth: int) -> Step | None:
    """Translate names of models, templates and data sets, where the names changed."""
    if way.framework != "ms-swift" or not arg.values:
        return None
    old, new, turn = Version(way.old.version), Version(way.new.version), Version(_SWIFT_3)
    found = None
    if old < turn <= new:
        found = forwards(plain(arg.name), arg.values, way.given, hub=way.hub)
    elif new < turn <= old:
        found = backwards(plain(arg.name), arg.values, way.given)
    elif plain(arg.name) == "model_type":
        return _model_type(arg, way)
    if found is None:
        return None
    pieces: list[Piece] = []
    if found.words is not None:
        again = msgspec.structs.replace(arg, values=found.words)
        pieces += _named_only(again, way, depth)
    for text in found.more:
        pieces.append(_written(text, arg.values))
    if not pieces:
        return Step("missing" if found.lost else "dropped", note=found.note, source=found.source)
    outcome: Outcome = "replaced" if found.more else "value"
    if pieces[0].name != arg.name and not found.more:
        outcome = "renamed"
    return Step(
        "missing" if found.lost else outcome, tuple(pieces), note=found.note, source=found.source
    )


def _named_only(arg: RawArg, way: Way, depth: int) -> tuple[Piece, ...]:
    """Give an argument whose value is right already its name in the target."""
    if plain(arg.name) == "model_type":
        step = _model_type(arg, way)
        return step.pieces if step is not None else (Piece(arg.name, arg.values),)
    for step in (_same, _by_name, _by_meaning):
        found = step(arg, way, depth)
        if found is not None and found.pieces:
            return tuple(piece._replace(values=arg.values) for piece in found.pieces)
    return (Piece(arg.name, arg.values),)


def _model_type(arg: RawArg, way: Way) -> Step | None:
    from trainrx.fix.translate_names import TYPE_FROM_CONFIG

    now = model_type_today(arg.values[0], way.new.taken) if arg.values else None
    if now is None:
        return None
    if len(now) == 1:
        return Step("value", (Piece(arg.name, now),))
    return Step("dropped", note=TYPE_FROM_CONFIG)


def _by_meaning(arg: RawArg, way: Way, depth: int) -> Step | None:
    """Write the parameter an argument stands for as the target does."""
    del depth
    entries = _entries(arg, way.old)
    if arg.values is None:
        return _name_by_meaning(arg, entries, way)
    for entry in entries:
        value = read_value(entry.param, entry.spelling, arg.values).value
        if value is None:
            continue
        if _reads_same(arg, entry.param, value, way):
            return Step("kept", (Piece(arg.name, arg.values),), entry.param.id)
        bare = msgspec.structs.replace(way.new.launch, args=(), launcher=())
        now = spell(entry.param.id, value, way.framework, way.new.version, way.params, launch=bare)
        if now is not None:
            return _spelled_step(arg, entry, now, value, way)
    return None


def _entries(arg: RawArg, at: Side) -> list[Entry]:
    found = at.book.find(arg.name, "arg", at.launch.command)
    return [entry for entry in found if at.book.live(entry)]


def _reads_same(arg: RawArg, param: Param, value: Scalar, way: Way) -> bool:
    """Tell whether the same words mean the same in the target."""
    if way.new.taken.get(arg.name) is None:
        return False
    written = " ".join(arg.values or ())
    if way.new.taker.answer(arg.name, written) == "refused" and len(arg.values or ()) < 2:
        return False
    for entry in _entries(arg, way.new):
        if entry.param.id == param.id:
            return read_value(param, entry.spelling, arg.values or ()).value == value
    return not any(way.new.book.live(entry) for entry in way.new.book.by_param[param.id])


def _spelled_step(arg: RawArg, entry: Entry, now: Spelled, value: Scalar, way: Way) -> Step:
    if now.kind == "env":
        return Step("moved", (Piece(now.param, (now.value,), "env"),), entry.param.id)
    values: tuple[str, ...] | None = (now.value,) if now.value else ()
    for other in way.new.book.find(now.param, "arg", way.new.launch.command):
        same = other.param.id == entry.param.id and way.new.book.live(other)
        if same and read_value(other.param, other.spelling, arg.values or ()).value == value:
            # the user's own words say the same: `1e-4` stays `1e-4`, a list stays a list
            values = arg.values
            break
    outcome: Outcome = "value" if plain(now.param) == plain(arg.name) else "renamed"
    return Step(outcome, (Piece(now.param, values),), entry.param.id)


def _name_by_meaning(arg: RawArg, entries: Sequence[Entry], way: Way) -> Step | None:
    """Rename an argument whose value is not known here, where the words for values are the same."""
    for entry in entries:
        for other in way.new.book.by_param[entry.param.id]:
            spelling = other.spelling
            same = spelling.values == entry.spelling.values
            if not spelling.arg or not same or not way.new.book.live(other):
                continue
            if way.new.taken.get(spelling.arg) is not None:
                kept = plain(spelling.arg) == plain(arg.name)
                piece = Piece(arg.name if kept else spelling.arg, None)
                return Step("kept" if kept else "renamed", (piece,), entry.param.id)
    return None


def _same(arg: RawArg, way: Way, depth: int) -> Step | None:
    """Keep a name the target takes with this value."""
    del depth
    written = " ".join(arg.values or ())
    many = arg.values is None or len(arg.values) > 1
    answer = way.new.taker.answer(arg.name, written)
    if way.new.taken.get(arg.name) is None:
        return Step("kept", (Piece(arg.name, arg.values),)) if answer != "refused" else None
    if answer == "refused" and not many:
        return Step("missing", note=REFUSED_VALUE)
    return Step("kept", (Piece(arg.name, arg.values),))


def _by_name(arg: RawArg, way: Way, depth: int) -> Step | None:
    """Follow plain renames, forwards or backwards."""
    del depth
    known = way.old.taken.get(arg.name)
    owners = {way.framework, known.package if known is not None else ""}
    names, values, source = [plain(arg.name)], arg.values, ""
    seen = set(names)
    for _ in range(_MOST_RENAMES):
        found = next(_renames(names[-1], owners, way, seen), None)
        if found is None:
            return None
        item, name = found
        seen.add(plain(name))
        names.append(plain(name))
        values, source = _renamed_value(item, values, forward=name == item.new), item.source
        taken = way.new.taken.get(name)
        if taken is not None:
            return Step("renamed", (Piece(taken.name, values),), source=source)
    return None


def _renames(
    name: str, owners: set[str], way: Way, seen: set[str]
) -> Iterator[tuple[Rename, str]]:
    """Give the renames that lead on from a name, those into the target first."""
    ends = [
        (item, end)
        for item in read_renames()
        if item.package in owners and item.new
        for start, end in ((item.old, item.new), (item.new, item.old))
        if plain(start) == name and plain(end) not in seen
    ]
    yield from sorted(ends, key=lambda pair: way.new.taken.get(pair[1]) is None)


def _renamed_value(
    item: Rename, values: tuple[str, ...] | None, *, forward: bool
) -> tuple[str, ...] | None:
    if values is None:
        return None
    words = item.values if forward else {new: old for old, new in item.values.items()}
    out = tuple(words.get(value, value) for value in values)
    if not item.inverted:
        return out
    was = not out or out[0].lower() in _TRUE
    return ("false" if was else "true",)
