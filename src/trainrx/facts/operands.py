"""Which argument of the launch an arithmetic error computed with: a zero, or nothing at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainrx.catalog.catalog import catalog, plain
from trainrx.evidence.lines import bare
from trainrx.inputs.encoding import decode_text
from trainrx.inputs.stream import tail
from trainrx.model.facts import Fact, Origin, fact
from trainrx.model.job import Input, RawLaunch
from trainrx.model.pattern import late

ZERO, UNSET = "failure.zero_argument", "failure.unset_argument"
SOURCE_LINES = 4
"""Lines above an exception among which its own line of source stands."""
LONGEST = 1000
_DIVIDED = late(r"^ZeroDivisionError: ")
_NONE = late(
    r"^TypeError: unsupported operand type\(s\) for (?P<sign>\S{1,3}): "
    r"'(?P<left>\w+)' and '(?P<right>\w+)'"
)
_MARKS = late(r"^\s*(?P<left>~*)(?P<sign>\^+)(?P<right>~*)\s*$")
_ATTRIBUTE = late(r"(?:\w+\.)+(?P<name>[a-z]\w*)\b(?!\s*\()")
_DIVISOR = late(r"(?://?|%)(?P<right>[^/%]+)$")


class Operation(NamedTuple):
    """The operands that an exception is about, as its line of source writes them."""

    error: str
    left: str
    right: str
    origin: Origin


def operand_facts(logs: Sequence[Input], launch: RawLaunch | None) -> Iterator[Fact]:
    """Name the argument that is 0 where something was divided by it, or not given where it is None.

    Said only where exactly one argument of the operand answers to that: else nobody knows.
    """
    done = next((found for log in logs if (found := _operation(log)) is not None), None)
    if done is None or launch is None:
        return
    if _DIVIDED.search(done.error):
        zero = [name for name in _names(done.right) if _given(name, launch) == "0"]
        if len(zero) == 1:
            yield fact(ZERO, zero[0], done.origin, how="derived")
        return
    told = _NONE.search(done.error)
    sides = ((told["left"], done.left), (told["right"], done.right)) if told is not None else ()
    texts = [text for kind, text in sides if kind == "NoneType"]
    known = catalog(launch.framework)
    unset = [
        name
        for text in texts
        for name in _names(text)
        if _given(name, launch) is None and known.find(name)
    ]
    if len(unset) == 1:
        yield fact(UNSET, unset[0], done.origin, how="derived")


def _operation(log: Input) -> Operation | None:
    """Find the last arithmetic error of a log, with the operands that Python marked below it."""
    last = tail(log)
    lines = [bare(line) for line in decode_text(last.data).split("\n")]
    for at in range(len(lines) - 1, 0, -1):
        error = lines[at][:LONGEST]
        if _DIVIDED.search(error) or _NONE.search(error):
            above = lines[max(0, at - SOURCE_LINES) : at]
            origin = Origin(source=log.name, line=at + 1 if last.whole else None, text=error)
            return _read(error, above, origin)
    return None


def _read(error: str, above: Sequence[str], origin: Origin) -> Operation | None:
    if not above:
        return None
    source, marks = (above[-2] if len(above) > 1 else "")[:LONGEST], _MARKS.search(above[-1])
    if marks is not None:
        left, right = (source[slice(*marks.span(side))] for side in ("left", "right"))
        return Operation(error, left, right, origin)
    # Python before 3.11 shows the line alone
    source = above[-1].strip()[:LONGEST]
    divided = _DIVISOR.search(source)
    return Operation(error, source, divided["right"] if divided is not None else source, origin)


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(found["name"] for found in _ATTRIBUTE.finditer(text)))


def _given(name: str, launch: RawLaunch) -> str | None:
    """Give the one value of an argument, None where it is not given."""
    own = next((arg for arg in launch.args if plain(arg.name) == plain(name)), None)
    return None if own is None else " ".join(own.values or ())
