"""What was sent, as files of this service's own folder, so that nothing of it is held in memory."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path
from typing import IO

import msgspec

from trainrx.share.task import Role, Task, TaskFile

PREFIX = "trainrx-service-"
LOCK = "lock"


class PrivateFolder:
    """A temporary folder that only its user opens; those of services that were killed are removed.

    Attributes:
        path: where it is.
    """

    def __init__(self) -> None:
        place = Path(tempfile.gettempdir())
        for left in place.glob(f"{PREFIX}*/{LOCK}"):
            _remove_if_left(left)
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        free = self.path / "free"
        self._lock = free.open("wb")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        free.rename(self.path / LOCK)  # by this name others look for it

    def made(self, name: str) -> str:
        """Make a folder in it, whose name begins so."""
        return tempfile.mkdtemp(prefix=name, dir=self.path)

    def remove(self) -> None:
        """Remove it with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()


def _remove_if_left(lock: Path) -> None:
    """Remove the folder of a service that is no more: nobody holds its lock."""
    with suppress(OSError), lock.open("rb") as opened:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(lock.parent, ignore_errors=True)


class Spool:
    """A folder of files, each gone as soon as no question names it any more.

    Args:
        folder: where they lie; nobody else opens it.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def kept(self, task: Task) -> Task:
        """Give the question with the data of its files on disk."""
        return msgspec.structs.replace(task, files=tuple(map(self._kept, task.files)))

    def copied(self, name: str, role: Role, source: IO[bytes]) -> TaskFile:
        """Copy what was received."""
        with self._opened() as target:
            shutil.copyfileobj(source, target)
            return self._file(name, role, target)

    def _kept(self, file: TaskFile) -> TaskFile:
        if file.path:
            return file
        with self._opened() as target:
            target.write(file.data)
            return self._file(file.name, file.role, target)

    def _opened(self) -> IO[bytes]:
        return tempfile.NamedTemporaryFile(dir=self._folder, delete=False)

    def _file(self, name: str, role: Role, written: IO[bytes]) -> TaskFile:
        file = TaskFile(name=name, role=role, path=written.name, size=written.tell())
        weakref.finalize(file, _remove, written.name)
        return file


def _remove(path: str) -> None:
    with suppress(OSError):  # it went with its folder
        Path(path).unlink()
