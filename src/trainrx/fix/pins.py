"""One set of versions that fit together, near to what is installed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from trainrx.frameworks import frameworks
from trainrx.knowledge.packages import Requirements
from trainrx.model.packages import Need
from trainrx.versions.ranges import read_range

_KEPT_FIRST = ("python", "torch")
"""What is changed last: a new torch means another wheel of everything that is compiled; then come
engines, trainers and the libraries they stand on."""
_THEN = ("peft", "accelerate", "deepspeed")

FIXED = ("python", "cuda", "driver")
MOST_TRIES = 5_000


def _kept_first() -> tuple[str, ...]:
    own = sorted(frameworks(), key=lambda one: (not one.is_engine, one.library, not one.builds_on))
    return (*_KEPT_FIRST, *(one.name for one in own), *_THEN)


class _Rule(NamedTuple):
    """From `since` to before `until`, `package` allows only some versions of `needs`."""

    package: str
    needs: str
    since: Version
    until: Version | None
    allowed: SpecifierSet

    def allows(self, holder: Version, other: Version) -> bool:
        """Tell whether two versions may stand together."""
        held = holder >= self.since and (self.until is None or holder < self.until)
        return not held or self.allowed.contains(other, prereleases=True)


def consistent_set(
    installed: Mapping[str, str],
    known: Requirements,
    *,
    keep: Sequence[str] = (),
    wanted: Mapping[str, str] | None = None,
) -> dict[str, str] | None:
    """Find versions that satisfy all that the releases need of each other.

    Packages are settled in the order of `keep`, then `_kept_first`, then by name: each keeps its
    version where it can, else takes the nearest that fits: of newer ones the last patch of the
    first series, as a range without an upper end says nothing of releases it never saw. Those of
    `keep` and python never change. What optional features ask is followed where it can be.

    Args:
        installed: package to exact version; what is no exact version is left alone.
        known: what releases need, and which there are.
        keep: packages that must stay as they are.
        wanted: further ranges, package to range (what the model needs).

    Returns:
        The versions to install, only of packages that change; None when there is no such set.
    """
    present = {name: v for name, text in installed.items() if (v := _exact(text)) is not None}
    order = _order(present, keep)
    for optional in (True, False):
        search = _Search(present, known, (*keep, *FIXED), wanted or {}, optional=optional)
        found = search.run(order)
        if found is not None:
            return {name: str(found[name]) for name in order if found[name] != present[name]}
    return None


def _order(present: Mapping[str, Version], keep: Sequence[str]) -> list[str]:
    first = dict.fromkeys((*keep, *_kept_first()))
    return [n for n in first if n in present] + sorted(n for n in present if n not in first)


class _Search:
    """A depth-first search; what is chosen narrows what the others may be."""

    def __init__(
        self,
        present: Mapping[str, Version],
        known: Requirements,
        fixed: Sequence[str],
        wanted: Mapping[str, str],
        *,
        optional: bool,
    ) -> None:
        self._rules: dict[frozenset[str], list[_Rule]] = {}
        for name in present:
            for rule in _rules(known.needs.get(name, ()), present, optional=optional):
                self._rules.setdefault(frozenset((rule.package, rule.needs)), []).append(rule)
        self._domains = {
            name: [v for v in _domain(name, version, known, fixed) if _suits(v, wanted.get(name))]
            for name, version in present.items()
        }
        self._fitting: dict[tuple[str, Version, str], frozenset[Version]] = {}
        self._tries = 0

    def run(self, order: Sequence[str]) -> dict[str, Version] | None:
        """Give a version for each package, or None."""
        return self._settle(tuple(order), self._domains)

    def _settle(
        self, left: tuple[str, ...], domains: Mapping[str, list[Version]]
    ) -> dict[str, Version] | None:
        if not left:
            return {}
        name, *others = left
        for version in domains[name]:
            self._tries += 1
            if self._tries > MOST_TRIES:
                return None
            narrowed = {other: self._narrow(name, version, other, domains) for other in others}
            if not all(narrowed.values()):
                continue
            found = self._settle(tuple(others), narrowed)
            if found is not None:
                return {name: version, **found}
        return None

    def _narrow(
        self, name: str, version: Version, other: str, domains: Mapping[str, list[Version]]
    ) -> list[Version]:
        rules = self._rules.get(frozenset((name, other)))
        if not rules:
            return domains[other]
        key = (name, version, other)
        if key not in self._fitting:
            self._fitting[key] = frozenset(
                v
                for v in self._domains[other]
                if all(
                    r.allows(version, v) if r.package == name else r.allows(v, version)
                    for r in rules
                )
            )
        return [v for v in domains[other] if v in self._fitting[key]]


def _rules(
    needs: Sequence[Need], present: Mapping[str, Version], *, optional: bool
) -> Iterator[_Rule]:
    for need in needs:
        allowed = read_range(need.spec)
        if need.needs not in present or allowed is None or (need.kind == "extra" and not optional):
            continue
        until = Version(need.until) if need.until else None
        yield _Rule(need.package, need.needs, Version(need.since), until, allowed)


def _domain(
    name: str, version: Version, known: Requirements, fixed: Sequence[str]
) -> Iterator[Version]:
    yield version
    if name in fixed:
        return
    released = [Version(text) for text in reversed(known.releases.get(name, ()))]
    newer = [v for v in released if v > version]
    # the sort is stable: within a series the last patch stays first
    yield from sorted(newer, key=lambda v: v.release[:2])
    yield from (v for v in released if v < version)


def _suits(version: Version, spec: str | None) -> bool:
    allowed = read_range(spec) if spec else None
    return allowed is None or allowed.contains(version, prereleases=True)


def _exact(text: str) -> Version | None:
    try:
        version = Version(text)
    except InvalidVersion:
        return None
    return Version(version.public) if len(version.release) > 1 else None
