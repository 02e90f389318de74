"""Where the compiled form of a checkout's knowledge is kept, and whether it still holds."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from trainrx.model.version import __version__


def cache_file(folders: Iterable[Path], kind: str = "kb") -> Path:
    """Give the file that holds the compiled form of folders as they are now."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "trainrx" / f"{kind}-{__version__}-{digest(folders)}.msgpack"


def keep(cache: Path, data: bytes) -> None:
    """Write the compiled form in place of its older ones; a read-only home is no error."""
    kind = cache.name.partition("-")[0]
    try:
        cache.parent.mkdir(parents=True, exist_ok=True)
        for old in cache.parent.glob(f"{kind}-*.msgpack"):
            old.unlink(missing_ok=True)
        fresh = cache.with_suffix(f".{os.getpid()}.tmp")
        fresh.write_bytes(data)
        fresh.replace(cache)
    except OSError:
        return


def digest(folders: Iterable[Path]) -> str:
    """Name the state of folders by the names, sizes and times of their files."""
    # two checksums are quick to import and to compute, and nobody forges the times of a checkout
    low = high = 0
    for folder in folders:
        for path, held in _stats(str(folder)):
            line = f"{path}\0{held.st_size}\0{held.st_mtime_ns}\n".encode()
            low, high = zlib.crc32(line, low), zlib.adler32(line, high)
    return f"{low:08x}{high & 0xFFFF:04x}"


def is_entry(name: str) -> bool:
    """Tell an entry from its test and from other files."""
    return name.endswith(".yaml") and not name.endswith(".test.yaml")


def _stats(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """Give the entries below a folder with what the system says of them, in a fixed order."""
    try:
        found = sorted(os.scandir(folder), key=lambda item: item.name)
    except OSError:
        return
    for item in found:
        if item.is_dir(follow_symlinks=False):
            yield from _stats(item.path)
        elif is_entry(item.name):
            yield item.path, item.stat()
