"""Names and values of one argument in two versions: by meaning, as they are, by renames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from trainrx.catalog.catalog import catalog, plain
from trainrx.catalog.signature import Signature, signature
from trainrx.catalog.spell import Spelled, spell
from trainrx.catalog.spellbook import Spellbook, SpellbookEntry
from trainrx.catalog.tables import Taker, tables_of
from trainrx.catalog.values import is_closed, read_value, write_value
from trainrx.frameworks import framework_of
from trainrx.knowledge.catalogs import read_renames
from trainrx.model.catalog import Rename
from trainrx.model.facts import Scalar
from trainrx.model.job import RawArg, RawLaunch
from trainrx.model.parts import Param
from trainrx.model.text import Text
from trainrx.model.translation import Outcome


class TranslatedSide(NamedTuple):
    """One version of the framework as a launch meets it."""

    version: str
    launch: RawLaunch
    taken: Signature
    taker: Taker
    book: Spellbook


class Way(NamedTuple):
    """From one version to another, for one launch."""

    framework: str
    old: TranslatedSide
    new: TranslatedSide
    params: Mapping[str, Param]
    given: Mapping[str, Sequence[str] | None]
    hub: str


class Piece(NamedTuple):
    """Something written in the target version.

    `how` add: one more value of a list; number: behind each data set. `values` None: those the
    user's argument has, whatever they are.
    """

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
) -> TranslatedSide:
    """Look at a version the way a command of it does."""
    placed = msgspec.structs.replace(launch, command=command)
    tables = tables_of(placed)
    bits = catalog(launch.framework).of(version)
    return TranslatedSide(
        version=version,
        launch=placed,
        taken=signature(launch.framework, tables.command, bits, {}, tables.beside),
        taker=Taker(placed, version),
        book=Spellbook(params, launch.framework, {launch.framework: version}),
    )


_MOST_RENAMES = 6


_TRUE = frozenset({"true", "1", "yes", "on"})


REFUSED_VALUE = Text(
    en="{target} takes the name, but not this value", zh="{target} 认这个参数名，但不认这个取值"
)


OTHER_VALUES = Text(
    en="{target} has another argument in its place, which does not take this value",
    zh="{target} 换成了另一个参数，但不认这个取值",
)


def by_meaning(arg: RawArg, way: Way, depth: int) -> Step | None:
    """Write the parameter an argument stands for as the target does."""
    del depth
    entries = _entries(arg, way.old)
    if arg.values is None:
        return _name_by_meaning(arg, entries, way)
    for entry in entries:
        value = read_value(entry.param, entry.spelling, arg.values).value
        if value is None:
            continue
        if _reads_same(arg, entry, value, way):
            return Step("kept", (Piece(arg.name, arg.values),), entry.param.id)
        bare = msgspec.structs.replace(way.new.launch, args=(), launcher=())
        now = spell(entry.param.id, value, way.framework, way.new.version, way.params, launch=bare)
        if now is not None:
            return _spelled_step(arg, entry, now, value, way)
    return None


def _entries(arg: RawArg, at: TranslatedSide) -> list[SpellbookEntry]:
    found = at.book.find(arg.name, "arg", at.launch.command)
    return [entry for entry in found if at.book.live(entry)]


def _reads_same(arg: RawArg, old: SpellbookEntry, value: Scalar, way: Way) -> bool:
    """Tell whether the same words mean the same in the target."""
    if way.new.taken.get(arg.name) is None:
        return False
    written = " ".join(arg.values or ())
    if way.new.taker.answer(arg.name, written) == "refused" and len(arg.values or ()) < 2:
        return False
    for entry in _entries(arg, way.new):
        if entry.param.id == old.param.id:
            return _word_stays(arg, old, entry, value)
    return not any(way.new.book.live(entry) for entry in way.new.book.by_param[old.param.id])


def _word_stays(arg: RawArg, old: SpellbookEntry, new: SpellbookEntry, value: Scalar) -> bool:
    """Tell whether the user's words say the same in the target.

    What is read generously here (`default-zero2`, `bf16`) is not taken by every release.
    """
    if read_value(new.param, new.spelling, arg.values or ()).value != value:
        return False
    own, theirs = old.spelling.values, new.spelling.values
    if own == theirs or new.param.type != "text" or (theirs and is_closed(new.spelling)):
        return True
    written = " ".join(arg.values or ())
    return written in theirs.values() or written == write_value(new.spelling, value)


def _spelled_step(
    arg: RawArg, entry: SpellbookEntry, now: Spelled, value: Scalar, way: Way
) -> Step:
    if now.kind == "env":
        return Step("moved", (Piece(now.param, (now.value,), "env"),), entry.param.id)
    values: tuple[str, ...] | None = (now.value,) if now.value else ()
    for other in way.new.book.find(now.param, "arg", way.new.launch.command):
        same = other.param.id == entry.param.id and way.new.book.live(other)
        if same and _word_stays(arg, entry, other, value) and _fits(now.param, arg, way):
            # the user's own words say the same: `1e-4` stays `1e-4`, a list stays a list
            values = arg.values
            break
    outcome: Outcome = "value" if plain(now.param) == plain(arg.name) else "renamed"
    return Step(outcome, (Piece(now.param, values),), entry.param.id)


def _fits(name: str, arg: RawArg, way: Way) -> bool:
    """Tell whether the target takes the user's own words behind a name."""
    words = arg.values or ()
    return len(words) > 1 or way.new.taker.answer(name, " ".join(words)) != "refused"


def _name_by_meaning(arg: RawArg, entries: Sequence[SpellbookEntry], way: Way) -> Step | None:
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


def same(arg: RawArg, way: Way, depth: int) -> Step | None:
    """Keep a name the target takes with this value."""
    del depth
    written = " ".join(arg.values or ())
    many = arg.values is None or len(arg.values) > 1
    answer = way.new.taker.answer(arg.name, written)
    if way.new.taken.get(arg.name) is None:
        # an abbreviation is not kept: HfArgumentParser has each name twice (a_b, a-b)
        short = framework_of(way.framework).parser in ("hf", "argparse") and answer == "taken"
        gone = short or answer == "refused"
        return None if gone else Step("kept", (Piece(arg.name, arg.values),))
    if answer == "refused" and not many:
        return Step("missing", note=REFUSED_VALUE)
    return Step("kept", (Piece(arg.name, arg.values),))


def by_name(arg: RawArg, way: Way, depth: int) -> Step | None:
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
            single = values is not None and len(values) < 2
            if single and way.new.taker.answer(name, " ".join(values or ())) == "refused":
                return Step("missing", note=OTHER_VALUES, source=source)
            return Step("renamed", (Piece(taken.name, values),), source=source)
    return None


def _renames(name: str, owners: set[str], way: Way, seen: set[str]) -> Iterator[tuple[Rename, str]]:
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
