"""How old the installed framework is: the releases of it that came out later."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from packaging.version import Version

from trainrx.catalog.catalog import catalog
from trainrx.frameworks import framework_of
from trainrx.knowledge.catalogs import read_registers
from trainrx.knowledge.packages import read_requirements
from trainrx.model.facts import Fact, Facts, Origin, fact
from trainrx.versions.ranges import is_exact

ASKED = ("launch.framework", "launch.package", "failure.package")
"""Facts that name the package whose release is in question, the surest first."""


def package_in_question(facts: Facts) -> str:
    """Name the package to look for a newer release of, "" when nothing tells.

    That is the framework that was launched; where it is not known, the package a user names, then
    the one the exception was raised in.
    """
    return next((name for kind in ASKED if (name := facts.text(kind))), "")


def releases_of(package: str) -> tuple[str, ...]:
    """Give the releases of a package that are known here, ascending."""
    return catalog(package).releases or read_requirements().releases.get(package, ())


def release_facts(facts: Facts, versions: Mapping[str, str]) -> Iterator[Fact]:
    """Derive `framework.releases_behind` and `framework.development`.

    Nothing is said of a framework whose releases are not listed, nor of a version text that may
    mean several releases.
    """
    name = package_in_question(facts)
    told = (
        facts.text("launch.framework_version") if name == facts.text("launch.framework") else None
    )
    present = versions.get(name) or told
    if not name or present is None or not is_exact(present):
        return
    releases = [Version(release) for release in releases_of(name)]
    if not releases:
        return
    version = Version(present.strip().removeprefix("==").strip())
    at = (*facts.origins(*ASKED)[:1], Origin(source=f"{name} {present}"))
    behind = sum(release > version for release in releases)
    yield fact("framework.releases_behind", behind, *at, how="derived")
    yield fact("framework.development", version.is_devrelease, *at, how="derived")


def template_facts(facts: Facts) -> Iterator[Fact]:
    """Derive `template.in_a_release`: a refused template that no release has was never right."""
    name = facts.text("template.refused")
    if name is None:
        return
    registers = [
        item
        for item in read_registers()
        if "template" in item.arguments and framework_of(item.package).names_refused_template
    ]
    known = any(name in names for item in registers for _, names in item.names())
    yield fact("template.in_a_release", known, *facts.origins("template.refused"), how="derived")
