"""Pins in the metadata of a release, and which release of another package they meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet

from catalog.sources import Sources


def pins(sources: Sources, package: str) -> SpecifierSet | None:
    """Give the range of another package a release needs; None when it does not name it."""
    for line in sources.read("METADATA").splitlines():
        key, _, text = line.partition(":")
        if not line.strip():
            # the description begins
            break
        if key != "Requires-Dist":
            continue
        try:
            needed = Requirement(text)
        except InvalidRequirement:
            continue
        optional = needed.marker is not None and "extra" in str(needed.marker)
        if needed.name.lower().replace("_", "-") == package and not optional:
            return needed.specifier
    return None


def newest_allowed(
    allowed: str, day: str, releases: Sequence[str], days: Mapping[str, str]
) -> str | None:
    """Give the newest release that a range allows and that existed on a day ("": any day)."""
    specifier = SpecifierSet(allowed)
    fitting = [release for release in releases if specifier.contains(release)]
    existing = [r for r in fitting if not day or not days.get(r) or days[r] <= day]
    left = existing or fitting
    return left[-1] if left else None
