"""What Python's messages say is not there: a module, a name, an attribute, an argument."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from trainrx.model.facts import Fact, Origin
from trainrx.model.pattern import needled

SYMPTOMS = frozenset(
    f"symptom.{name}"
    for name in (
        "attribute-error",
        "engine-module-moved",
        "import-error",
        "module-not-found",
        "uncaught-type-error",
        "unexpected-keyword",
    )
)
"""Whose lines are read; what a line says is read from the line itself."""

LackKind = Literal["name", "module", "attribute", "refused", "needed", "crowded"]

_NAME = needled(r"cannot import name '(\w{1,100})' from '([\w.]{1,160})'", "cannot import name")
_MODULE = needled(r"No module named '([\w.]{1,160})'", "No module named")
_OF_MODULE = needled(
    r"module '?([\w.]{1,160})'? has no attribute '?(\w{1,100})", "has no attribute"
)
_OF_OBJECT = needled(
    r"(?:type object )?'(\w{1,100})'(?: object)? has no attribute '(\w{1,100})'", "has no attribute"
)
_REFUSED = needled(
    r"TypeError: ([\w.]{1,160})\(\) got an unexpected keyword argument '(\w{1,100})'",
    "got an unexpected keyword argument",
)
_NEEDED = needled(
    r"TypeError: ([\w.]{1,160})\(\) missing \d{1,3} required "
    r"(?:positional|keyword-only) arguments?: '(\w{1,100})'",
    "required positional arg",
    "required keyword-only arg",
)
_CROWDED = needled(
    r"TypeError: ([\w.]{1,160})\(\) takes (?:from \d{1,3} to )?(\d{1,3}) positional arguments? "
    r"but (\d{1,3}) (?:was|were) given",
    "positional argument",
)


class Lack(NamedTuple):
    """One thing that is not as its user expects.

    `of` is the module, class or function that was asked; `name` what it lacks ("" the module
    itself), does not take (refused), or wants without being given it (needed). A function that is
    crowded was given `more` arguments than it has places.
    """

    kind: LackKind
    of: str
    name: str
    origin: Origin
    more: int = 0


def lacks(sighted: Iterable[Fact]) -> Iterator[Lack]:
    """Give what the messages of a log name, each once, in the order of the lines."""
    found = {
        lack._replace(origin=origin): None
        for item in sighted
        if item.kind in SYMPTOMS
        for origin in item.origins[:1]
        if (lack := read_lack(origin.text)) is not None
    }
    told: set[tuple[str, str, str]] = set()
    for lack in sorted(found, key=lambda one: (one.origin.source, one.origin.line or 0)):
        if lack[:3] not in told:
            told.add(lack[:3])
            yield lack


def read_lack(text: str) -> Lack | None:
    """Read one line; None where it names nothing, or a module that is only half loaded."""
    at = Origin(source="")
    if (found := _NAME.search(text)) is not None:
        return Lack("name", found[2], found[1], at)
    if (found := _MODULE.search(text)) is not None:
        # a package that is not there at all is another matter
        return Lack("module", found[1], "", at) if "." in found[1] else None
    if (found := _OF_MODULE.search(text)) is not None:
        return Lack("name", found[1], found[2], at)
    if (found := _OF_OBJECT.search(text)) is not None:
        return Lack("attribute", found[1], found[2], at)
    if (found := _REFUSED.search(text)) is not None:
        return Lack("refused", _called(found[1]), found[2], at)
    if (found := _NEEDED.search(text)) is not None:
        return Lack("needed", _called(found[1]), found[2], at)
    if (found := _CROWDED.search(text)) is not None:
        return Lack("crowded", _called(found[1]), "", at, int(found[3]) - int(found[2]))
    return None


def _called(name: str) -> str:
    """Give class and method of a function's full name."""
    return ".".join(name.split(".")[-2:])
