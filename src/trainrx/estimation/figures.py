"""Round the figures of an estimate: a hundredth of a GiB is far finer than any of them is known."""

from __future__ import annotations

from typing import TypeVar

import msgspec

R = TypeVar("R", bound=msgspec.Struct)
DIGITS = 2


def rounded(record: R) -> R:
    """Round every number of a record to 0.01."""
    return msgspec.convert(_map(msgspec.to_builtins(record)), type(record))


def _map(node: object) -> object:
    if isinstance(node, float):
        return round(node, DIGITS)
    if isinstance(node, (list, tuple)):
        return [_map(item) for item in node]
    if isinstance(node, dict):
        return {key: _map(item) for key, item in node.items()}
    return node
