"""Version ranges as PEP 440 has them, read without importing what few of them need.

https://packaging.python.org/en/latest/specifications/version-specifiers/
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from operator import eq, ge, gt, le, lt, ne
from typing import TYPE_CHECKING

import msgspec

from trainrx.versions.release import read_version

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version

_COMPARE: Mapping[str, Callable[[Version, Version], bool]] = {
    ">=": ge,
    "<=": le,
    "==": eq,
    "!=": ne,
    "<": lt,
    ">": gt,
}
_ENDS = frozenset({">=", "<"})
_MOST_PARTS = 6
_MOST_DIGITS = 9


class Clause(msgspec.Struct, frozen=True):
    """One comparison with a release or, but for `<` and `>`, a post-release.

    `prefix`: `==3.2.*`, any release that begins so.
    """

    operator: str
    text: str
    version: Version
    prefix: bool

    def contains(self, version: Version) -> bool:
        """Tell whether a version satisfies this, pre-releases included."""
        public = version if version.local is None else read_version(version.public)
        if self.prefix:
            wanted = self.version.release
            held = (*version.release, *(0 for _ in wanted))[: len(wanted)]
            return (version.epoch == 0 and held == wanted) == (self.operator == "==")
        if self.operator == ">":
            # neither a post-release nor a local build of a release is later than it
            late = version.post is not None or version.local is not None
            return version > self.version and not (late and self._is_of(version))
        if self.operator == "<" and version.is_prerelease and self._is_of(version):
            return False
        return _COMPARE[self.operator](version if self.operator == "<" else public, self.version)

    def _is_of(self, version: Version) -> bool:
        return read_version(version.base_version) == self.version


class Specifiers(msgspec.Struct, frozen=True):
    """A range; `other` is one that is more than comparisons with plain releases."""

    clauses: Sequence[Clause] = ()
    other: SpecifierSet | None = None

    @property
    def named(self) -> tuple[str, ...]:
        """Give the versions the range names."""
        if self.other is not None:
            return tuple(item.version for item in self.other)
        return tuple(clause.text for clause in self.clauses)

    def contain(self, version: Version) -> bool:
        """Tell whether a version lies in the range, pre-releases included."""
        if self.other is not None:
            return self.other.contains(str(version), prereleases=True)
        return all(clause.contains(version) for clause in self.clauses)

    def among(self, ascending: Sequence[Version]) -> int:
        """Give which of some versions lie in the range, the first as bit 0."""
        if self.other is not None or any(c.prefix or c.operator not in _ENDS for c in self.clauses):
            return sum(1 << i for i, v in enumerate(ascending) if self.contain(v))
        first, end = 0, len(ascending)
        for clause in self.clauses:
            at = bisect_left(ascending, clause.version)
            if clause.operator == ">=":
                first = max(first, at)
                continue
            while at and not clause.contains(ascending[at - 1]):  # its pre-releases
                at -= 1
            end = min(end, at)
        return (1 << max(end, first)) - (1 << first)


def read_specifiers(spec: str) -> Specifiers | None:
    """Read a range; None when it is none."""
    clauses: list[Clause] = []
    for part in spec.split(","):
        if not part.strip():
            continue
        clause = _read_clause(part.strip())
        if clause is None:
            return _read_other(spec)
        clauses.append(clause)
    return Specifiers(tuple(clauses))


def _read_clause(text: str) -> Clause | None:
    """Read a comparison with a plain release; None where it is more than that.

    By hand: to compile a pattern for it takes longer than to read all ranges of a run.
    """
    operator = text[:2] if text[:2] in _COMPARE else text[:1]
    if operator not in _COMPARE:
        return None
    named = text[len(operator) :].strip()
    prefix = operator in ("==", "!=") and named.endswith(".*")
    numbers, post, number = named.removesuffix(".*" if prefix else "").partition(".post")
    parts = numbers.split(".")
    if post and (prefix or operator in "<>"):
        return None
    if len(parts) > _MOST_PARTS or not all(map(_is_number, [*parts, number] if post else parts)):
        return None
    return Clause(operator, named, read_version(numbers + post + number), prefix)


def _is_number(text: str) -> bool:
    return len(text) <= _MOST_DIGITS and text.isascii() and text.isdecimal()


def _read_other(spec: str) -> Specifiers | None:
    # imports platform, subprocess and more: 10 ms
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        return Specifiers(other=SpecifierSet(spec))
    except InvalidSpecifier:
        return None
