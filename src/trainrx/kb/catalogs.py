"""Read the catalogs of command lines, one package at a time, when it is asked for."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

import msgspec

from trainrx.kb.places import held_in, shipped_root
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

if TYPE_CHECKING:
    from pathlib import Path

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
    path = _path(root, package)
    data = held_in(path)
    if data is None:
        return Contents(package=package, releases=(), commands={}), ()
    head, _, rest = data.partition(b"\n")
    try:
        contents = msgspec.json.decode(head, type=Contents)
        options = msgspec.json.Decoder(Option).decode_lines(rest)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise KnowledgeError(path, "", str(error)) from error
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
    path = _path(root, name)
    data = held_in(path)
    if data is None:
        return ()
    try:
        return tuple(msgspec.json.Decoder(kind).decode_lines(data))
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise KnowledgeError(path, "", str(error)) from error


def _path(root: Path | None, name: str) -> str:
    return os.path.join(root or f"{shipped_root()}/kb/{FOLDER}", f"{name}.jsonl")
