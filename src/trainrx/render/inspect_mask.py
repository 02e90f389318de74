"""Mask secrets in a resolved launch: tokens stand in variables and flags alike."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeVar

import msgspec

from trainrx.model.inspection import Comparison, Inspection
from trainrx.model.translation import Translation
from trainrx.render.redact import MASK, redact

A = TypeVar("A", Inspection, Comparison, Translation)
_PROBE = "a1b2c3d4e5f6"
_HELD = ("value", "text", "values", "alternatives")
_WORDS = frozenset(
    {"topic", "via", "how", "canonical", "package", "title", "why", "sources", "version_how", "id"}
)
"""What this program says in its own words needs no look."""
SHORTEST = 6
"""No secret is shorter; most values are, and need no look."""


def masked(answer: A) -> A:
    """Mask every text of an answer; a value goes by the name it stands under, too.

    What is no UTF-8 becomes U+FFFD.
    """
    return msgspec.convert(_map(msgspec.to_builtins(answer)), type(answer))


def _map(node: object) -> object:
    if isinstance(node, str):
        return _text(node)
    if isinstance(node, (list, tuple)):
        return [_map(item) for item in node]
    if not isinstance(node, dict):
        return node
    hidden = any(_is_text(node.get(key)) for key in _HELD) and _is_secret(str(node.get("name", "")))
    return {
        key: item if key in _WORDS else _hide(item) if hidden and key in _HELD else _map(item)
        for key, item in node.items()
    }


@lru_cache(maxsize=4096)
def _text(text: str) -> str:
    sound = text.encode("utf-8", "replace").decode()
    return redact(sound) if len(sound) >= SHORTEST else sound


def _is_text(value: object) -> bool:
    return bool(value) and isinstance(value, (str, list, tuple))


@lru_cache(maxsize=4096)
def _is_secret(name: str) -> bool:
    return MASK in redact(f"{name}={_PROBE}")


def _hide(value: object) -> object:
    if isinstance(value, (list, tuple)):
        return [MASK for _ in value]
    return MASK if value not in (None, "", True, False) else value
