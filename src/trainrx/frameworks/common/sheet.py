"""The arguments while the rules are worked through, as the framework's object would hold them."""

from __future__ import annotations

from trainrx.frameworks.common.view import UNKNOWN, ArgumentView, Held, Truth, both, negate
from trainrx.model.catalog import Value


class Sheet:
    """Reads from a launch, keeps what the rules write; a condition not known leaves it open."""

    def __init__(self, view: ArgumentView) -> None:
        self.view = view
        self.written: dict[str, Held] = {}

    def has(self, name: str) -> bool:
        """Tell whether the command takes an argument of this name."""
        return self.view.has(name)

    def get(self, name: str) -> Held:
        """Give the value so far; None for a name the command does not take."""
        if name in self.written:
            return self.written[name]
        return self.view.get(name) if self.view.has(name) else None

    def set(self, name: str, value: Held, when: Truth = True) -> None:
        """Write a value, if the condition holds; when that is not known, the two must agree."""
        if when is False or not self.view.has(name):
            return
        if when is None and not _same(self.get(name), value):
            value = UNKNOWN
        self.written[name] = value

    def fill(self, name: str, value: Held, when: Truth = True) -> None:
        """Write a value where the argument is None."""
        self.set(name, value, both(self.none(name), when))

    def none(self, name: str) -> Truth:
        """Tell whether an argument is None."""
        value = self.get(name)
        return None if value is UNKNOWN else value is None

    def any(self, name: str) -> Truth:
        """Tell whether an argument is true in Python's sense: not None, 0, "" or empty."""
        value = self.get(name)
        return None if value is UNKNOWN else bool(value)

    def any_of(self, *names: str) -> Truth:
        """Tell whether one of the arguments is true."""
        found = [self.any(name) for name in names]
        return True if True in found else None if None in found else False

    def equals(self, name: str, *values: Value) -> Truth:
        """Tell whether an argument has one of the values."""
        value = self.get(name)
        return None if value is UNKNOWN else value in values

    def number(self, name: str) -> float | None:
        """Give a number; None when it is none, or not known."""
        value = self.get(name)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    def since(self, release: str, until: str | None = None) -> Truth:
        """Tell whether the framework is of this release or later, and before another."""
        ended = self.view.since(until) if until is not None else False
        return both(self.view.since(release), negate(ended))

    def read_json(self, name: str, *, empty: Value = None) -> None:
        """Read an argument given as JSON text; None becomes `empty`."""
        value = self.get(name)
        if value is None:
            self.set(name, empty)
        elif isinstance(value, str):
            self.set(name, _json(value))

    def copy(self, source: str, target: str, when: Truth = True) -> None:
        """Fill an argument that is None with the value of another."""
        self.fill(target, self.get(source), when)

    def split(self, name: str) -> None:
        """Make a list of a text at its commas."""
        value = self.get(name)
        if isinstance(value, str):
            self.set(name, [part.strip() for part in value.split(",")])


def accumulation(sheet: Sheet, batch: str, target: float = 16) -> Held:
    """Give the steps that reach `target` samples per update: at least 1."""
    size, world = sheet.number(batch), sheet.view.world_size
    if not size or not world or size < 0 or world < 0:
        return UNKNOWN
    return max(1, -int(-(target / size / world) // 1))


def _same(one: Held, other: Held) -> bool:
    return type(one) is type(other) and one == other


def _json(text: str) -> Held:
    import json  # few values are JSON

    try:
        found: Value = json.loads(text)
    except (ValueError, RecursionError):
        # a file, or a mistake the framework stops at
        return UNKNOWN
    return found
