"""Versions: plain releases without `packaging`, whose import takes longer than to judge a script.

A plain release is numbers with dots between them; all others are `packaging`'s own objects. Both
compare with one another as PEP 440 has it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from packaging.version import Version

_MOST_PARTS = 12
_MOST_DIGITS = 18


@lru_cache(maxsize=4096)
def read_version(text: str) -> Version:
    """Read a version.

    Raises:
        ValueError: it is none by PEP 440.
    """
    parts = text.strip().split(".")
    if len(parts) <= _MOST_PARTS and all(map(_is_number, parts)):
        return cast("Version", Release(tuple(map(int, parts))))
    from packaging.version import Version

    version = Version(text)
    plain = not version.epoch and version.local is None and not version.is_devrelease
    if plain and version.pre is None and version.post is None:
        return cast("Version", Release(version.release))  # "v3.2"
    return version


class Release:
    """A version that is nothing but its numbers, with what `packaging` tells of one."""

    __slots__ = ("_key", "release")

    epoch = 0
    pre = post = local = None
    dev: int | None = None
    is_prerelease = is_postrelease = is_devrelease = False

    def __init__(self, release: tuple[int, ...]) -> None:
        self.release = release
        end = len(release)
        while end > 1 and not release[end - 1]:
            end -= 1
        self._key = release[:end]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Release):
            return self._key == other._key
        return self._full() == other

    def __lt__(self, other: Release | Version) -> bool:
        if isinstance(other, Release):
            return self._key < other._key
        return self._full() < other

    def __le__(self, other: Release | Version) -> bool:
        if isinstance(other, Release):
            return self._key <= other._key
        return self._full() <= other

    def __gt__(self, other: Release | Version) -> bool:
        if isinstance(other, Release):
            return self._key > other._key
        return self._full() > other

    def __ge__(self, other: Release | Version) -> bool:
        if isinstance(other, Release):
            return self._key >= other._key
        return self._full() >= other

    def __hash__(self) -> int:
        return hash(self._key)

    def __str__(self) -> str:
        return ".".join(map(str, self.release))

    def __repr__(self) -> str:
        return f"Release({str(self)!r})"

    @property
    def public(self) -> str:
        """Give the version without a local part."""
        return str(self)

    @property
    def base_version(self) -> str:
        """Give the numbers alone."""
        return str(self)

    @property
    def major(self) -> int:
        """Give the first number."""
        return self.release[0]

    def _full(self) -> Version:
        from packaging.version import Version

        return Version(str(self))


class _First(Release):
    """0.dev0, the lowest there is."""

    __slots__ = ()

    dev = 0
    is_prerelease = is_devrelease = True

    def __init__(self) -> None:
        super().__init__((0,))
        self._key = (-1,)

    def __str__(self) -> str:
        return "0.dev0"

    @property
    def base_version(self) -> str:
        """Give the numbers alone."""
        return "0"


FIRST: Version = cast("Version", _First())
"""Before all versions."""


def _is_number(part: str) -> bool:
    return len(part) <= _MOST_DIGITS and part.isascii() and part.isdecimal()
