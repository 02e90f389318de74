"""What `diagnose collect` wrote, packed or not: its manifest says what each file in it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from trainrx.inputs.content import Found
from trainrx.inputs.encoding import decode_text
from trainrx.knowledge.regular import read_regular
from trainrx.model.bundle import (
    MANIFEST,
    REASONS,
    SCHEMA,
    BundleGap,
    BundleItem,
    BundleManifest,
    BundleProcess,
    ItemKind,
)
from trainrx.model.findings import Unread
from trainrx.model.job import Input, InputKind
from trainrx.model.limits import LIMITS

T = TypeVar("T", bound=msgspec.Struct)
LARGEST_MANIFEST = 1 << 24
SMALL: tuple[InputKind, ...] = ("versions", "env", "script", "config")
"""Kinds that are read as a text in one piece."""
KINDS: Mapping[ItemKind, InputKind] = {
    "versions": "versions",
    "environment": "env",
    "command": "script",
    "script": "script",
    "config": "config",
    "gpu": "output",
    "memory": "output",
    "disk": "output",
    "limits": "output",
    "usage": "output",
}
"""What an item is read as; all others as logs, until a reader of evidence knows them."""
LACKS = "stands in the manifest of the bundle and is not in it"


class _Manifest(msgspec.Struct):
    """A manifest whose parts are read one by one: a newer release may write some that are new."""

    schema: str
    tool: str = ""
    job: str = ""
    at: float = 0.0
    host: str = ""
    processes: list[msgspec.Raw] = []
    items: list[msgspec.Raw] = []
    gaps: list[msgspec.Raw] = []


def read_manifest(data: bytes) -> BundleManifest | None:
    """Read a manifest; None where it is none."""
    if SCHEMA.partition("/")[0].encode() not in data[:512] or len(data) > LARGEST_MANIFEST:
        return None
    try:
        read = msgspec.json.decode(data, type=_Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    if read.schema != SCHEMA:
        return None
    return BundleManifest(
        tool=read.tool,
        job=read.job,
        at=read.at,
        host=read.host,
        processes=tuple(_known(read.processes, BundleProcess)),
        items=tuple(item for item in _known(read.items, BundleItem) if _is_inside(item.path)),
        gaps=tuple(_known(read.gaps, BundleGap)),
    )


def _known(raw: list[msgspec.Raw], kind: type[T]) -> Iterator[T]:
    yield from (one for data in raw if (one := _read(data, kind)) is not None)


def _read(raw: msgspec.Raw, kind: type[T]) -> T | None:
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _is_inside(path: str) -> bool:
    """Tell whether a path stays in the bundle."""
    parts = path.split("/")
    return bool(path) and not path.startswith("/") and ".." not in parts and "\\" not in path


def read_bundle_folder(root: Path) -> Found | None:
    """Read a bundle that was unpacked; None where a folder is none."""
    try:
        manifest = read_manifest(read_regular(root / MANIFEST, LARGEST_MANIFEST + 1))
    except OSError:
        return None
    if manifest is None:
        return None
    inputs, unread = [], list(_gaps(manifest, str(root)))
    sharing = max(len(manifest.items), 1)
    for item in _read_items(manifest):
        path = root / item.path
        name = str(path)
        if not path.is_file() or path.is_symlink():
            unread.append(Unread(source=name, reason=LACKS))
        elif not path.stat().st_size:
            continue
        elif _kind(item) not in SMALL:
            kind = _kind(item)
            inputs.append(Input(kind=kind, name=name, path=path, taken=item, sharing=sharing))
        else:
            inputs.append(_from_data(item, name, read_regular(path, LIMITS.text)))
    return inputs, unread


def read_bundle_members(source: str, members: Iterable[tuple[str, bytes]]) -> Found:
    """Read a bundle by its members, of which the manifest is the first."""
    (name, data), *others = members
    manifest = read_manifest(data) or BundleManifest()
    folder = name.removesuffix(MANIFEST)
    found = dict(others)
    inputs, unread = [], list(_gaps(manifest, source))
    for item in _read_items(manifest):
        name = folder + item.path
        if found.get(name) == b"":  # a kernel that had nothing to say
            continue
        if name in found:
            inputs.append(_from_data(item, name, found[name]))
        else:
            unread.append(Unread(source=name, reason=LACKS))
    return inputs, unread


def _read_items(manifest: BundleManifest) -> Iterator[BundleItem]:
    """Give the items that are inputs: a command line says again what the script around it says."""
    has_script = any(item.kind == "script" for item in manifest.items)
    for item in manifest.items:
        if not (has_script and item.kind == "command"):
            yield item


def _kind(item: BundleItem) -> InputKind:
    return KINDS.get(item.kind, "log")


def _from_data(item: BundleItem, name: str, data: bytes) -> Input:
    kind = _kind(item)
    if kind in SMALL:
        return Input(kind=kind, name=name, text=decode_text(data), taken=item)
    return Input(kind=kind, name=name, data=data, taken=item)


def _gaps(manifest: BundleManifest, source: str) -> Iterator[Unread]:
    """Name what could not be taken of the job."""
    for gap in manifest.gaps:
        of = f" of rank {gap.rank}" if gap.rank is not None else ""
        why = f"{REASONS[gap.reason].en}{f' ({gap.detail})' if gap.detail else ''}"
        yield Unread(source=source, reason=f"{gap.name or gap.kind}{of} was not taken: {why}")
