"""Write what was taken of a job into one file, masked, and read such a file again."""

from __future__ import annotations

import io
import json
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
import zstandard

from trainrx.inputs.bundle import read_manifest
from trainrx.model.bundle import MANIFEST, BundleGap, BundleItem, BundleManifest
from trainrx.model.errors import UsageError
from trainrx.sanitizer import MASK, Level
from trainrx.sanitizer.assignments import is_secret_name
from trainrx.sanitizer.redactor import Redactor

SUFFIX = ".tar.zst"
COMPRESSION = 6
MOST_BYTES = 1 << 28
"""Bytes of a bundle that are read."""
PRIVATE = 0o600


class TakenItem(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was taken, as it was found: nothing in it is masked yet."""

    item: BundleItem
    text: str


class Bundle(msgspec.Struct, frozen=True, kw_only=True):
    """A manifest and what its items hold, by path."""

    manifest: BundleManifest
    contents: dict[str, bytes]


def masked_bundle(
    manifest: BundleManifest, taken: Sequence[TakenItem], level: Level, secrets: frozenset[str]
) -> Bundle:
    """Mask everything that was taken, the manifest included, and put it together."""
    texts = [one.text for one in taken]
    told = msgspec.json.encode(manifest).decode()
    redactor = Redactor(level, (*_strings(told), *texts), secrets)
    contents = {one.item.path: _masked(one.text, redactor).encode() for one in taken}
    plain = msgspec.structs.replace(manifest, items=tuple(one.item for one in taken))
    masked = _masked_json(msgspec.json.encode(plain).decode(), redactor)
    items = [item.path for item in plain.items]
    found = msgspec.json.decode(masked.encode(), type=BundleManifest)
    # what stands in a path was chosen here, and is what its content is found by
    named = zip(found.items, items, strict=True)
    items_found = tuple(msgspec.structs.replace(item, path=path) for item, path in named)
    return Bundle(manifest=msgspec.structs.replace(found, items=items_found), contents=contents)


def _strings(text: str) -> Iterator[str]:
    """Give the texts of a JSON value."""
    open_values: list[object] = [json.loads(text)]
    while open_values:
        value = open_values.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            open_values += value.values()
        elif isinstance(value, list):
            open_values += value


def _masked(text: str, redactor: Redactor) -> str:
    """Mask a text; of JSON only what its texts hold, so that it stays JSON."""
    if redactor.idle:
        return text
    if text[:1] in "[{":
        try:
            return _masked_json(text, redactor)
        except (ValueError, RecursionError):
            return redactor.text(text)
    return redactor.text(text)


def _masked_json(text: str, redactor: Redactor) -> str:
    """Mask the texts of a JSON value; a value whose name says that it is a secret with them."""
    known: dict[str, str] = {}

    def mask(value: object) -> object:
        if isinstance(value, str):
            if value not in known:
                known[value] = redactor.text(value)
            return known[value]
        if isinstance(value, list):
            return [mask(one) for one in value]
        if isinstance(value, dict):
            return {
                key: MASK if isinstance(one, str) and is_secret_name(key) else mask(one)
                for key, one in value.items()
            }
        return value

    return json.dumps(mask(json.loads(text)), ensure_ascii=False, separators=(",", ":"))


def merged(bundles: Iterable[Bundle]) -> Bundle:
    """Put the bundles of several machines together; the first one names the job.

    A machine that was reached twice counts once; two that are called alike keep what is theirs.
    """
    first, *others = bundles
    manifest, contents = first.manifest, dict(first.contents)
    for number, bundle in enumerate(others, 2):
        if bundle.manifest.processes and {*bundle.manifest.processes} <= {*manifest.processes}:
            continue
        one = bundle if contents.keys().isdisjoint(bundle.contents) else _below(bundle, number)
        manifest = msgspec.structs.replace(
            manifest,
            processes=(*manifest.processes, *one.manifest.processes),
            items=(*manifest.items, *one.manifest.items),
            gaps=(*manifest.gaps, *one.manifest.gaps),
        )
        contents |= one.contents
    return Bundle(manifest=manifest, contents=contents)


def _below(bundle: Bundle, number: int) -> Bundle:
    """Put what a bundle holds into a folder."""
    items = bundle.manifest.items
    moved = tuple(msgspec.structs.replace(item, path=f"{number}/{item.path}") for item in items)
    return Bundle(
        manifest=msgspec.structs.replace(bundle.manifest, items=moved),
        contents={f"{number}/{path}": data for path, data in bundle.contents.items()},
    )


def with_gaps(bundle: Bundle, gaps: Sequence[BundleGap]) -> Bundle:
    """Add what could not be taken at all."""
    manifest = bundle.manifest
    manifest = msgspec.structs.replace(manifest, gaps=(*manifest.gaps, *gaps))
    return msgspec.structs.replace(bundle, manifest=manifest)


def write_bundle(bundle: Bundle, path: Path) -> None:
    """Write a bundle that nobody else may read; it is there as a whole or not at all.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".trainrx-", delete=False) as file:
            temporary = Path(file.name)
            file.write(packed(bundle))
        temporary.chmod(PRIVATE)
        temporary.replace(path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from error


def packed(bundle: Bundle) -> bytes:
    """Give the bytes of a bundle: a tar archive, the manifest first, packed with Zstandard."""
    folder = f"trainrx-{bundle.manifest.job}"
    manifest = msgspec.json.format(msgspec.json.encode(bundle.manifest), indent=1)
    out = io.BytesIO()
    with (
        zstandard.ZstdCompressor(level=COMPRESSION).stream_writer(out, closefd=False) as packing,
        tarfile.open(fileobj=packing, mode="w|", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, data in {MANIFEST: manifest, **bundle.contents}.items():
            member = tarfile.TarInfo(f"{folder}/{name}")
            member.size, member.mode, member.mtime = len(data), PRIVATE, bundle.manifest.at
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def unpacked(data: bytes, source: str) -> Bundle:
    """Read the bytes of a bundle.

    Raises:
        UsageError: they are none.
    """
    try:
        with (
            zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data)) as reader,
            tarfile.open(fileobj=reader, mode="r|") as archive,
        ):
            contents = dict(_members(archive))
    except (tarfile.TarError, zstandard.ZstdError, EOFError, OSError) as error:
        raise UsageError(f"{source}: is no bundle: {error}") from error
    manifest = read_manifest(contents.pop(MANIFEST, b""))
    if manifest is None:
        raise UsageError(f"{source}: is no bundle: it has no manifest")
    kept = {item.path: contents[item.path] for item in manifest.items if item.path in contents}
    return Bundle(manifest=manifest, contents=kept)


def _members(archive: tarfile.TarFile) -> Iterator[tuple[str, bytes]]:
    left = MOST_BYTES
    for member in archive:
        found = archive.extractfile(member) if member.isfile() else None
        if found is not None and member.size <= left:
            left -= member.size
            yield member.name.partition("/")[2], found.read()
