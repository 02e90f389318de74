"""Read every release of a package and code what it takes as ranges."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import msgspec

from catalog.extras import Extras, read_extras, write_extras
from catalog.fetch import cache_path
from catalog.frameworks import (
    axolotl,
    deepspeed,
    libraries,
    llamafactory,
    ms_swift,
    programs,
    trl,
    verl,
    vllm,
)
from catalog.metadata import newest_allowed, pins
from catalog.ranges import code_ranges, expand
from catalog.registers import read_parsed, read_registers, write_parsed, write_registers
from catalog.releases import HERE
from catalog.renames import write_renames
from catalog.sources import Sources
from catalog.tables import Command
from trainrx.model.catalog import Contents, Option

READERS: Mapping[str, Callable[[Sources], dict[str, Command]]] = {
    "ms-swift": ms_swift.read_commands,
    "llamafactory": llamafactory.read_commands,
    "transformers": libraries.read_transformers,
    "trl": trl.read_commands,
    "peft": libraries.read_peft,
    "accelerate": programs.read_accelerate,
    "axolotl": axolotl.read_commands,
    "verl": verl.read_commands,
    "openrlhf": programs.read_openrlhf,
    "vllm": vllm.read_commands,
    "torch": programs.read_torchrun,
    "deepspeed": deepspeed.read_commands,
}
"""How each package is read."""

NAMES = {"torch": "torchrun"}
"""Catalogs that are not called like their package."""

_REFERRED = ("transformers", "trl", "peft")


class Read(NamedTuple):
    """One release, read."""

    commands: dict[str, Command]
    day: str
    pins: dict[str, str]
    """Range of each referred package, as text."""
    registers: dict[str, list[str]]
    """Names by the register they stand in."""
    parsed: dict[str, str]
    """How an argument is read as JSON."""
    extras: Extras | None = None


class Job(NamedTuple):
    """A release to read: where the cache is, which code reads it, what to read."""

    cache: Path
    code: str
    package: str
    version: str


def read_release(job: Job) -> Read:
    """Read one release, or take what the same code read before.

    Raises:
        LookupError: nothing was found in it.
    """
    kept = job.cache / "read" / job.package / f"{job.version}-{job.code}.json"
    if kept.is_file():
        return msgspec.json.decode(kept.read_bytes(), type=Read)
    read = _read(job.cache, job.package, job.version)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(msgspec.json.encode(read))
    return read


def own_code() -> str:
    """Give a short digest of the code that reads releases."""
    digest = hashlib.sha256()
    for path in sorted(HERE.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _read(cache: Path, package: str, version: str) -> Read:
    sources = Sources.load(cache_path(cache, package, version))
    found = {other: pins(sources, other) for other in _REFERRED if other != package}
    named = {other: str(spec) for other, spec in found.items() if spec is not None}
    commands = READERS[package](sources)
    if not commands:
        raise LookupError(f"{package} {version} holds no commands")
    extras = read_extras(sources) if package == "ms-swift" else None
    registers = read_registers(package, sources)
    parsed = read_parsed(sources) if package == "ms-swift" else {}
    return Read(commands, sources.date, named, registers, parsed, extras)


def read_all(
    releases: Mapping[str, Sequence[str]], cache: Path, processes: int = 2
) -> dict[str, dict[str, Read]]:
    """Read all releases of all packages."""
    code = own_code()
    jobs = [
        Job(cache, code, package, version) for package, vs in releases.items() for version in vs
    ]
    out: dict[str, dict[str, Read]] = {package: {} for package in releases}
    with ProcessPoolExecutor(processes) as pool:
        for job, read in zip(jobs, pool.map(read_release, jobs, chunksize=4), strict=True):
            out[job.package][job.version] = read
    return out


def build_all(reads: Mapping[str, Mapping[str, Read]]) -> dict[str, bytes]:
    """Write every file of the folder: name to content.

    Raises:
        ValueError: what was written does not expand to what was read.
    """
    out: dict[str, bytes] = {}
    catalogs: dict[str, tuple[Contents, list[Option]]] = {}
    for package in reads:
        name = NAMES.get(package, package)
        out[f"{name}.jsonl"] = written = build(package, reads)
        catalogs[name] = decode(written)
    out["renames.jsonl"] = write_renames(catalogs)
    out["registers.jsonl"] = write_registers(
        {package: {v: read.registers for v, read in own.items()} for package, own in reads.items()}
    )
    out["parsed-ms-swift.jsonl"] = write_parsed(
        {v: read.parsed for v, read in reads["ms-swift"].items()}
    )
    shipped = {v: read.extras for v, read in reads["ms-swift"].items() if read.extras is not None}
    return out | write_extras(shipped)


def build(package: str, reads: Mapping[str, Mapping[str, Read]]) -> bytes:
    """Write the catalog of one package.

    Raises:
        ValueError: what was written does not expand to what was read.
    """
    own = reads[package]
    known = [other for other in _REFERRED if other in reads and other != package]
    referred = {other: by for other in known if (by := _references(other, own, reads[other]))}
    tables = {
        version: {
            name: _settled(command, _above(command, version, referred, reads))
            for name, command in read.commands.items()
        }
        for version, read in own.items()
    }
    contents, options = code_ranges(NAMES.get(package, package), list(own), tables, referred)
    written = encode(contents, options)
    if _exact(expand(*decode(written))) != _exact(tables):
        raise ValueError(f"{package}: the ranges do not give the tables back")
    return written


def _exact(tables: Mapping[str, Mapping[str, Command]]) -> bytes:
    """Give a form in which 1, 1.0 and true differ."""
    return msgspec.json.encode(tables, order="sorted")


def encode(contents: Contents, options: Sequence[Option]) -> bytes:
    """Write one record per line."""
    return b"".join(msgspec.json.encode(record) + b"\n" for record in (contents, *options))


def decode(written: bytes) -> tuple[Contents, list[Option]]:
    """Read a written catalog."""
    head, _, rest = written.partition(b"\n")
    contents = msgspec.json.decode(head, type=Contents)
    return contents, msgspec.json.Decoder(Option).decode_lines(rest)


def _above(
    command: Command,
    version: str,
    referred: Mapping[str, Mapping[str, str]],
    reads: Mapping[str, Mapping[str, Read]],
) -> dict[tuple[str, str], Command]:
    """Give the parents that a catalog describes, at the release met when this one was new."""
    found: dict[tuple[str, str], Command] = {}
    for package, cls in command.inherits:
        releases = reads.get(package, {})
        met = referred.get(package, {}).get(version) or next(reversed(list(releases)), "")
        commands = releases[met].commands if met in releases else {}
        if cls in commands:
            found[package, cls] = commands[cls]
    return found


def _settled(command: Command, above: Mapping[tuple[str, str], Command]) -> Command:
    """Leave out parents no catalog describes, and names that a parent describes instead."""
    theirs = {name for parent in above.values() for name in parent.arguments}
    kept = {
        name: argument
        for name, argument in command.arguments.items()
        if name not in command.yielding or name not in theirs
    }
    return Command(kept, tuple(p for p in command.inherits if p in above))


def _references(other: str, own: Mapping[str, Read], theirs: Mapping[str, Read]) -> dict[str, str]:
    days = {version: read.day for version, read in theirs.items()}
    found = {
        version: newest_allowed(read.pins[other], read.day, list(theirs), days)
        for version, read in own.items()
        if other in read.pins
    }
    return {version: newest for version, newest in found.items() if newest is not None}
