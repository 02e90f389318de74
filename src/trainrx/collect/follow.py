"""The files of a job that still runs: what was written to them since the last look, and no more.

A file may appear later, be renamed and begun anew (rotation) or be cut to nothing (copytruncate).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO, Literal, NamedTuple

from trainrx.inputs.folder import LOGGED, STEPS, wanted_files
from trainrx.model.findings import Unread
from trainrx.model.pattern import late

PIECE = 1 << 18
"""Bytes that are handed on at once."""
MOST_FILES = 512
"""Files that are followed: each is kept open, and a process may open 1,024."""
DISCOVERY = 10.0
"""Seconds after which folders are looked through again."""
STALE = 86_400.0
"""A log in a folder that ended so many seconds before the newest one is of another job."""
_OLDER = late(r"\.(?:gz|zst|\d{1,3})$")
"""What was rotated away was read before, under the name it had."""
_ATTEMPT = re.compile(r"attempt_(\d{1,6})")
"""The folder torchrun makes for each start of its workers."""


Begin = Literal["", "new", "rotated"]


class NewBytes(NamedTuple):
    """What a file grew by.

    Attributes:
        name: the file.
        data: what is new, at most `PIECE` bytes.
        at: when the file was written last, seconds since the epoch.
        begins: the file begins here: new, and nothing that stood under its name counts any more,
            or as what goes on in the place of one that was rotated away.
    """

    name: str
    data: bytes
    at: float
    begins: Begin = ""


class Follower:
    """The files below some paths, each read on from where it was left.

    Args:
        paths: files and folders; what is not there yet may come.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self.unread: list[Unread] = []
        self._paths = tuple(paths)
        self._files: dict[Path, _GrowingFile] = {}
        self._looked: float | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Name the files that are followed."""
        return tuple(str(path) for path in self._files)

    def poll(self, now: float) -> Iterator[NewBytes]:
        """Give what was written since the last time, file by file."""
        if self._looked is None or now - self._looked >= DISCOVERY or not self._files:
            self._looked = now
            self._discover()
        for file in self._files.values():
            yield from file.grown()

    def close(self) -> None:
        """Let go of the files."""
        for file in self._files.values():
            file.close()
        self._files.clear()

    def _discover(self) -> None:
        self.unread = []
        wanted = list(dict.fromkeys(place for path in self._paths for place in self._below(path)))
        if len(wanted) > MOST_FILES:
            reason = f"only the newest {MOST_FILES} of {len(wanted)} logs are followed"
            self.unread.append(Unread(source=str(self._paths[0]), reason=reason))
            wanted = sorted(wanted, key=_written, reverse=True)[:MOST_FILES]
        for place in wanted:
            self._files.setdefault(place, _GrowingFile(place))
        for place in self._files.keys() - set(wanted):
            self._files.pop(place).close()

    def _below(self, path: Path) -> Iterable[Path]:
        if not path.is_dir():
            return (path,)
        found = [place for place in wanted_files(path, self.unread) if is_followed(place.name)]
        return _of_this_job(_last_attempts(found))


def is_followed(name: str) -> bool:
    """Tell by its name whether a file of a run folder grows while the job runs."""
    if _OLDER.search(name):
        return False
    return LOGGED.search(name) is not None or (name in STEPS and name.endswith(".jsonl"))


def _last_attempts(places: Sequence[Path]) -> list[Path]:
    """Leave out what earlier starts of the same workers wrote."""
    last: dict[Path, int] = {}
    attempts = {place: _attempt_of(place) for place in places}
    for found in attempts.values():
        if found is not None:
            last[found[0]] = max(found[1], last.get(found[0], 0))
    return [
        place for place, found in attempts.items() if found is None or found[1] == last[found[0]]
    ]


def _attempt_of(place: Path) -> tuple[Path, int] | None:
    for folder in place.parents:
        found = _ATTEMPT.fullmatch(folder.name)
        if found is not None:
            return folder.parent, int(found[1])
    return None


def _of_this_job(places: Sequence[Path]) -> list[Path]:
    newest = max(map(_written, places), default=0.0)
    return [place for place in places if _written(place) >= newest - STALE]


def _written(place: Path) -> float:
    try:
        return place.stat().st_mtime
    except OSError:
        return 0.0


class _GrowingFile:
    """One file, held open so that the end of what is rotated away is read as well."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: BinaryIO | None = None
        self._at = 0
        self._begins: Begin = "new"

    def grown(self) -> Iterator[NewBytes]:
        """Give what is new; what cannot be read now may be readable the next time."""
        with suppress(OSError):
            now = self._named()
            if self._handle is not None:
                held = os.fstat(self._handle.fileno())
                if now is None or (now.st_dev, now.st_ino) != (held.st_dev, held.st_ino):
                    yield from self._read(held)
                    if now is None:
                        return
                    self.close()
                    self._begins = "rotated" if held.st_nlink else "new"
            if now is not None:
                yield from self._read_on(now)

    def close(self) -> None:
        """Let go of the file; it begins anew the next time."""
        if self._handle is not None:
            with suppress(OSError):
                self._handle.close()
        self._handle, self._at, self._begins = None, 0, "new"

    def _named(self) -> os.stat_result | None:
        """Give what stands under the name now; a pipe or a device is never opened."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found if S_ISREG(found.st_mode) else None

    def _read_on(self, now: os.stat_result) -> Iterator[NewBytes]:
        if now.st_size < self._at:
            self._at, self._begins = 0, "new"
        if self._handle is None:
            if not now.st_size:
                return
            self._handle = self.path.open("rb", buffering=0)
        yield from self._read(now)

    def _read(self, seen: os.stat_result) -> Iterator[NewBytes]:
        """Read up to the size that was seen, so that a file that grows fast comes to an end."""
        if self._handle is None or seen.st_size <= self._at:
            return
        self._handle.seek(self._at)
        while self._at < seen.st_size:
            data = self._handle.read(min(PIECE, seen.st_size - self._at))
            if not data:
                return
            self._at += len(data)
            begins, self._begins = self._begins, ""
            yield NewBytes(str(self.path), data, seen.st_mtime, begins)
