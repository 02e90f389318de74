"""The linear engine with all signatures in it: made once for a processor, then only loaded.

Making takes seconds, loading a millisecond. What is loaded runs as code does, so it counts only
where nobody else can have written it, and only as it was written.
"""

from __future__ import annotations

import hashlib
import os
import platform
import stat
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from trainrx.evidence import gate as gates
from trainrx.evidence.gate import gate
from trainrx.evidence.matcher import Compiled, Gate
from trainrx.knowledge.cache import cache_home, digest

if TYPE_CHECKING:
    from hyperscan import Database

MANY = 200
"""Patterns from which making takes long enough to keep what was made."""
MOST = 8
"""Made engines that are kept: each checkout, pack of knowledge and processor has its own."""
LARGEST = 1 << 28
SEAL = 32
"""Bytes before a kept engine that prove it whole."""
PROCESSOR = Path("/proc/cpuinfo")
ABILITIES = (b"flags", b"Features")
"""What the lines of it begin with that name what a processor can do, on x86 and on ARM."""


def engine_gate(patterns: Sequence[Compiled]) -> Gate | None:
    """Make a gate from the linear engine, or None where it is not installed."""
    try:
        import hyperscan
    except ImportError:
        return None
    database = kept_engine(patterns)
    if database is None:
        database = _made(patterns)
        if len(patterns) >= MANY:
            keep(_place(patterns), hyperscan.dumpb(database))
    return _gate(database, patterns)


def kept_gate(patterns: Sequence[Compiled]) -> Gate | None:
    """Give the gate of the linear engine where that is made already, else None."""
    database = kept_engine(patterns)
    return None if database is None else _gate(database, patterns)


def kept_engine(patterns: Sequence[Compiled]) -> Database | None:
    """Load the engine that was made of the same patterns for this processor; None without."""
    if len(patterns) < MANY:
        return None
    data = kept(_place(patterns))
    if data is None:
        return None
    import hyperscan

    try:
        return hyperscan.loadb(data, hyperscan.HS_MODE_BLOCK)
    except hyperscan.error:
        return None


@lru_cache(maxsize=4)
def first_places(texts: tuple[bytes, ...]) -> Callable[[bytes], dict[int, int]]:
    """Make a search for texts: it gives, by number, where those that stand in a block do first."""
    try:
        import hyperscan
    except ImportError:
        return lambda data: {n: at for n, text in enumerate(texts) if (at := data.find(text)) >= 0}
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[_plain(text) for text in texts],
        ids=list(range(len(texts))),
        flags=[hyperscan.HS_FLAG_SINGLEMATCH] * len(texts),
    )
    find = _search(database)
    return lambda data: {n: ends[0] + 1 - len(texts[n]) for n, ends in find(data).items()}


def _gate(database: Database, patterns: Sequence[Compiled]) -> Gate:
    """Make a gate: where the regex of patterns that differ by their needle stands, each may."""
    alike: defaultdict[str, list[int]] = defaultdict(list)
    for pattern in patterns:
        alike[pattern.regex].append(pattern.index)
    others = {first: rest for first, *rest in alike.values() if rest}
    search = _search(database)

    def find(data: bytes) -> dict[int, list[int]]:
        places = search(data)
        for first in others.keys() & places.keys():
            for other in others[first]:
                places.setdefault(other, places[first])
        return places

    return find


def _search(database: Database) -> Gate:
    import hyperscan

    own = threading.local()

    def find(data: bytes) -> dict[int, list[int]]:
        places: defaultdict[int, list[int]] = defaultdict(list)

        def report(number: int, _start: int, end: int, _flags: int, _context: object) -> None:
            # a match ends behind its last byte; an empty one at the start of the block stays in it
            places[number].append(end - 1 if end else 0)

        scratch = getattr(own, "scratch", None)
        if scratch is None:
            scratch = own.scratch = hyperscan.Scratch(database)
        database.scan(data, match_event_handler=report, scratch=scratch)
        return places

    return find


def _made(patterns: Sequence[Compiled]) -> Database:
    import hyperscan

    # patterns that differ by their needle alone are looked for once
    firsts = list({pattern.regex: pattern for pattern in reversed(patterns)}.values())
    try:
        return _compiled(firsts, _expression)
    except hyperscan.error:
        # one expression is beyond it: the needles alone still name every line that can match
        return _compiled(patterns, _needle)


def _compiled(patterns: Sequence[Compiled], write: Callable[[Compiled], bytes]) -> Database:
    import hyperscan

    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[write(pattern) for pattern in patterns],
        ids=[pattern.index for pattern in patterns],
        flags=[hyperscan.HS_FLAG_MULTILINE] * len(patterns),
    )
    return database


def _expression(pattern: Compiled) -> bytes:
    return gate(pattern.regex) or _needle(pattern)


def _needle(pattern: Compiled) -> bytes:
    plain = _plain(pattern.needle)
    return b"(?i)" + plain if pattern.folded else plain


def _plain(text: bytes) -> bytes:
    return b"".join(b"\\x%02x" % byte for byte in text)


def _place(patterns: Sequence[Compiled]) -> Path:
    """Give the file of an engine: named by its patterns, who writes them, what runs them."""
    import hyperscan

    known = hashlib.sha256()
    for pattern in patterns:
        known.update(b"%d\0%s\0" % (pattern.index, pattern.needle))
        known.update(pattern.regex.encode("utf-8", "surrogatepass") + b"\0")
    version = str(getattr(hyperscan, "__version__", ""))
    sources = (gates.__file__, __file__)
    for part in (digest(sources), version, platform.machine()):
        known.update(part.encode() + b"\0")
    known.update(_abilities())
    return Path(cache_home()) / "engines" / f"{known.hexdigest()}.hsdb"


@cache
def _abilities() -> bytes:
    """Give what this processor can do: an engine made for one may not run on another."""
    with suppress(OSError), PROCESSOR.open("rb") as lines:
        return next((line for line in lines if line.startswith(ABILITIES)), b"")
    return b""


def kept(place: Path) -> bytes | None:
    """Give what was kept in a file, if it is whole and nobody else can have written it."""
    try:
        if not _is_own(place.parent.lstat()):
            return None
        handle = os.open(place, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or not _is_own(status):
                return None
            data = file.read(LARGEST)
    except OSError:
        return None
    return data[SEAL:] if data[:SEAL] == _seal(place, data[SEAL:]) else None


def keep(place: Path, data: bytes) -> None:
    """Keep something for the next process, instead of the oldest; a read-only home is no error."""
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        held = sorted(place.parent.glob("*.hsdb"), key=lambda path: -path.stat().st_mtime)
        for old in held[MOST - 1 :]:
            old.unlink(missing_ok=True)
        fresh = place.with_suffix(f".{os.getpid()}.tmp")
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(_seal(place, data) + data)
        fresh.replace(place)
    except OSError:
        return


def _seal(place: Path, data: bytes) -> bytes:
    return hashlib.sha256(place.name.encode() + b"\0" + data).digest()


def _is_own(status: os.stat_result) -> bool:
    """Tell whether only this user, or root, can have written a file or into a folder."""
    if not hasattr(os, "geteuid"):
        return True
    return status.st_uid in (0, os.geteuid()) and not status.st_mode & 0o022
