"""What is wrong with an entry, and where in its YAML file that stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

import yaml

from trainrx.model.pattern import late

Level = Literal["error", "warning"]


class Problem(NamedTuple):
    """One thing that is wrong at a key path of an entry; a warning does not fail the check."""

    key: str
    message: str
    level: Level = "error"


class EntryProblem(NamedTuple):
    """A problem with the file and line it stands on."""

    path: str
    line: int
    ident: str
    key: str
    message: str
    level: Level = "error"

    def __str__(self) -> str:
        """Write it as editors and CI read it: `path:line: id: key: message`."""
        place = f"{self.path}:{self.line}: "
        mark = "warning: " if self.level == "warning" else ""
        key = f"{self.key}: " if self.key else ""
        return f"{place}{mark}{self.ident}: {key}{self.message}"


def error(key: str, message: str) -> Problem:
    """Make a problem that fails the check."""
    return Problem(key, message)


def warning(key: str, message: str) -> Problem:
    """Make a problem that is only said."""
    return Problem(key, message, "warning")


Path = tuple[str | int, ...]
_NAME = late(r"[a-z0-9][a-z0-9-]*\Z")
_INDEX = late(r"\[(\d+)\]")
_IDS = ("id", "name", "package", "fix")
"""Keys by which an item of a list is called in a key path."""


class DataPlace(NamedTuple):
    """A place: `path` in the data (as far as it exists, then the rest as text) and its line."""

    path: Path
    line: int

    def touches(self, other: DataPlace) -> bool:
        """Tell whether one of the two lies in the other."""
        count = min(len(self.path), len(other.path))
        return self.path[:count] == other.path[:count]


def find(root: yaml.Node | None, key: str) -> DataPlace:
    """Find a key path such as `fixes.halve-batch.set`; items of lists go by id or `[index]`.

    Gives the nearest place above it where the path itself does not exist.
    """
    node, rest = root, key
    path: Path = ()
    line = 1 if root is None or not key else root.start_mark.line + 1
    while rest and node is not None:
        step = _step(node, rest)
        if step is None:
            return DataPlace((*path, *re.findall(r"[^.\[\]]+", rest)), line)
        keys, line, node, rest = step
        path = (*path, *keys)
    return DataPlace(path, line)


def key_at(root: yaml.Node | None, line: int, column: int) -> tuple[str, str | None]:
    """Give the key path of what stands at a place (both from 0), and the text of its scalar.

    Beside all scalars (in a comment) it is the last key of the line, and there is no text.
    """
    on_line = ""
    for key, node in _walk(root, ""):
        if node.start_mark.line > line:
            break
        if isinstance(node, yaml.ScalarNode) and _holds(node, line, column):
            return key, str(node.value)
        if node.start_mark.line == line:
            on_line = key
    return on_line, None


def _holds(node: yaml.Node, line: int, column: int) -> bool:
    start, end = node.start_mark, node.end_mark
    return (start.line, start.column) <= (line, column) < (end.line, end.column)


def _walk(node: yaml.Node | None, key: str) -> Iterator[tuple[str, yaml.Node]]:
    if node is None:
        return
    if key:
        yield key, node
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            yield f"{key}.{name.value}".lstrip("."), name
            yield from _walk(value, f"{key}.{name.value}".lstrip("."))
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _walk(item, f"{key}{_called(item, index)}")


def _called(item: yaml.Node, index: int) -> str:
    for name, value in item.value if isinstance(item, yaml.MappingNode) else ():
        if name.value == "id" and isinstance(value, yaml.ScalarNode) and _NAME.match(value.value):
            return f".{value.value}"
    return f"[{index}]"


def _step(node: yaml.Node, rest: str) -> tuple[Path, int, yaml.Node, str] | None:
    """Take the longest first part of a path that this node has."""
    if isinstance(node, yaml.MappingNode):
        return _into_mapping(node, rest)
    if isinstance(node, yaml.SequenceNode):
        return _into_sequence(node, rest)
    return None


def _into_mapping(node: yaml.MappingNode, rest: str) -> tuple[Path, int, yaml.Node, str] | None:
    found = [(key, value) for key, value in node.value if _after(rest, str(key.value)) is not None]
    if found:
        key, value = max(found, key=lambda pair: len(str(pair[0].value)))
        after = _after(rest, str(key.value)) or ""
        return (str(key.value),), key.start_mark.line + 1, value, after
    # `evidence.some-vote` is short for `evidence.supports.some-vote`
    for key, value in node.value:
        step = _into_sequence(value, rest) if isinstance(value, yaml.SequenceNode) else None
        if step is not None:
            keys, line, inner, after = step
            return (str(key.value), *keys), line, inner, after
    return None


def _into_sequence(node: yaml.SequenceNode, rest: str) -> tuple[Path, int, yaml.Node, str] | None:
    index = _INDEX.match(rest)
    if index is not None:
        at = int(index[1])
        if at >= len(node.value):
            return None
        item = node.value[at]
        return (at,), item.start_mark.line + 1, item, rest[index.end() :].removeprefix(".")
    for at, item in enumerate(node.value):
        for name, value in item.value if isinstance(item, yaml.MappingNode) else ():
            after = _after(rest, str(value.value)) if name.value in _IDS else None
            if after is not None:
                return (at,), item.start_mark.line + 1, item, after
    return None


def _after(rest: str, name: str) -> str | None:
    """Give what follows a first part of a path, or None when it is not the first part."""
    if not name or not rest.startswith(name):
        return None
    tail = rest[len(name) :]
    if tail and tail[0] not in ".[":
        return None
    return tail.removeprefix(".")
