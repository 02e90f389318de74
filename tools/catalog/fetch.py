"""Bring the needed members of each release into the cache, one small zip per release."""

from __future__ import annotations

import hashlib
import io
import re
import tarfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from catalog.index import File, Index, RemoteFile, open_index
from catalog.packages import PATTERNS
from catalog.sources import DATE

_GAP = 1 << 16
"""Members nearer to each other than this are transferred at once."""

_NO_DATE = 2021
"""Archives of reproducible builds carry a fixed day before this year: they tell nothing."""

_CODE = re.compile(r"^(?:[^/]+\.data/(?:purelib|platlib)/)(.*)$")
_METADATA = re.compile(r"^(?:[^/]+\.dist-info/METADATA|PKG-INFO)$")


class Wanted(NamedTuple):
    """A release that is not in the cache yet, and where it goes."""

    package: str
    version: str
    target: Path


def fetch(releases: Mapping[str, Sequence[str]], cache: Path, threads: int = 8) -> int:
    """Fill the cache; give how many releases were transferred.

    Raises:
        LookupError: the index has no file for a release.
    """
    wanted = [
        Wanted(package, version, cache_path(cache, package, version))
        for package, versions in releases.items()
        for version in versions
        if not cache_path(cache, package, version).is_file()
    ]
    if wanted:
        with open_index() as index, ThreadPoolExecutor(threads) as pool:
            files = {package: index.files(package) for package in {w.package for w in wanted}}
            for one in wanted:
                if one.version not in files[one.package]:
                    raise LookupError(f"the index has no {one.package} {one.version}")
            transfers = [
                pool.submit(_fetch_one, index, files[w.package][w.version], w) for w in wanted
            ]
            for transfer in transfers:
                transfer.result()
    return len(wanted)


def cache_path(cache: Path, package: str, version: str) -> Path:
    """Say where the cache keeps a release; other patterns need another transfer."""
    patterns = hashlib.sha256(repr(PATTERNS[package]).encode()).hexdigest()[:8]
    return cache / "source" / f"{package}-{patterns}" / f"{version}.zip"


def _fetch_one(index: Index, files: Sequence[File], wanted: Wanted) -> None:
    """Transfer a release; a wheel that was uploaded without its code is passed over."""
    members: dict[str, bytes] = {}
    for file in files:
        with index.open(file) as remote:
            members = (_wheel if file.is_wheel else _sdist)(remote, PATTERNS[wanted.package])
        if any(name.endswith(".py") for name in members):
            break
    wanted.target.parent.mkdir(parents=True, exist_ok=True)
    part = wanted.target.with_suffix(".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(members):
            archive.writestr(zipfile.ZipInfo(name), members[name], zipfile.ZIP_DEFLATED)
    part.replace(wanted.target)


def _wheel(remote: RemoteFile, patterns: Sequence[str]) -> dict[str, bytes]:
    with zipfile.ZipFile(remote) as archive:
        chosen: dict[str, zipfile.ZipInfo] = {}
        for info in archive.infolist():
            path = _canonical(info.filename, patterns)
            if path:
                chosen[path] = info
        for start, end in stretches(chosen.values()):
            remote.fetch(start, end)
        found = {path: archive.read(info) for path, info in chosen.items()}
        newest = max(info.date_time[:3] for info in archive.infolist())
    found[DATE] = _day(newest).encode()
    return found


def _sdist(remote: RemoteFile, patterns: Sequence[str]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    newest = 0.0
    with tarfile.open(fileobj=io.BytesIO(remote.read())) as archive:
        for member in archive:
            inner = member.name.partition("/")[2].removeprefix("src/")
            path = _canonical(inner, patterns)
            data = archive.extractfile(member) if path and member.isfile() else None
            if data is not None:
                found[path] = data.read()
                newest = max(newest, member.mtime)
    day = datetime.fromtimestamp(newest, timezone.utc)
    found[DATE] = _day((day.year, day.month, day.day)).encode()
    return found


def _canonical(path: str, patterns: Sequence[str]) -> str:
    """Give the path a member is kept under, "" when it is not wanted."""
    if _METADATA.match(path):
        return "METADATA"
    inside = _CODE.match(path)
    plain = inside[1] if inside else path
    return plain if any(fnmatch(plain, pattern) for pattern in patterns) else ""


def stretches(members: Iterable[zipfile.ZipInfo]) -> list[tuple[int, int]]:
    """Join the places of neighbouring members of a zip file: the ranges of bytes to ask for."""
    joined: list[tuple[int, int]] = []
    for info in sorted(members, key=lambda i: i.header_offset):
        # the local header repeats the name and may carry a longer extra field
        start = info.header_offset
        end = start + 30 + len(info.filename) * 4 + 1024 + info.compress_size
        if joined and start - joined[-1][1] < _GAP:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _day(date: tuple[int, ...]) -> str:
    return "" if date[0] < _NO_DATE else f"{date[0]:04d}-{date[1]:02d}-{date[2]:02d}"
