"""Versions: plain releases without `packaging`, whose import takes longer than to judge a script.

A plain release is numbers with dots between them, `.post1` behind; all others are `packaging`'s own
objects. Both compare with one another as PEP 440 has it.
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
    text = text.strip()
    if not text[:1].isdecimal() and text[:1] not in ("v", "V"):
        raise ValueError(f"Invalid version: {text!r}")  # a range, mostly
    numbers, sign, post = text.partition(".post")
    parts = numbers.split(".")
    if len(parts) <= _MOST_PARTS and all(map(_is_number, [*parts, post] if sign else parts)):
        return cast("Version", Release(tuple(map(int, parts)), int(post) if sign else None))
    from packaging.version import Version

    version = Version(text)
    plain = not version.epoch and version.local is None and not version.is_devrelease
    if plain and version.pre is None:
        return cast("Version", Release(version.release, version.post))  # "v3.2"
    return version


class Release:
    """A release or one after it, with what `packaging` tells of one."""

    __slots__ = ("_key", "post", "release")

    epoch = 0
    pre = local = None
    dev: int | None = None
    is_prerelease = is_devrelease = False

    def __init__(self, release: tuple[int, ...], post: int | None = None) -> None:
        self.release = release
        self.post = post
        end = len(release)
        while end > 1 and not release[end - 1]:
            end -= 1
        self._key = (release[:end], -1 if post is None else post)

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
        return self.base_version if self.post is None else f"{self.base_version}.post{self.post}"

    def __repr__(self) -> str:
        return f"Release({str(self)!r})"

    @property
    def public(self) -> str:
        """Give the version without a local part."""
        return str(self)

    @property
    def base_version(self) -> str:
        """Give the numbers alone."""
        return ".".join(map(str, self.release))

    @property
    def is_postrelease(self) -> bool:
        """Tell a release from one after it."""
        return self.post is not None

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
        self._key = ((0,), -2)

    def __str__(self) -> str:
        return "0.dev0"


FIRST: Version = cast("Version", _First())
"""Before all versions."""


def _is_number(part: str) -> bool:
    return len(part) <= _MOST_DIGITS and part.isascii() and part.isdecimal()
