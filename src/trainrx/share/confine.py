"""What a process that answers strangers may open: its own folder, and what this package is made of.

A launch names further files (`source env.sh`, `--deepspeed ds.json`), and the reader follows them.
Those of the machine it runs on are none of the stranger's.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from trainrx.knowledge.places import shipped, shipped_root

WATCHED = frozenset({"open", "os.listdir", "os.scandir"})
"""Events of https://docs.python.org/3/library/audit_events.html by which contents are read."""
FORBIDDEN = frozenset(
    {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "socket.connect"}
)
DEVICES = ("/dev/null", "/dev/urandom")


class ConfinedError(PermissionError):
    """A file outside of what may be opened."""


def confine(folders: Iterable[str | os.PathLike[str]]) -> None:
    """Let this process from now on open only what lies in some folders, and what Python needs.

    It cannot be taken back. Nothing is started and nothing connected either.
    """
    allowed = tuple(sorted({_real(one) for one in (*folders, *_own())}))

    def watch(event: str, args: tuple[object, ...]) -> None:
        if event in FORBIDDEN:
            raise ConfinedError(f"{event}: a process that answers others does not do this")
        if event in WATCHED and args and isinstance(args[0], (str, bytes, os.PathLike)):
            path = _real(os.fsdecode(args[0]))
            if path not in DEVICES and not any(_within(path, folder) for folder in allowed):
                raise ConfinedError(13, "outside of what was sent", path)

    sys.addaudithook(watch)


def _own() -> tuple[str, ...]:
    """Name the folders of Python, of this package and of its knowledge."""
    paths = sysconfig.get_paths()
    cache = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    return (
        *(paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")),
        str(Path(__file__).resolve().parents[1]),
        f"{cache}/trainrx",
        *map(str, shipped()),
        str(shipped_root() / "data"),
    )


def _real(path: str | os.PathLike[str]) -> str:
    return os.path.realpath(path)


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + os.sep)
