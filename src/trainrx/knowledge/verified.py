"""Which entries were compared with their sources, when, and by whom: `kb/verified.jsonl`.

An entry that was changed since is not verified any more: a line holds for the claims it was made
for, known by their digest.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from trainrx.knowledge.places import shipped
from trainrx.model.errors import KnowledgeError

FILE = "verified.jsonl"
LOOKED_AT = ("symptom", "cause", "guard", "lever", "range", "param")
_NO_CLAIMS = ("updated", "since", "weight", "prior", "priors", "severity", "group", "checked", "zh")
"""What an entry says that no source could contradict: dates, and an author's judgement.

Its Chinese says what its English says; that it does is checked apart from the sources.
"""


_EMPTY: tuple[object, ...] = (None, "", [], {}, False)


class Verification(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One look at an entry.

    By `script`: `held` counts what was looked up and stood there, by kind. By `reading`: somebody
    opened each source; `found` says how the entry stood before it was mended.
    """

    kind: str
    id: str
    by: Literal["script", "reading"]
    on: str
    digest: str
    held: dict[str, int] = {}
    found: Literal["", "right", "imprecise", "wrong"] = ""


def digest_of(entry: msgspec.Struct) -> str:
    """Name the claims of an entry."""
    said = _claims(msgspec.to_builtins(entry))
    return f"{zlib.crc32(msgspec.json.encode(said, order='sorted')):08x}"


def _claims(data: object) -> object:
    """Leave out what claims nothing, and what is empty, so that a field to come changes nothing.

    That a default is off, or 0, is a claim.
    """
    if isinstance(data, Mapping):
        kept = {key: _claims(value) for key, value in data.items() if key not in _NO_CLAIMS}
        return {k: v for k, v in kept.items() if k == "default" or v not in _EMPTY}
    return [_claims(item) for item in data] if isinstance(data, (list, tuple)) else data


def read_verified(kb: Path) -> tuple[Verification, ...]:
    """Read the table of a folder; none where it has no such file.

    Raises:
        KnowledgeError: a line is malformed.
    """
    path = kb / FILE
    lines = path.read_bytes().splitlines() if path.is_file() else []
    try:
        return tuple(msgspec.json.decode(line, type=Verification) for line in lines)
    except msgspec.MsgspecError as error:
        raise KnowledgeError(str(path), "", str(error)) from error


def kind_of(entry: msgspec.Struct) -> str:
    """Name the kind of an entry: a cause may have the id of a symptom."""
    return type(entry).__name__.removesuffix("Entry").lower()


def holding(entry: msgspec.Struct, table: Iterable[Verification]) -> tuple[Verification, ...]:
    """Give the looks at an entry that hold for what it says now."""
    name = (kind_of(entry), getattr(entry, "id", ""))
    mine = [one for one in table if (one.kind, one.id) == name]
    now = digest_of(entry) if mine else ""
    return tuple(one for one in mine if one.digest == now)


def looks_at(entry: msgspec.Struct) -> tuple[Verification, ...] | None:
    """Give the looks at an entry by the shipped table; None for kinds that are not looked at.

    Raises:
        KnowledgeError: the table is malformed.
    """
    if kind_of(entry) not in LOOKED_AT:
        return None
    return holding(entry, read_verified(shipped()[0]))


def unverified(entries: Iterable[msgspec.Struct], table: Iterable[Verification]) -> frozenset[str]:
    """Give the ids of entries that nothing compared with a source as they stand."""
    looks: dict[tuple[str, str], set[str]] = {}
    for one in table:
        looks.setdefault((one.kind, one.id), set()).add(one.digest)
    return frozenset(
        ident
        for entry in entries
        if (name := (kind_of(entry), ident := getattr(entry, "id", ""))) not in looks
        or digest_of(entry) not in looks[name]
    )
