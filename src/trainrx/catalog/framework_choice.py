"""The framework a user names by itself: `ms-swift`, `LLaMA-Factory 0.9.2`, `slime`."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from trainrx.frameworks import framework_of, frameworks, names
from trainrx.knowledge.packages import read_requirements
from trainrx.model.errors import UsageError
from trainrx.model.facts import Fact, Origin, fact
from trainrx.versions.listing import canonical_package, read_versions

OPTION = "--framework"
_PACKAGES = frozenset({"megatron-core", "sglang"})
"""Others people train with, of which knowledge speaks by name."""
_LIBRARIES = frozenset({"deepspeed", "accelerate"})
_OWNERS = {"pytorch": "torch", "nccl": "nvidia-nccl-cu12"}
"""What fails below every framework, as people call it, and the package it comes in."""
_OTHER_NAMES = {"megatron": "megatron-core", **_OWNERS}
_VERSION = re.compile(r"(?:[ =@]+v?|-)(?=\d)")
"""What stands between a name and its version."""


class FrameworkChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A framework, or the package that takes its place, and its version; "" where not said.

    `origin` is where it is named; None: by the option. `listed`: nobody says that it trains, it is
    only installed.
    """

    name: str
    version: str = ""
    origin: Origin | None = None
    listed: bool = False

    def fact(self) -> Fact:
        """Say it as a user's word: `launch.framework`, or `launch.package` of any other.

        What lies below every framework is what the failure is in: `failure.package`.
        """
        kind = "launch.framework" if framework_of(self.name).spelled else "launch.package"
        kind = "failure.package" if self.name in _OWNERS.values() else kind
        text = f"{self.name} {self.version}".strip()
        origin = self.origin or Origin(source=OPTION, text=text)
        return fact(kind, self.name, origin, how="given")


def known_names() -> frozenset[str]:
    """Give all names a user may name a framework by, in lower case with dashes."""
    named = _programs() | _other_names().keys() | {*_OWNERS.values()}
    return named | read_requirements().releases.keys()


def package_named(text: str) -> str | None:
    """Give the package that goes by a name here; None where nothing of that name is known."""
    plain = canonical_package(text)
    return _other_names().get(plain, plain) if plain in known_names() else None


@lru_cache(maxsize=4096)
def framework_named(text: str) -> str | None:
    """Give what people train with that goes by a name here; None for anything else."""
    found = package_named(text)
    named = found in _programs() or (found is not None and is_library(found))
    return found if named and found not in _OWNERS.values() else None


def is_library(name: str) -> bool:
    """Tell whether frameworks train with a package that people also use alone."""
    return name in _LIBRARIES or (name in names() and name not in _programs())


def _other_names() -> dict[str, str]:
    return _OTHER_NAMES | {other: one.name for one in frameworks() for other in one.also_called}


def _programs() -> frozenset[str]:
    return (
        _PACKAGES
        | _OWNERS.keys()
        | {one.name for one in frameworks() if one.spelled or one.only_named}
    )


def read_framework(text: str) -> FrameworkChoice:
    """Read the name of a framework, with or without a version behind it.

    Raises:
        UsageError: nothing of that name is known here; names what is, the nearest first.
    """
    name, _, version = _cut(text.strip())
    plain = canonical_package(name)
    known = known_names()
    if plain not in known:
        raise UsageError(f"{OPTION} {text}: {_not_known(plain, known)}")
    package = _other_names().get(plain, plain)
    if not version:
        return FrameworkChoice(name=package)
    listed = read_versions(f"{package}=={version}", OPTION)
    if listed.unread or package not in listed.texts():
        raise UsageError(
            f"{OPTION} {text}: {version!r} is no version; expected one like {package}==3.2.1, "
            "or the name alone"
        )
    return FrameworkChoice(name=package, version=listed.texts()[package])


def _cut(text: str) -> tuple[str, str, str]:
    found = _VERSION.search(text)
    if found is None:
        return text, "", ""
    return text[: found.start()], found[0], text[found.end() :].strip()


def _not_known(plain: str, known: frozenset[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(plain, sorted(known), n=3, cutoff=0.6)
    meant = f"did you mean {' or '.join(near)}? " if near else ""
    listed = ", ".join(sorted(_programs()))
    return (
        f"no such framework is known here; {meant}Expected one of {listed}, or a library "
        "(accelerate, deepspeed, ...); pytorch or nccl where the failure lies there and no "
        "framework is used. For a program of your own leave the option out."
    )
