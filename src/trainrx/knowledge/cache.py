"""The compiled form of knowledge: a wheel carries it, a checkout keeps what it made of files."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TypeVar, cast

import msgspec

from trainrx.knowledge.places import checkout, shipped_root
from trainrx.model import __version__

R = TypeVar("R", bound=msgspec.Struct)
M = TypeVar("M", bound=msgspec.Struct)

FORM = 8
"""How the compiled form is made of the files; another number where that changes."""
MOST = 8
"""Compiled forms of a kind that are kept: each checkout in use has one."""


def compiled(part: str, places: Iterable[Path], kind: type[R], make: Callable[[], M]) -> R | M:
    """Give a part of the knowledge from its compiled form, else make it and keep that form.

    Args:
        part: names the form: `PART.msgpack` beside the data of an installed copy.
        places: the files and folders it is made of.
        kind: how it is read; may leave out fields of what is made.
        make: makes it of those files.
    """
    ready = shipped_root() / f"{part}.msgpack"
    if checkout() is None and ready.is_file():
        return cast("R", _decoded(str(ready), kind))
    cache = cache_file(places, part)
    try:
        return cast("R", _decoded(cache, kind))
    except (OSError, msgspec.MsgspecError):
        made = make()
    keep(cache, msgspec.msgpack.encode(made))
    return made


@lru_cache(maxsize=16)
def _decoded(path: str, kind: Hashable) -> object:
    """Read a compiled form once per process: the file of a changed checkout has another name."""
    return msgspec.msgpack.decode(Path(path).read_bytes(), type=kind)


def cache_home() -> str:
    """Give the folder in which this user's caches of this program lie."""
    home = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    return f"{home}/trainrx"


def cache_file(places: Iterable[str | os.PathLike[str]], kind: str) -> str:
    """Give the file that holds the compiled form of folders and files as they are now."""
    named = [os.fspath(place) for place in places]
    where = zlib.crc32("\0".join(named).encode("utf-8", "surrogateescape"))
    return f"{cache_home()}/{kind}-{where:08x}-{__version__}.{FORM}-{digest(named)}.msgpack"


def keep(cache: str, data: bytes) -> None:
    """Write the compiled form in place of its older ones; a read-only home is no error."""
    target = Path(cache)
    kind, where = target.name.split("-")[:2]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        held = sorted(target.parent.glob(f"{kind}-*.msgpack"), key=lambda p: -p.stat().st_mtime)
        mine = [path for path in held if path.name.startswith(f"{kind}-{where}-")]
        for old in {*mine, *held[MOST:]}:
            old.unlink(missing_ok=True)
        fresh = target.with_suffix(f".{os.getpid()}.tmp")
        fresh.write_bytes(data)
        fresh.replace(target)
    except OSError:
        return


def digest(places: Iterable[str | os.PathLike[str]]) -> str:
    """Name the state of folders and files by the names, sizes and times of what they hold."""
    listed = [
        f"{path}\0{held.st_size}\0{held.st_mtime_ns}\n"
        for place in places
        for path, held in _stats(os.fspath(place))
    ]
    data = "".join(listed).encode("utf-8", "surrogateescape")
    # two checksums are quick to import and to compute, and nobody forges the times of a checkout
    low, high = zlib.crc32(data), zlib.adler32(data)
    return f"{low:08x}{high & 0xFFFF:04x}"


def is_entry(name: str) -> bool:
    """Tell an entry from its test and from other files."""
    return name.endswith(".yaml") and not name.endswith(".test.yaml")


def _stats(place: str) -> Iterator[tuple[str, os.stat_result]]:
    """Give a file, or the entries below a folder, with what the system says, in a fixed order."""
    try:
        found = sorted(os.scandir(place), key=lambda item: item.name)
    except NotADirectoryError:
        yield place, Path(place).stat()
        return
    except OSError:
        return
    for item in found:
        if is_entry(item.name):
            yield item.path, item.stat()
        elif item.is_dir(follow_symlinks=False):
            yield from _stats(item.path)
