"""Versions that are known, known in part ("3.2", "3.x", ">=3.0,<4.1") or not known at all.

A question about such a version has three answers: a range holds for every release the text may
mean, for none of them, or nobody can tell.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache

from packaging.specifiers import InvalidSpecifier, Specifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from trainrx.model.pattern import late

MAX_LENGTH = 64
"""Longer texts are no versions; the bound keeps number conversion cheap."""
FIRST = Version("0.dev0")
"""Before all versions."""

_WILDCARD = late(r"(?:\.[xX*])+$")


@lru_cache(maxsize=32768)
def in_range(version_text: str, spec: str) -> bool | None:
    """Tell whether a version lies in a PEP 440 range; None when that depends on the release.

    `version_text` may be exact (`2.5.1+cu124`), a prefix (`3.x`, `3.2`: every 3.2.*) or itself a
    range. A development version (`0.9.5.dev0`) is somewhere between two releases: the answer is
    known only where it is the same for itself and for the release it leads to.
    """
    wanted = read_range(spec)
    may_be = _samples(version_text, spec)
    if wanted is None or not may_be:
        return None
    answers = {wanted.contains(version, prereleases=True) for version in may_be}
    return answers.pop() if len(answers) == 1 else None


def is_exact(version_text: str) -> bool:
    """Tell whether a text names one release (three numbers, or a local or post part)."""
    version = _version(version_text)
    return version is not None and not _is_prefix(version_text, version)


class Timeline:
    """The stretches of a package's history between which knowledge differs, as bits of a number.

    Bit 0 is all before the first version that is named anywhere, bit i what follows the i-th.
    """

    def __init__(self, specs: Iterable[str]) -> None:
        named = {version for spec in specs for version in _named(spec)}
        self.starts: tuple[Version, ...] = (FIRST, *sorted(named))
        self.all = (1 << len(self.starts)) - 1
        self._within: dict[str, int] = {}

    def within(self, spec: str) -> int:
        """Give the stretches a range covers; an empty or unreadable range covers all."""
        wanted = read_range(spec)
        if wanted is None or not spec.strip():
            return self.all
        bits = self.all
        for clause in wanted:
            bits &= self._clause(clause)
        return bits

    def _clause(self, clause: Specifier) -> int:
        """Give the stretches one comparison covers; the same few stand in many entries."""
        key = str(clause)
        if key not in self._within:
            self._within[key] = self._covered(clause)
        return self._within[key]

    def _covered(self, clause: Specifier) -> int:
        if clause.operator not in (">=", "<"):
            held = (clause.contains(start, prereleases=True) for start in self.starts)
            return sum(1 << i for i, inside in enumerate(held) if inside)
        at = bisect_left(self.starts, Version(clause.version))
        if clause.operator == ">=":
            return self.all >> at << at
        while at and not clause.contains(self.starts[at - 1], prereleases=True):
            at -= 1  # its pre-releases
        return (1 << at) - 1

    def of(self, version_text: str | None) -> int:
        """Give the stretches a version may lie in; all when it is unknown or unreadable."""
        may_be = _samples(version_text, "", self.starts) if version_text else ()
        return self._bits(bisect_right(self.starts, v) - 1 for v in may_be) or self.all

    def describe(self, bits: int) -> str:
        """Say from where to where some stretches reach, as a range ("" for all)."""
        first = (bits & -bits).bit_length() - 1
        last = bits.bit_length() - 1
        parts = [f">={self.starts[first]}"] if first > 0 else []
        if last + 1 < len(self.starts):
            parts.append(f"<{self.starts[last + 1]}")
        return ",".join(parts)

    def majors(self, bits: int) -> set[int]:
        """Give the major versions some stretches touch.

        Nothing is known of what lies before the first and behind the last named version: the last
        stretch counts as that version's, the first as the one before, and only by itself.
        """
        found: set[int] = set()
        for i, start in enumerate(self.starts):
            if bits >> i & 1 and (i > 0 or bits == 1):
                end = self.starts[i + 1] if i + 1 < len(self.starts) else None
                last = start.major if end is None else _major_before(end)
                found.update(range(last if i == 0 else start.major, last + 1))
        return found

    @staticmethod
    def _bits(indexes: Iterable[int]) -> int:
        bits = 0
        for index in indexes:
            bits |= 1 << max(index, 0)
        return bits


def _major_before(end: Version) -> int:
    return end.major if any(end.release[1:]) else end.major - 1


def _samples(text: str, spec: str, also: Sequence[Version] = ()) -> tuple[Version, ...]:
    """Give versions that stand for all a text may mean, as seen by a range; () when unreadable."""
    if exact := _exact(text):
        return exact
    version = _version(text)
    points = {*_named(spec), *also}
    if version is not None:
        end = Version(".".join(map(str, (*version.release[:-1], version.release[-1] + 1))))
        inside = (p for p in _spread(points) if version <= p < end)
        return (version, *inside)
    allowed = read_range(text)
    if allowed is None or not text.strip():
        return ()
    spread = _spread({*points, *_named(text), Version("0")})
    return tuple(p for p in spread if allowed.contains(p, prereleases=True))


@lru_cache(maxsize=2048)
def _exact(text: str) -> tuple[Version, ...]:
    """Give the release a text names, and the one a development version leads to."""
    version = _version(text)
    if version is None or _is_prefix(text, version):
        return ()
    if version.dev is None:
        return (Version(version.public),)
    return (Version(version.public), Version(version.base_version))


def _spread(points: Iterable[Version]) -> Iterable[Version]:
    """Give each version and one just behind it."""
    for point in points:
        yield point
        yield _behind(point)


@lru_cache(maxsize=2048)
def _behind(point: Version) -> Version:
    if point.post is not None:
        return Version(f"{point.base_version}.post{point.post + 1}")
    return Version(f"{point.base_version}.0.1")


@lru_cache(maxsize=2048)
def _version(text: str) -> Version | None:
    cleaned = text.strip()
    if len(cleaned) > MAX_LENGTH:
        return None
    try:
        return Version(_WILDCARD.sub("", cleaned.removeprefix("==").strip()))
    except InvalidVersion:
        return None


def _is_prefix(text: str, version: Version) -> bool:
    if _WILDCARD.search(text.strip()):
        return True
    plain = version.pre is None and version.post is None and version.dev is None
    return plain and version.local is None and len(version.release) < 3


@lru_cache(maxsize=2048)
def read_range(spec: str) -> SpecifierSet | None:
    """Read a PEP 440 range; None when it is none."""
    if len(spec) > 8 * MAX_LENGTH:
        return None
    try:
        return SpecifierSet(spec)
    except InvalidSpecifier:
        return None


@lru_cache(maxsize=2048)
def _named(spec: str) -> tuple[Version, ...]:
    found = read_range(spec)
    versions = (_version(item.version) for item in found) if found is not None else ()
    return tuple(v for v in versions if v is not None)
