"""Read the catalogs of command lines, one package at a time, when it is asked for."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import msgspec

from trainrx.kb.places import shipped
from trainrx.model.catalog import (
    Contents,
    ModelTypeRename,
    OldName,
    Option,
    Preset,
    Rename,
    Replacement,
)
from trainrx.model.errors import KnowledgeError

R = TypeVar("R", Rename, Preset, ModelTypeRename, Replacement, OldName)
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
    return _read(root, "renames", Rename)


@lru_cache(maxsize=4)
def read_presets(root: Path | None = None) -> tuple[Preset, ...]:
    """Read the DeepSpeed configurations ms-swift ships under a name.

    Raises:
        KnowledgeError: the file is malformed.
    """
    return _read(root, "presets-ms-swift", Preset)


@lru_cache(maxsize=4)
def read_model_types(root: Path | None = None) -> tuple[ModelTypeRename, ...]:
    """Read which model types of ms-swift were renamed.

    Raises:
        KnowledgeError: the file is malformed.
    """
    return _read(root, "model-types", ModelTypeRename)


@lru_cache(maxsize=4)
def read_replacements(root: Path | None = None) -> tuple[Replacement, ...]:
    """Read what stands for arguments that are more than renamed.

    Raises:
        KnowledgeError: the file is malformed.
    """
    return _read(root, "replacements", Replacement)


@lru_cache(maxsize=4)
def read_old_names(root: Path | None = None) -> tuple[OldName, ...]:
    """Read what ms-swift 2.x calls models, templates and data sets.

    Raises:
        KnowledgeError: the file is malformed.
    """
    return _read(root, "names-ms-swift-2", OldName)


def _read(root: Path | None, name: str, kind: type[R]) -> tuple[R, ...]:
    path = (root or shipped()[0] / FOLDER) / f"{name}.jsonl"
    if not path.is_file():
        return ()
    try:
        return tuple(msgspec.json.Decoder(kind).decode_lines(path.read_bytes()))
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise KnowledgeError(str(path), "", str(error)) from error
