"""Read the catalogs of command lines, one package at a time, when it is asked for."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

import msgspec

from trainrx.knowledge.places import data_folder, held_in
from trainrx.model.catalog import (
    Contents,
    EnvironmentVariable,
    ModelTypeRename,
    OldName,
    Option,
    ParsedArgument,
    Preset,
    Register,
    Rename,
    Replacement,
)
from trainrx.model.errors import KnowledgeError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

R = TypeVar(
    "R",
    EnvironmentVariable,
    Rename,
    Preset,
    ModelTypeRename,
    Replacement,
    OldName,
    Register,
    ParsedArgument,
)
FOLDER = "catalogs"


class PackageOptions:
    """The options of a package, decoded command by command: a launch is about one of them.

    Args:
        path: where the lines stand, for messages.
        data: each option as JSON on a line of its own.
        start: where the first of them begins.
    """

    def __init__(self, path: str, data: bytes = b"", start: int = 0) -> None:
        self._path = path
        self._data = data
        self._start = start
        self._of: dict[str, tuple[Option, ...]] = {}

    def of(self, command: str) -> tuple[Option, ...]:
        """Give the options of a command, of all commands for "".

        Raises:
            KnowledgeError: a line is malformed.
        """
        if command not in self._of:
            self._of[command] = self._decoded(command)
        return self._of[command]

    def _decoded(self, command: str) -> tuple[Option, ...]:
        try:
            found = self._of.get("") or self._holding(msgspec.json.encode(command or ""))
        except (msgspec.DecodeError, msgspec.ValidationError) as error:
            raise KnowledgeError(self._path, "", str(error)) from error
        return tuple(item for item in found if not command or command in item.commands)

    def _holding(self, sign: bytes) -> Sequence[Option]:
        """Decode the lines that hold a sign; all for the empty text in quotes.

        They are not cut out first: to touch new memory takes longer than to search the old.
        """
        data, decoder = memoryview(self._data), msgspec.json.Decoder(Option)
        if sign == b'""':
            return decoder.decode_lines(data[self._start :])
        found: list[Option] = []
        end = self._start
        while (at := self._data.find(sign, end)) >= 0:
            start = self._data.rfind(b"\n", 0, at) + 1
            end = self._data.find(b"\n", at) + 1 or len(data)
            found.append(decoder.decode(data[start:end]))
        return found


def read_catalog(package: str, root: Path | None = None) -> tuple[Contents, tuple[Option, ...]]:
    """Read the catalog of one package; empty when there is none.

    Args:
        package: canonical package name (ms-swift, llamafactory, transformers, torchrun ...).
        root: folder of catalogs; the shipped one when None.

    Raises:
        KnowledgeError: the file is malformed.
    """
    contents, options = open_catalog(package, root)
    return contents, options.of("")


@lru_cache(maxsize=32)
def open_catalog(package: str, root: Path | None = None) -> tuple[Contents, PackageOptions]:
    """Read the head of a catalog; its options are decoded when they are asked for.

    Raises:
        KnowledgeError: the head is malformed.
    """
    path = _path(root, package)
    data = held_in(path)
    if data is None:
        return Contents(package=package, releases=(), commands={}), PackageOptions(path)
    start = data.find(b"\n") + 1 or len(data)
    try:
        contents = msgspec.json.decode(data[:start], type=Contents)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise KnowledgeError(path, "", str(error)) from error
    return contents, PackageOptions(path, data, start)


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


@lru_cache(maxsize=4)
def read_registers(root: Path | None = None) -> tuple[Register, ...]:
    """Read which names are looked up where argparse does not list them.

    Raises:
        KnowledgeError: the file is malformed.
    """
    return _read(root, "registers", Register)


@lru_cache(maxsize=4)
def read_parsed(root: Path | None = None) -> tuple[ParsedArgument, ...]:
    """Read which arguments ms-swift reads as JSON.

    Raises:
        KnowledgeError: the file is malformed.
    """
    return _read(root, "parsed-ms-swift", ParsedArgument)


@lru_cache(maxsize=4)
def read_environment(package: str, root: Path | None = None) -> tuple[EnvironmentVariable, ...]:
    """Read which environment variables a package reads; none where that is not listed.

    Raises:
        KnowledgeError: the file is malformed.
    """
    return _read(root, f"environment-{package}", EnvironmentVariable)


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
    return f"{root or data_folder(FOLDER)}/{name}.jsonl"
