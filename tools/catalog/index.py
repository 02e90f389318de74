"""Find and read released files through pip itself, with the index this machine's pip is set to.

Only this module knows pip's inside: pip has no public way to ask for the files of old releases and
to read a part of one, and both follow the user's index, proxy and certificate settings.
"""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import NamedTuple

from packaging.utils import parse_sdist_filename, parse_wheel_filename
from pip._internal.commands.download import DownloadCommand
from pip._internal.index.collector import LinkCollector, parse_links
from pip._internal.models.link import Link
from pip._internal.network.session import PipSession

_BLOCK = 1 << 18


class File(NamedTuple):
    """A released file: its name, where it is and whether it is a wheel."""

    name: str
    url: str
    is_wheel: bool


class Index:
    """The package index, seen through pip."""

    def __init__(self, session: PipSession, collector: LinkCollector) -> None:
        self._session = session
        self._collector = collector

    def files(self, package: str) -> dict[str, list[File]]:
        """Give the files of each release, best first: a wheel for all or for Linux, the sdist."""
        found: dict[str, list[File]] = {}
        for link in self._links(package):
            version = _version(link.filename)
            if version is not None:
                file = File(link.filename, link.url, link.filename.endswith(".whl"))
                found.setdefault(version, []).append(file)
        return {version: sorted(files, key=_preference) for version, files in found.items()}

    def open(self, file: File) -> RemoteFile:
        """Open a file for reading parts of it."""
        return RemoteFile(self._session, file.url)

    def metadata(self, file: File) -> bytes | None:
        """Give the metadata that lies beside a file (PEP 658); None where the index has none."""
        response = self._session.get(
            file.url.partition("#")[0] + ".metadata", headers={"Accept-Encoding": "identity"}
        )
        return response.content if response.status_code == HTTPStatus.OK else None

    def _links(self, package: str) -> Iterator[Link]:
        sources = self._collector.collect_sources(package, candidates_from_page=lambda _: [])
        for source in sources.index_urls:
            link = source.link if source else None
            page = None if link is None or link.is_file else self._collector.fetch_response(link)
            if page is not None:
                yield from parse_links(page)


@contextmanager
def open_index() -> Iterator[Index]:
    """Start pip's own session, configured as `pip download` is."""
    logging.getLogger("pip").setLevel(logging.ERROR)
    command = DownloadCommand("download", "")
    options, _ = command.parse_args(["--quiet", "."])
    with command.main_context():
        session = command.get_default_session(options)
        yield Index(session, LinkCollector.create(session, options=options))


class RemoteFile(io.RawIOBase):
    """A file read over the network in blocks; only what is asked for is transferred."""

    def __init__(self, session: PipSession, url: str) -> None:
        super().__init__()
        self._session = session
        self._url = url
        self._at = 0
        self._parts: list[tuple[int, bytes]] = []
        tail, self._size = self._request(f"bytes=-{_BLOCK}")
        self._parts.append((self._size - len(tail), tail))

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def seekable(self) -> bool:
        """Say that it can be read from anywhere."""
        return True

    def tell(self) -> int:
        """Give the position."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move the position."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = base + offset
        return self._at

    def read(self, size: int = -1) -> bytes:
        """Read from the position."""
        end = self._size if size < 0 else min(self._at + size, self._size)
        start, self._at = self._at, max(end, self._at)
        for begin, part in self._parts:
            if begin <= start and end <= begin + len(part):
                return part[start - begin : end - begin]
        self.fetch(start, max(end, min(start + _BLOCK, self._size)))
        begin, part = self._parts[-1]
        return part[: end - start]

    def fetch(self, start: int, end: int) -> None:
        """Transfer a stretch at once, so that reading inside it asks for nothing more."""
        if start < end:
            self._parts.append((start, self._request(f"bytes={start}-{end - 1}")[0]))

    def _request(self, stretch: str) -> tuple[bytes, int]:
        headers = {"Accept-Encoding": "identity", "Cache-Control": "no-cache", "Range": stretch}
        response = self._session.get(self._url, headers=headers)
        response.raise_for_status()
        total = response.headers.get("Content-Range", "").rpartition("/")[2]
        return response.content, int(total) if total.isdigit() else len(response.content)


def _version(filename: str) -> str | None:
    try:
        if filename.endswith(".whl"):
            return str(parse_wheel_filename(filename)[1])
        if filename.endswith((".tar.gz", ".zip")):
            return str(parse_sdist_filename(filename)[1])
    except ValueError:
        return None
    return None


def _preference(file: File) -> tuple[int, str]:
    """Prefer a wheel for all, then one for Linux, then any other, then the sdist."""
    if not file.is_wheel:
        return 3, file.name
    if file.name.endswith("-any.whl"):
        return 0, file.name
    return 1 if "linux" in file.name and "x86_64" in file.name else 2, file.name
