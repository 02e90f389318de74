"""Scripts to commands, in bounded time: by windows, and line by line where nothing makes sense."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from trainrx.model.pattern import late
from trainrx.shell.grammar import parse
from trainrx.shell.limits import Budget
from trainrx.shell.syntax import Assign, Node, Raw, Simple, assignment
from trainrx.shell.tree import STATEMENTS, Statements, with_next

if TYPE_CHECKING:
    from tree_sitter import Node as Found

_LOGICAL_LINE = late(r"(?:[^\\\n]|\\.)+", re.DOTALL)
_WINDOW = 12 * 1024
"""Characters parsed at once: where an error is met, the grammar's work grows with the square."""
_LEAST_WINDOW = 2 * 1024
_MAX_LINE = 8 * 1024
_LINE_SECONDS = 0.03


def commands(text: str, budget: Budget) -> Iterator[Node]:
    """Give the commands of a script within the script.

    Raises:
        TooMuch: The script is nested too deeply, or the budget is spent.
    """
    return ScriptReader(text, budget).commands()


def declared(word: Raw, budget: Budget) -> Assign | None:
    """Read a word of `export` or `declare` as an assignment, None when it is not one."""
    found = assignment(word)
    if found is None or found.value[:1] != "(":
        return found
    node = next(commands(word.text, budget), None)
    if not isinstance(node, Simple) or not node.assigns or node.assigns[0].items is None:
        return found
    items = tuple(
        msgspec.structs.replace(item, at=item.at + word.at) for item in node.assigns[0].items
    )
    return msgspec.structs.replace(found, items=items)


class ScriptReader(Statements):
    """Reads a script; `stopped`: the whole was too much for the grammar, so line by line."""

    def __init__(self, text: str, budget: Budget) -> None:
        super().__init__(text, budget)
        self.stopped = False

    def commands(self) -> Iterator[Node]:
        """Give the commands of the script in order.

        Raises:
            TooMuch: The script is nested too deeply, or the budget is spent.
        """
        text, start, window = self._masked.text, 0, _WINDOW
        self._budget.spend(5 + len(text) // 64)
        while start < len(text):
            end, root = len(text), None
            if end - start > window:
                end = _line_end(text, start, start + window)
            if end > start:
                root = parse(text[start:end], self._budget)
            else:
                end = text.find("\n", start) + 1 or len(text)
            found = [] if root is None else _top(root)
            if end < len(text):
                # What the window cut off is read again, with what follows.
                found = _whole(found)
            if found:
                self._offset = start
                start = start + found[-1].end_byte if end < len(text) else end
                yield from self._top_level(found)
            elif root is not None and end < len(text) and window > _LEAST_WINDOW:
                window //= 2
                continue
            else:
                self.stopped = self.stopped or root is None or end < len(text)
                yield from self._by_line(start, end)
                start = end
            window = _WINDOW

    def _top_level(self, children: Sequence[Found]) -> Iterator[Node]:
        for found, behind in with_next(children):
            text = self._slice(found.start_byte, found.end_byte)
            if found.type == "ERROR" and "\n" in text:
                self._error(found)
                offset = self._offset
                yield from self._by_line(self._at(found), self._at(found) + len(text))
                self._offset = offset
            else:
                yield from self._statements(found, behind)

    def _by_line(self, start: int, end: int) -> Iterator[Node]:
        """Read every line on its own: where the whole makes no sense, a line still may."""
        for match in _LOGICAL_LINE.finditer(self._masked.text, start, end):
            line = match[0][:_MAX_LINE]
            self._budget.spend(20 + len(line) // 64)
            root = parse(line, self._budget, _LINE_SECONDS) if line.strip() else None
            if root is not None:
                self._offset = match.start()
                for found, behind in with_next(_top(root)):
                    yield from self._statements(found, behind)
            elif line.strip():
                self._budget.spend(1000)
                self.errors.append(match.start())


def _line_end(text: str, start: int, end: int) -> int:
    """Give the end of the last line before a place that the next line does not continue.

    Where a command is cut in two, its second half looks like one of its own.
    """
    last = at = text.rfind("\n", start, end) + 1
    while at > start and text[at - 2 : at - 1] == "\\":
        at = text.rfind("\n", start, at - 1) + 1
    return at if at > start else last


def _top(root: Found) -> list[Found]:
    # The root itself is an error where nothing makes sense.
    return [root] if root.type == "ERROR" else root.children


def _whole(children: list[Found]) -> list[Found]:
    """Leave out what the end of the window cut off: the last command, or what an error begins."""
    kinds = [item.type for item in children]
    places = [at for at, kind in enumerate(kinds) if kind in STATEMENTS or kind == "ERROR"]
    at = kinds.index("ERROR", 1) if "ERROR" in kinds[1:] else max(places, default=0)
    while at > 0 and children[at - 1].end_point.row == children[at].start_point.row:
        at -= 1
    return children[:at]
