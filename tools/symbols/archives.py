"""Read the Python files of a release; what was read of the same file before is not read again."""

from __future__ import annotations

import io
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from catalog.fetch import stretches
from catalog.index import File, Index, RemoteFile
from symbols.outline import Outline, outline
from symbols.packages import is_read


class Store:
    """The outlines of a package by the checksum of their source, and the files of its releases."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.outlines: dict[str, Outline | None] = {}
        self.releases: dict[str, dict[str, str]] = {}
        if path.is_file():
            held = msgspec.msgpack.decode(path.read_bytes(), type=_Held)
            self.outlines, self.releases = held.outlines, held.releases

    def save(self) -> None:
        """Keep what was read."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        held = _Held(outlines=self.outlines, releases=self.releases)
        fresh = self._path.with_suffix(".part")
        fresh.write_bytes(msgspec.msgpack.encode(held))
        fresh.replace(self._path)

    def of(self, version: str) -> dict[str, Outline]:
        """Give the modules of a release."""
        held = self.releases[version]
        return {
            name: found
            for name, key in held.items()
            if is_read(self._path.stem, name) and (found := self.outlines[key])
        }

    def add(self, package: str, version: str, index: Index, files: Sequence[File]) -> None:
        """Read a release; a file that was uploaded without code is passed over."""
        for file in files:
            with index.open(file) as remote:
                read = self._wheel if file.is_wheel else self._sdist
                found = dict(read(remote, package))
            if found:
                self.releases[version] = found
                return

    def _wheel(self, remote: RemoteFile, package: str) -> Iterator[tuple[str, str]]:
        with zipfile.ZipFile(remote) as archive:
            wanted = [
                (info, module, f"{info.CRC:08x}{info.file_size:x}:{module}")
                for info in archive.infolist()
                if (module := _module(_inside(info.filename))) and is_read(package, module)
            ]
            fresh = [info for info, _, key in wanted if key not in self.outlines]
            for start, end in stretches(fresh):
                remote.fetch(start, end)
            for info, module, key in wanted:
                if key not in self.outlines:
                    self._keep(key, module, info.filename, archive.read(info))
                yield module, key

    def _sdist(self, remote: RemoteFile, package: str) -> Iterator[tuple[str, str]]:
        with tarfile.open(fileobj=io.BytesIO(remote.read())) as archive:
            for member in archive:
                path = member.name.partition("/")[2].removeprefix("src/").removeprefix("python/")
                module = _module(path)
                data = archive.extractfile(member) if module and member.isfile() else None
                if data is None or not is_read(package, module):
                    continue
                source = data.read()
                key = f"{zlib.crc32(source):08x}{len(source):x}:{module}"
                if key not in self.outlines:
                    self._keep(key, module, path, source)
                yield module, key

    def _keep(self, key: str, module: str, path: str, source: bytes) -> None:
        text = source.decode("utf-8", "replace")
        is_package = path.endswith("/__init__.py")
        self.outlines[key] = outline(text, module, is_package=is_package)


class _Held(msgspec.Struct):
    outlines: dict[str, Outline | None]
    releases: dict[str, dict[str, str]]


def _inside(path: str) -> str:
    """Give a path of a wheel as it lies in site-packages."""
    head, _, rest = path.partition("/")
    if head.endswith(".data"):
        return rest.partition("/")[2]
    return path


def _module(path: str) -> str:
    """Give the dotted name of a Python file; "" for any other."""
    if not path.endswith(".py"):
        return ""
    name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return name if all(part.isidentifier() for part in name.split(".")) else ""
