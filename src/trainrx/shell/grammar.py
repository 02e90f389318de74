"""The grammar of bash: what it is shown of a script, and how long it may take.

It counts bytes, takes some letters for blanks, and loses its way in here-documents; positions stay.
So a here-document becomes a plain redirection from a file, its body blanks, a placeholder such as
`<path to model>` a word, and every character beyond ASCII one that is part of any word.
"""

from __future__ import annotations

import re
import time
from functools import cache
from importlib import import_module
from importlib.machinery import ExtensionFileLoader, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING

import msgspec

from trainrx.model.pattern import late
from trainrx.shell.limits import Budget
from trainrx.shell.quotes import HereDocument, here_documents
from trainrx.shell.syntax import Raw

if TYPE_CHECKING:
    from tree_sitter import Language, Node


_NOT_ASCII = late(r"[^\x00-\x7f]")
_PLACEHOLDER = late(r"(?<!<)<[^\W\d_][\w./-]*(?: [\w./-]+)*>(?=[\s\"']|$)")
_ESCAPED = late(r"\\(?:[ \t]|.)", re.DOTALL)
_BACKQUOTED = late(r"`[^`'\"\\\n]*`")
_LONE_EQUALS = late(r"(?<=[ \t])==(?=[ \t]*\\?(?:\n|\Z|[;|&]))")
_HERE_STRING = late(r"<<<(?!<)")
_HERE_SIGN = late(r"<<-?")
_LEADING_TABS = late(r"^\t+", re.MULTILINE)


class Masked(msgspec.Struct, frozen=True):
    """A text for the grammar; `heres`: where a `<` in it stands for a here-string or -document."""

    text: str
    heres: dict[int, Raw | None]


def mask(text: str) -> Masked:
    """Hide from the grammar what it need not see."""
    heres: dict[int, Raw | None] = {}
    shown = text
    if "<" in text:
        shown = _PLACEHOLDER.sub(lambda match: "." * len(match[0]), shown)
        if "<<" in text:
            shown = _without_documents(text, shown, heres)
            for match in _HERE_STRING.finditer(shown):
                heres[match.end() - 1] = None
            shown = _HERE_STRING.sub("  <", shown)
    if "\\ " in shown or "\\\t" in shown:
        # To the grammar an escaped blank is a blank; to bash it is a letter.
        shown = _ESCAPED.sub(lambda match: ".." if match[0][1] in " \t" else match[0], shown)
    if shown.count("`") > 3:
        # Of two in a row, the grammar makes one with the other in it.
        shown = _BACKQUOTED.sub(lambda match: "." * len(match[0]), shown)
    if "==" in shown:
        # Where the right side is missing, the grammar gives up.
        shown = _LONE_EQUALS.sub(_equals, shown)
    if not shown.isascii():
        shown = _NOT_ASCII.sub(".", shown)
    return Masked(shown, heres)


def _equals(match: re.Match[str]) -> str:
    """Hide `==` as the last word of a line, but for a test that goes on."""
    start = match.string.rfind("\n", 0, match.start()) + 1
    return "==" if "[" in match.string[max(start, match.start() - 4096) : match.start()] else ".."


def _without_documents(text: str, shown: str, heres: dict[int, Raw | None]) -> str:
    edits: list[tuple[int, int, str]] = []
    for item in here_documents(text):
        sign = _HERE_SIGN.match(shown, item.at)
        if sign is not None:
            edits.append((item.at, sign.end(), " " * (len(sign[0]) - 1) + "<"))
            heres[sign.end() - 1] = _body(text, item)
        hidden = re.sub(r"[^\n]", " ", shown[item.start : item.end])
        edits.append((item.start, item.end, hidden))
    parts: list[str] = []
    position = 0
    for start, end, new in sorted(edits):
        parts += [shown[position:start], new]
        position = end
    return "".join([*parts, shown[position:]])


def _body(text: str, item: HereDocument) -> Raw:
    """Give the text of a here-document, quoted as it is to be expanded."""
    body = text[item.start : item.stop]
    if text.startswith("<<-", item.at):
        body = _LEADING_TABS.sub("", body)
    quoted = "'" + body.replace("'", "'\\''") + "'"
    if item.expands:
        quoted = '"' + body.replace('"', '\\"') + '"'
    return Raw(quoted, item.start)


_CHUNK = 4096
"""Bytes handed over at a time: error recovery asks again and again for the same place."""
_LEAST = 0.005
"""Seconds below which a parse is not begun."""


@cache
def _language() -> Language:
    # only a job with a launch script pays for loading it
    from tree_sitter import Language

    return Language(_binding().language())


def _binding() -> ModuleType:
    """Load the compiled grammar alone.

    Its package imports the readers of its resources as well: longer than to parse a script.
    """
    package = PathFinder.find_spec("tree_sitter_bash")
    places = None if package is None else package.submodule_search_locations
    inner = PathFinder.find_spec("_binding", places) if places else None
    if inner is None or not isinstance(inner.loader, ExtensionFileLoader):
        return import_module("tree_sitter_bash")
    module: ModuleType = inner.loader.create_module(inner)
    inner.loader.exec_module(module)
    return module


def parse(text: str, budget: Budget, seconds: float = 1.0) -> Node | None:
    """Parse ASCII text as a script.

    Args:
        text: The script; positions in the tree are positions in it.
        budget: Pays for the time taken.
        seconds: Processor time after which to give up, at most half of what the budget has left.

    Returns:
        The root of the tree, or None when the time did not suffice.
    """
    from tree_sitter import Parser

    allowed = min(seconds, budget.seconds / 2)
    if allowed < _LEAST:
        return None
    source = text.encode("ascii", "replace")
    began = time.thread_time()

    def read(offset: int, _point: object) -> bytes:
        return source[offset : offset + _CHUNK]

    def is_late(_offset: int, _error: bool) -> bool:  # the signature is the library's
        return time.thread_time() - began > allowed

    try:
        return Parser(_language()).parse(read, progress_callback=is_late).root_node
    except ValueError:
        # How the library says that the callback stopped it.
        return None
    finally:
        budget.seconds -= time.thread_time() - began
