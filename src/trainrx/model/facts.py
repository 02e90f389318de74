"""Facts: what is known of one job, each with the places it was read from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec

Scalar = bool | int | float | str
How = Literal["given", "read", "printed", "default", "derived", "assumed"]
"""given: the user said so; read: stands in an input; printed: the launch does not set it, its
program printed what took effect; default: the framework's own value at this
version; derived: computed from other facts; assumed: the version is not known, so the default of
the newest release was taken."""

SYMPTOM = "symptom."
"""What the kind of a fact begins with that is a sighting of a symptom."""
ANSWERED = "answered."
"""What the kind of a fact begins with that names the outcome of a protocol's step."""
STATED = "stated."
"""What the kind of a fact begins with that a person states of the hardware: it counts where nothing
that was given or printed tells."""
UNSEEN = "unseen."
"""What the kind of a fact begins with that says that a symptom was looked for and is not there."""
INFINITE = float("inf")
MAX_QUOTE = 400


class Origin(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where something stands: a named input, its line (from 1) and the line's text."""

    source: str
    line: int | None = None
    text: str = ""

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source}:{self.line}"


class Fact(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing that is true of the job.

    `kind` is a dotted name (`train.micro_batch`, `symptom.cuda-oom`); a single value is held in the
    field `value`, a symptom holds `rank`, `at`, `step`, `phase` and what its pattern captured.
    """

    kind: str
    fields: tuple[tuple[str, Scalar], ...] = ()
    origins: tuple[Origin, ...] = ()
    how: How = "read"

    def get(self, name: str) -> Scalar | None:
        """Give one field, or None when the fact does not carry it."""
        for key, value in self.fields:
            if key == name:
                return value
        return None

    @property
    def value(self) -> Scalar | None:
        """Give the single value of a plain fact."""
        fields = self.fields
        if len(fields) == 1 and fields[0][0] == "value":
            return fields[0][1]
        return self.get("value")


def fact(kind: str, value: Scalar, *origins: Origin, how: How = "read") -> Fact:
    """Make a plain fact with one value."""
    return Fact(kind=kind, fields=(("value", value),), origins=origins, how=how)


def identity(fact: Fact) -> tuple[object, ...]:
    """Give what makes two facts the same; also their canonical order.

    Values are told apart by `repr`, since True == 1 == 1.0 in Python.
    """
    places = tuple((o.source, -1 if o.line is None else o.line, o.text) for o in fact.origins)
    return (fact.kind, repr(fact.fields), places)


class Facts:
    """A set of facts: plain ones by name (the first one given wins), symptoms by kind.

    A name that is not here is unknown, never false.
    """

    def __init__(self, facts: Iterable[Fact] = ()) -> None:
        self._all: list[Fact] = []
        self._plain: dict[str, Fact] = {}
        self._sighted: dict[str, list[Fact]] = {}
        if isinstance(facts, Facts):
            # what was looked at once need not be again
            self._all = list(facts._all)  # noqa: SLF001 - one of its own class
            self._plain = dict(facts._plain)  # noqa: SLF001
            self._sighted = {k: [*v] for k, v in facts._sighted.items()}  # noqa: SLF001
        else:
            self.add(*facts)

    def add(self, *facts: Fact) -> None:
        """Add facts; a plain name that is already known keeps its first value."""
        for item in facts:
            value, kind = item.value, item.kind
            if kind.startswith(SYMPTOM):
                self._sighted.setdefault(kind, []).append(item)
            elif value is not None:
                if kind in self._plain or not finite(value):
                    continue
                self._plain[kind] = item
            self._all.append(item)

    def __iter__(self) -> Iterator[Fact]:
        return iter(self._all)

    def __contains__(self, kind: object) -> bool:
        return kind in self._plain

    def get(self, kind: str) -> Fact | None:
        """Give the plain fact of this name, or None when it is unknown."""
        return self._plain.get(kind)

    def symptoms(self) -> Iterator[str]:
        """Give the symptoms there are sightings of."""
        return (kind.removeprefix(SYMPTOM) for kind in self._sighted)

    def sightings(self, symptom: str) -> Sequence[Fact]:
        """Give the facts of a symptom, in order."""
        return self._sighted.get(SYMPTOM + symptom, ())

    def value(self, kind: str) -> Scalar | None:
        """Give the value of the plain fact of this name, or None when it is unknown."""
        item = self._plain.get(kind)
        return None if item is None else item.value

    def number(self, kind: str) -> float | None:
        """Give a numeric value, or None when it is unknown or not a number."""
        value = self.value(kind)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        return float(value)

    def text(self, kind: str) -> str | None:
        """Give a text value, or None when it is unknown or not text."""
        value = self.value(kind)
        return value if isinstance(value, str) else None

    def word(self, kind: str) -> str:
        """Give a text in lower case; "" when it is unknown or says that there is none."""
        found = (self.text(kind) or "").strip().lower()
        return "" if found in ("none", "null") else found

    def whole(self, kind: str) -> int | None:
        """Give a positive whole number; None when it is unknown or anything else."""
        value = self.number(kind)
        return int(value) if value is not None and value >= 1 and value == int(value) else None

    def degree(self, kind: str) -> int | None:
        """Give a parallel degree: 1 when nobody sets it, None when it cannot be told."""
        found = self.whole(kind)
        return found if found is not None else 1 if self.is_unset(kind) else None

    def is_unset(self, *kinds: str) -> bool:
        """Tell whether it is certain that nobody sets some parameters: all of the launch is here.

        `launch.unresolved` names those that are set to something nobody can tell.
        """
        if self.value("launch.given") is not True or self.value("launch.env_complete") is not True:
            return False
        return not any(kind in self or self.is_open(kind) for kind in kinds)

    def is_open(self, kind: str) -> bool:
        """Tell whether a parameter is set to something nobody can tell: neither known nor unset."""
        return kind in (self.text("launch.unresolved") or "").split()

    def origins(self, *kinds: str) -> tuple[Origin, ...]:
        """Give the places the named facts were read from, in order, each once."""
        seen: dict[Origin, None] = {}
        for kind in kinds:
            item = self._plain.get(kind)
            if item is not None:
                seen.update(dict.fromkeys(item.origins))
        return tuple(seen)


def finite(value: Scalar) -> bool:
    """Tell whether a value can be reasoned on: not NaN, not infinite."""
    return not isinstance(value, float) or -INFINITE < value < INFINITE
