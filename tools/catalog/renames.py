"""Write which argument replaced which: the pairs are curated, the releases looked up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from catalog.releases import HERE
from trainrx.model.catalog import Contents, Option, Rename

PAIRS = HERE / "renames.jsonl"


def write_renames(
    catalogs: Mapping[str, tuple[Contents, Sequence[Option]]], pairs: Path = PAIRS
) -> bytes:
    """Write one record per pair and release in which commands lost the old name.

    A pair whose old name is still taken, or is inherited, has no release.

    Raises:
        ValueError: a pair names a package without a catalog.
    """
    found: list[Rename] = []
    for pair in msgspec.json.Decoder(Rename).decode_lines(pairs.read_bytes()):
        if pair.package not in catalogs:
            raise ValueError(f"{pairs}: no catalog of {pair.package}")
        contents, options = catalogs[pair.package]
        found += _dated(pair, contents, [o for o in options if o.name == pair.old])
    return b"".join(msgspec.json.encode(rename) + b"\n" for rename in found)


def _dated(pair: Rename, contents: Contents, options: Sequence[Option]) -> list[Rename]:
    place = {release: i for i, release in enumerate(contents.releases)}
    lost: dict[str, set[str]] = {}
    for option in options:
        end = option.spans[-1][1]
        if end is not None:
            alive = {c for c in option.commands if _alive(contents, place, c, end)}
            lost.setdefault(end, set()).update(alive or option.commands)
    if not lost:
        return [pair]
    return [
        msgspec.structs.replace(pair, until=end, commands=tuple(sorted(lost[end])))
        for end in sorted(lost, key=place.__getitem__)
    ]


def _alive(contents: Contents, place: Mapping[str, int], command: str, release: str) -> bool:
    at = place[release]
    return any(
        place[since] <= at and (until is None or at < place[until])
        for since, until in contents.commands.get(command, ())
    )
