"""One argument of a launch in the words of another version of its framework."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec
from packaging.version import Version

from trainrx.catalog.arguments import name_argument
from trainrx.catalog.catalog import catalog, plain
from trainrx.catalog.names import model_type_today
from trainrx.frameworks import framework_of
from trainrx.frameworks.common.renames import ValueRenames
from trainrx.inputs.config import read_number
from trainrx.knowledge.catalogs import read_replacements
from trainrx.model.catalog import Replacement
from trainrx.model.job import RawArg
from trainrx.model.text import Text
from trainrx.model.translation import Outcome
from trainrx.translation.words import (
    Piece,
    Step,
    TranslatedSide,
    Way,
    by_meaning,
    by_name,
    same,
    side,
)

_DEPTH = 4


REMOVED = Text(en="{target} has nothing in its place", zh="{target} 没有对应的参数")


UNKNOWN = Text(
    en="{version} does not take it, so it cannot be told what it should mean",
    zh="{version} 不认这个参数，无从判断其含义",
)


OTHER_RELEASE = Text(
    en="{version} does not take it either: it is of another release",
    zh="{version} 也不认这个参数：它属于别的版本",
)


def carry(arg: RawArg, way: Way, depth: int = 0) -> Step:
    """Carry one argument over."""
    style = framework_of(way.framework).parser
    named = name_argument(arg, way.old.taken, style)
    if named.known is None and not named.own and way.old.taker.answer(arg.name, "x") == "refused":
        return _stranger(arg, way)
    arg = named.arg
    for step in (_replaced, _renamed_values, by_meaning, same, by_name):
        found = step(arg, way, depth)
        if found is not None:
            return found
    return Step("missing", note=REMOVED)


def _stranger(arg: RawArg, way: Way) -> Step:
    """Leave what the old version refuses as it is, when the new one takes it."""
    if way.new.taken.get(arg.name) is not None:
        return Step("kept", (Piece(arg.name, arg.values),))
    found = by_name(arg, way, 0)
    return Step("stranger", note=UNKNOWN) if found is None else found._replace(note=OTHER_RELEASE)


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
    if item.when and (arg.values is None or not _meant(" ".join(arg.values).lower(), item.when)):
        return False
    if arg.values is None and any("{value}" in text for text in item.gives):
        return False
    old, new = _place(item.package, way)
    since = Version(item.since)
    return new < since <= old if item.back else old < since <= new


def _meant(value: str, when: Sequence[str]) -> bool:
    number = read_number(value)
    return value in when or ("(0,1)" in when and number is not None and 0 < number < 1)


def _place(package: str, way: Way) -> tuple[Version, Version]:
    """Give the versions of the package an argument comes from on both sides."""
    if package == way.framework:
        return Version(way.old.version), Version(way.new.version)
    return _beside(package, way.framework, way.old), _beside(package, way.framework, way.new)


def _beside(package: str, framework: str, at: TranslatedSide) -> Version:
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


def _onwards(piece: Piece, item: Replacement, arg: RawArg, way: Way, depth: int) -> Iterator[Piece]:
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
    renames = framework_of(way.framework).value_renames()
    if renames is None or not arg.values:
        return None
    old, new, turn = Version(way.old.version), Version(way.new.version), Version(renames.SINCE)
    found = None
    if old < turn <= new:
        found = renames.forwards(plain(arg.name), arg.values, way.given, hub=way.hub)
    elif new < turn <= old:
        found = renames.backwards(plain(arg.name), arg.values, way.given)
    elif plain(arg.name) == "model_type":
        return _model_type(arg, way, renames)
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
    renames = framework_of(way.framework).value_renames()
    if plain(arg.name) == "model_type" and renames is not None:
        made = _model_type(arg, way, renames)
        pieces = made.pieces if made is not None else (Piece(arg.name, arg.values),)
        return tuple(piece for piece in pieces if plain(piece.name) == "model_type")
    for step in (same, by_name, by_meaning):
        found = step(arg, way, depth)
        if found is not None and found.pieces:
            return tuple(piece._replace(values=arg.values) for piece in found.pieces)
    return (Piece(arg.name, arg.values),)


def _model_type(arg: RawArg, way: Way, renames: ValueRenames) -> Step | None:
    """Follow a model type that was renamed or merged; one that was merged needs its template."""
    now = model_type_today(arg.values[0], way.new.taken) if arg.values else None
    if now is None or not arg.values:
        return None
    kept = (Piece(arg.name, now),) if len(now) == 1 else ()
    template = renames.template_of(arg.values[0])
    if template and not {"template", "template_type"} & way.given.keys():
        return Step(
            "replaced", (*kept, Piece("template", (template,))), note=renames.TEMPLATE_OF_TYPE
        )
    return Step(
        "value" if kept else "dropped", kept, note=None if kept else renames.TYPE_FROM_CONFIG
    )
