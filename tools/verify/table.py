"""Write which entries hold: `kb/verified.jsonl`, and what was seen of their sources."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from trainrx.knowledge.verified import (
    FILE,
    Verification,
    digest_of,
    holding,
    kind_of,
    read_verified,
)
from verify.claims import Verified
from verify.look import Outcome, Seen

SEEN = Path(__file__).with_name("seen.jsonl")
"""What addresses showed, so that a machine without the sources can look claims up again."""
WEAK = frozenset({"name", "file"})
"""That a name or a file exists says that a claim may be true, not that it is."""


def verified(
    entry: Verified, outcomes: Sequence[Outcome], before: Verification | None, today: str
) -> Verification | None:
    """Give the line of an entry; None where nothing of weight could be looked up, or fails."""
    held = Counter(_kind(one) for one in outcomes if one.state == "holds")
    if any(one.state == "fails" for one in outcomes) or not held.keys() - WEAK:
        return None
    digest = digest_of(entry)
    same = before is not None and (before.digest, before.held) == (digest, held)
    on = before.on if before is not None and same else today
    return Verification(
        kind=kind_of(entry),
        id=entry.id,
        by="script",
        on=on,
        digest=digest,
        held=dict(sorted(held.items())),
    )


def _kind(one: Outcome) -> str:
    return "file" if one.claim.kind == "source" and not one.claim.texts else one.claim.kind


def write_table(
    kb: Path, found: Iterable[tuple[Verified, Sequence[Outcome]]], today: dt.date
) -> None:
    """Write the table anew; readings stay while their entry says what was read."""
    table = read_verified(kb)
    before = {(one.kind, one.id): one for one in table if one.by == "script"}
    lines: list[Verification] = []
    for entry, outcomes in found:
        lines += (one for one in holding(entry, table) if one.by == "reading")
        line = verified(entry, outcomes, before.get((kind_of(entry), entry.id)), today.isoformat())
        lines += [line] if line is not None else []
    lines.sort(key=lambda one: (one.kind, one.id, one.by))
    (kb / FILE).write_bytes(_lines(lines))


def add_readings(
    kb: Path, found: str, idents: Sequence[str], entries: Iterable[Verified], today: dt.date
) -> None:
    """Note that somebody read entries at their sources, as they say now."""
    wanted = set(idents)
    read = [
        msgspec.convert(
            {
                "kind": kind_of(entry),
                "id": entry.id,
                "by": "reading",
                "on": today.isoformat(),
                "digest": digest_of(entry),
                "found": found,
            },
            Verification,
        )
        for entry in entries
        if entry.id in wanted
    ]
    if lost := wanted - {one.id for one in read}:
        raise SystemExit(f"no entry {', '.join(sorted(lost))}")
    again = {(one.kind, one.id, one.by) for one in read}
    kept = [one for one in read_verified(kb) if (one.kind, one.id, one.by) not in again]
    lines = sorted((*kept, *read), key=lambda one: (one.kind, one.id, one.by))
    (kb / FILE).write_bytes(_lines(lines))


def read_seen(path: Path) -> tuple[Seen, ...]:
    """Read what addresses showed."""
    lines = path.read_bytes().splitlines() if path.is_file() else ()
    return tuple(msgspec.json.decode(line, type=Seen) for line in lines)


def write_seen(path: Path, seen: Iterable[Seen]) -> None:
    """Keep what addresses showed that entries still name."""
    told = (one for one in seen if one.holds or one.lacks or one.release)
    path.write_bytes(_lines(told))


def _lines(records: Iterable[msgspec.Struct]) -> bytes:
    def encoded() -> Iterator[bytes]:
        for record in records:
            yield msgspec.json.encode(record) + b"\n"

    return b"".join(encoded())
