"""How old the installed framework is: the releases of it that came out later."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from packaging.version import Version

from trainrx.model.facts import Fact, Facts, Origin, fact
from trainrx.parse.catalog import catalog
from trainrx.parse.version_range import is_exact


def release_facts(facts: Facts, versions: Mapping[str, str]) -> Iterator[Fact]:
    """Derive `framework.releases_behind` and `framework.development`.

    Nothing is said of a framework whose releases are not listed, nor of a version text that may
    mean several releases.
    """
    name = facts.text("launch.framework") or ""
    present = versions.get(name) or facts.text("launch.framework_version")
    if not name or present is None or not is_exact(present):
        return
    releases = catalog(name).versions
    if not releases:
        return
    version = Version(present.strip().removeprefix("==").strip())
    at = (*facts.origins("launch.framework"), Origin(source=f"{name} {present}"))
    behind = sum(release > version for release in releases)
    yield fact("framework.releases_behind", behind, *at, how="derived")
    yield fact("framework.development", version.is_devrelease, *at, how="derived")
