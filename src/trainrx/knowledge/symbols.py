"""Read which releases have which names, one package at a time, when a message asks for one."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from trainrx.knowledge.places import data_folder, held_in
from trainrx.model.errors import KnowledgeError
from trainrx.model.packages import SymbolKind, Symbols

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = "symbols"
_END = ".jsonl"


class SymbolTable:
    """What is known of one package; a line is decoded when it is asked for."""

    def __init__(self, path: str, data: bytes) -> None:
        self._path = path
        self._data = b"\n" + data

    def find(self, of: str, kind: SymbolKind) -> Symbols | None:
        """Give what is known of a module, class or function; None where nothing changed."""
        at = self._data.find(b"\n" + _sign(of, kind, whole=True))
        return self._line(at + 1) if at >= 0 else None

    def methods(self, name: str) -> Iterator[Symbols]:
        """Give what is known of the methods of a name, whichever their class."""
        sign = _sign(name, "call", whole=False)
        at = self._data.find(sign)
        while at >= 0:
            yield self._line(self._data.rfind(b"\n", 0, at) + 1)
            at = self._data.find(sign, at + 1)

    def _line(self, start: int) -> Symbols:
        end = self._data.find(b"\n", start)
        try:
            return msgspec.json.decode(self._data[start : end if end >= 0 else None], type=Symbols)
        except (msgspec.DecodeError, msgspec.ValidationError) as error:
            raise KnowledgeError(self._path, "", str(error)) from error


def _sign(of: str, kind: SymbolKind, *, whole: bool) -> bytes:
    head = '{"of":"' if whole else "."
    return f'{head}{of}","kind":"{kind}"'.encode()


@lru_cache(maxsize=32)
def open_symbols(package: str, root: Path | None = None) -> SymbolTable:
    """Open what is known of a package; empty where it is not recorded."""
    path = f"{_folder(root)}/{package}{_END}"
    return SymbolTable(path, held_in(path) or b"")


@lru_cache(maxsize=4)
def recorded(root: Path | None = None) -> tuple[str, ...]:
    """Name the packages that are recorded."""
    try:
        found = sorted(path.name for path in Path(_folder(root)).iterdir())
    except OSError:
        return ()
    return tuple(name.removesuffix(_END) for name in found if name.endswith(_END))


def _folder(root: Path | None) -> str:
    return str(root or data_folder(FOLDER))
