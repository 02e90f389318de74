"""Read the catalogs of command lines, one package at a time, when it is asked for."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import msgspec

from trainrx.kb.store import shipped
from trainrx.model.catalog import Contents, Option, Rename
from trainrx.model.errors import KnowledgeError

FOLDER = "catalogs"


@lru_cache(maxsize=32)
def read_catalog(package: str, root: Path | None = None) -> tuple[Contents, tuple[Option, ...]]:
    """Read the catalog of one package; empty when there is none.

    Args:
        package: canonical package name (ms-swift, llamafactory, transformers, torchrun ...).
        root: folder of catalogs; the shipped one when None.

    Raises:
        KnowledgeError: the file is malformed.
    """
    path = (root or shipped()[0] / FOLDER) / f"{package}.jsonl"
    if not path.is_file():
        return Contents(package=package, releases=(), commands={}), ()
    head, _, rest = path.read_bytes().partition(b"\n")
    try:
        contents = msgspec.json.decode(head, type=Contents)
        options = msgspec.json.Decoder(Option).decode_lines(rest)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise KnowledgeError(str(path), "", str(error)) from error
    return contents, tuple(options)


@lru_cache(maxsize=4)
def read_renames(root: Path | None = None) -> tuple[Rename, ...]:
    """Read which names were replaced by which.

    Raises:
        KnowledgeError: the file is malformed.
    """
    path = (root or shipped()[0] / FOLDER) / "renames.jsonl"
    if not path.is_file():
        return ()
    try:
        return tuple(msgspec.json.Decoder(Rename).decode_lines(path.read_bytes()))
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise KnowledgeError(str(path), "", str(error)) from error
