"""Take values out of a `config.json` that may hold anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Config = Mapping[str, object]

MOST = 10**9
"""No count in a real configuration is larger."""


def section(config: Config, names: Sequence[str]) -> Config | None:
    """Give the first section that is there and not empty; a dot leads into a nested one."""
    for name in names:
        found: object = config
        for part in name.split("."):
            found = found.get(part) if isinstance(found, dict) else None
        if isinstance(found, dict) and found:
            return found
    return None


def count(source: Config, *names: str) -> int | None:
    """Give the first positive whole number under some names (a list of equal ones counts once)."""
    for name in names:
        value = source.get(name)
        if isinstance(value, list) and value and all(item == value[0] for item in value):
            value = value[0]
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value < MOST:
            return value
    return None


def number(source: Config, name: str) -> float | None:
    """Give a positive number that may be broken."""
    value = source.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 < value < MOST else None


def word(source: Config, name: str) -> str:
    """Give a text of sane length; empty when there is none."""
    value = source.get(name)
    return value[:80] if isinstance(value, str) else ""
