"""Registers of names that argparse does not list, and arguments that are read as JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from catalog.ranges import spans
from catalog.register_table import SPECS, Spec
from catalog.sources import Sources
from catalog.world import World
from trainrx.model.catalog import ParsedArgument, Register, Span


def read_registers(package: str, sources: Sources) -> dict[str, list[str]]:
    """Read the registers of a release; one that is not checked there, or unreadable, is absent."""
    world = World(sources)
    found: dict[str, list[str]] = {}
    for spec in SPECS:
        if spec.package == package and _looks_up(sources, package, spec.checked):
            names = spec.read(world)
            if names is not None:
                found[spec.id] = sorted(names)
    return found


def _looks_up(sources: Sources, package: str, checked: str) -> bool:
    wanted = re.compile(checked)
    folder = "swift" if package == "ms-swift" else package
    return any(wanted.search(sources.read(path)) for path in sources.glob(f"{folder}/*.py"))


def write_registers(reads: Mapping[str, Mapping[str, Mapping[str, Sequence[str]]]]) -> bytes:
    """Write all registers: package to release (ascending) to what was read there."""
    records = (_record(spec, reads[spec.package]) for spec in SPECS if spec.package in reads)
    return b"".join(msgspec.json.encode(record) + b"\n" for record in records)


def _record(spec: Spec, by: Mapping[str, Mapping[str, Sequence[str]]]) -> Register:
    releases = list(by)
    known = [release for release in releases if spec.id in by[release]]
    lives: dict[str, set[str]] = {}
    for release in known:
        for name in by[release][spec.id]:
            lives.setdefault(name, set()).add(release)
    alike: dict[tuple[Span, ...], list[str]] = {}
    for name in sorted(lives):
        alike.setdefault(spans(releases, lives[name]), []).append(name)
    own = {k: v for k, v in spec._asdict().items() if k not in ("id", "checked", "read", "only")}
    return Register(
        **own,
        only=dict(spec.only),
        known=spans(releases, set(known)),
        held=msgspec.Raw(msgspec.json.encode(list(alike.items()))),
    )


_PARSED = re.compile(
    r"self\.(?P<name>\w+)(?:: [^=\n]+)? = (?:self\.|ModelArguments\.)?(?:json_)?parse_to_dict\("
    r"self\.(?P=name)(?P<lax>, strict=False)?\)"
    r"|self\.(?P<loaded>\w+) = json\.loads\(self\.(?P=loaded)\)"
    r"|self\._load_json_or_path\('(?P<key>\w+)'\)"
)


def read_parsed(sources: Sources) -> dict[str, str]:
    """Give the arguments a release of ms-swift reads as JSON: `strict`, `repaired` or `lax`."""
    found: dict[str, str] = {}
    repairs = any("repair_json" in sources.read(path) for path in sources.glob("swift/utils/*.py"))
    # Megatron's own arguments read some of the same names in another way
    own = (path for path in sources.glob("swift/*argument*.py") if "megatron" not in path)
    for path in own:
        for match in _PARSED.finditer(sources.read(path)):
            strict = "repaired" if repairs else "strict"
            name = match["name"] or match["loaded"] or match["key"]
            found[name] = "lax" if match["lax"] else strict
    return found


def write_parsed(reads: Mapping[str, Mapping[str, str]]) -> bytes:
    """Write the arguments that are read as JSON: release (ascending) to name to how."""
    releases = list(reads)
    lives: dict[tuple[str, str], set[str]] = {}
    for release, found in reads.items():
        for name, how in found.items():
            lives.setdefault((name, how), set()).add(release)
    records = (
        ParsedArgument(
            name=name,
            spans=spans(releases, alive),
            strict=how != "lax",
            repaired=how == "repaired",
        )
        for (name, how), alive in sorted(lives.items())
    )
    return b"".join(msgspec.json.encode(record) + b"\n" for record in records)
