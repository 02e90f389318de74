"""The forms an answer comes in: one module each in this folder, found by its name.

A module defines `FORMAT`; nothing else needs to know of it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, NamedTuple

from trainrx.sanitizer import media

if TYPE_CHECKING:
    from trainrx.render.document import Document, View


def _no_document(_document: Document, _view: View) -> str:
    raise TypeError("this format is written from the record itself")


class Format(NamedTuple):
    """How a form is written: from the document of an answer, or from its record.

    Attributes:
        document: writes a document.
        record: writes the record instead.
        medium: the last thing done to what is written: nothing hidden in it has an effect.
        kinds: the records it is for, by name; none: all.
        post: what it writes is passed on to others.
        utf8: programs read it, in UTF-8 whatever the locale.
        lines: it is lines of text; a patch among them is for `patch`, unless a terminal shows it.
    """

    document: Callable[[Document, View], str] = _no_document
    record: Callable[[Any, View], str] | None = None
    medium: Callable[[str], str] = media.terminal
    kinds: tuple[str, ...] = ()
    post: bool = False
    utf8: bool = False
    lines: bool = False


def load(name: str) -> Format:
    """Give a format by its name."""
    found: Format = import_module(f"{__name__}.{name}").FORMAT
    return found


def names(kind: str) -> tuple[str, ...]:
    """Name the formats for a kind of answer: text, JSON, then the others."""
    found = (module.name for module in iter_modules(__path__))
    ordered = sorted(found, key=lambda name: (name != "text", name != "json", name))
    return tuple(name for name in ordered if kind in (load(name).kinds or (kind,)))
