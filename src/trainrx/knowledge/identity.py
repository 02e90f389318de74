"""Parts of knowledge as keys of what is worked out of them once."""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")


class ByIdentity(Generic[T]):
    """A part of knowledge to look things up in once: it is not changed after it is read."""

    def __init__(self, part: T) -> None:
        self.part = part

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByIdentity) and self.part is other.part

    def __hash__(self) -> int:
        return id(self.part)
