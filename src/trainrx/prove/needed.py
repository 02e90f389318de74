"""Packages that changes need beside the framework, with the line that installs each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from packaging.version import InvalidVersion, Version

from trainrx.knowledge.packages import read_requirements
from trainrx.model.facts import Facts, Scalar
from trainrx.model.fixing import Needed
from trainrx.model.packages import Need
from trainrx.model.parts import Param
from trainrx.model.result import Change

BUILT = {"flash-attn": " --no-build-isolation"}
"""Options pip wants for packages that are built against the torch that is there."""


def needed(
    changes: Sequence[Change],
    before: Facts,
    after: Facts,
    params: Mapping[str, Param],
    versions: Mapping[str, str],
) -> tuple[Needed, ...]:
    """Name the packages that changes need and that are not known to be there.

    What a launch had a use for before, and what its framework brings along, is taken to be there.

    Args:
        changes: what is changed.
        before: what was read of the launch.
        after: what is read of it with the changes made.
        params: the parameters.
        versions: packages that are known to be there.
    """
    names = [change.canonical for change in changes if change.canonical in params]
    had = set(_of(params, before))
    wanted = dict.fromkeys(
        package
        for name in names
        if (package := _package(params[name], after.value(name))) and package not in had
    )
    known = {name.lower().replace("_", "-") for name in versions}
    framework = after.text("launch.framework") or ""
    found = []
    for package in wanted:
        need = _asked(framework, versions.get(framework), package)
        if package in known or (need is not None and need.kind == "requires"):
            continue
        found.append(Needed(package=package, command=_line(package, need)))
    return tuple(found)


def _of(params: Mapping[str, Param], facts: Facts) -> Iterator[str]:
    for name, param in params.items():
        package = _package(param, facts.value(name)) if param.needs else ""
        if package:
            yield package


def _package(param: Param, value: Scalar | None) -> str:
    said = str(value).lower() if isinstance(value, bool) else str(value)
    return "" if value is None else param.needs.get(said, "")


def _asked(framework: str, version: str | None, package: str) -> Need | None:
    """Give what a release of a framework says of a package; None where it says nothing."""
    try:
        at = Version(version or "")
    except InvalidVersion:
        return None
    needs = read_requirements().needs.get(framework, ())
    told = [
        need
        for need in needs
        if need.needs == package
        and at >= Version(need.since)
        and (not need.until or at < Version(need.until))
    ]
    return min(told, key=lambda need: need.kind != "requires", default=None)


def _line(package: str, need: Need | None) -> str:
    named = f'"{package}{need.spec}"' if need is not None and need.spec else package
    return f"pip install {named}{BUILT.get(package, '')}"
