"""The values of a YAML or JSON text that was found fit to be read, each with its line.

Importing PyYAML takes longer than most launches take to be read: this is imported for a file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

import yaml

from trainrx.inputs.config import (
    MAX_DEPTH,
    MAX_LINE,
    MAX_REREAD,
    MAX_TEXT,
    MAX_VALUES,
    MOST_REREAD,
    read_number,
    refused,
    too_nested,
)
from trainrx.model.facts import Origin
from trainrx.model.findings import Unread
from trainrx.model.job import RawArg
from trainrx.model.pattern import late

_OVERRIDE = late(r"\+{0,2}([A-Za-z_][\w./@-]{0,200})=(.*)", re.DOTALL)
NOT_YAML = "is not valid YAML"
"""How the reason begins where no reader takes the file."""
MOST_ITEMS = 200
_SEVERAL = (
    "begins a second YAML document: only the first one is read, and frameworks refuse such a file"
)


def read_yaml_config(
    text: str, source: str, *, whole: bool
) -> tuple[tuple[RawArg, ...], tuple[Unread, ...]]:
    """Read a mapping, or a list of `key=value` texts; see `read_config`."""
    try:
        node, further = _compose(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else None
        reason = f"{NOT_YAML}: {error.problem or error.context or 'syntax error'}"
        return (), (refused(source, reason, text, line),)
    except (yaml.YAMLError, ValueError) as error:
        return (), (refused(source, f"{NOT_YAML}: {str(error)[:200]}", text, None),)
    except RecursionError:
        return (), (refused(source, "nests too deeply", text, None),)
    if node is None:
        return (), ()
    leaves = _leaves(node, whole=whole) if isinstance(node, yaml.MappingNode) else _overrides(node)
    if leaves is None:
        return (), (refused(source, "holds no key-value pairs", text, 1),)
    args, unread = _cited(leaves, text, source)
    if further is not None:
        unread = (*unread, refused(source, _SEVERAL, text, further))
    return args, unread


def _compose(text: str) -> tuple[yaml.Node | None, int | None]:
    """Compose the first document; give the line of a second one, which must not be there.

    The loader resolves aliases to the same node, not to copies.
    """
    loader = yaml.SafeLoader(_as_yaml(text))
    try:
        node = loader.get_node() if loader.check_node() else None
        return node, loader.get_mark().line + 1 if _goes_on(loader) else None
    finally:
        loader.dispose()


def _goes_on(loader: yaml.SafeLoader) -> bool:
    try:
        return bool(loader.check_node())
    except yaml.YAMLError:
        return True


def _as_yaml(text: str) -> str:
    """JSON is YAML but for tabs and a few escapes: those files are written out once more."""
    if not text.lstrip().startswith("{") or "\t" not in text:
        return text
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text.replace("\t", "  ")


Leaf = tuple[str, tuple[str, ...], int]


def _cited(
    leaves: Iterable[Leaf | None], text: str, source: str
) -> tuple[tuple[RawArg, ...], tuple[Unread, ...]]:
    """Give every leaf the line it stands in; None ends what could be read."""
    lines = text.split("\n")
    found: list[RawArg] = []
    for leaf in leaves:
        if leaf is None:
            reason = f"holds more than {MAX_VALUES} values; the rest was not read"
            return tuple(found), (refused(source, reason, text, None),)
        name, values, line = leaf
        shown = lines[line - 1].strip()[:MAX_LINE] if line <= len(lines) else ""
        origin = Origin(source=source, line=line, text=shown)
        found.append(RawArg(name=name, values=values, origin=origin, via="config"))
    return tuple(found), ()


def _leaves(root: yaml.MappingNode, *, whole: bool) -> Iterator[Leaf | None]:
    walker = _Walker(whole=whole)
    yield from walker.mapping(root, "", 0)
    if walker.left <= 0:
        yield None


def _overrides(root: yaml.Node) -> list[Leaf] | None:
    """Give the `key=value` texts of a list of them, None when it is none."""
    if not isinstance(root, yaml.SequenceNode) or len(root.value) > MAX_VALUES:
        return None
    found: list[Leaf] = []
    for item in root.value:
        match = _OVERRIDE.fullmatch(str(item.value)) if isinstance(item, yaml.ScalarNode) else None
        if match is None:
            return None
        found.append((match[1], (match[2],), item.start_mark.line + 1))
    return found


class _Walker:
    """Walks nodes; an alias stands for the whole it names, so visits are counted, not nodes."""

    def __init__(self, *, whole: bool) -> None:
        self.left = MAX_VALUES
        self._whole = whole

    def mapping(self, node: yaml.MappingNode, prefix: str, depth: int) -> Iterator[Leaf]:
        """Give name, values and line of every leaf; deeper than MAX_DEPTH nothing is configured."""
        for key, value in self.pairs(node, depth) if depth <= MAX_DEPTH else ():
            self.left -= 1
            if self.left <= 0:
                return
            if not isinstance(key, yaml.ScalarNode):
                continue
            name = f"{prefix}{key.value}"[:MAX_LINE]
            line = key.start_mark.line + 1
            if isinstance(value, yaml.ScalarNode):
                yield name, (_scalar(value),), line
            elif isinstance(value, yaml.MappingNode):
                if self._whole:
                    yield name, (self.json(value),), line
                else:
                    yield from self.mapping(value, f"{name}.", depth + 1)
            elif isinstance(value, yaml.SequenceNode):
                yield from self.sequence(value, name, line, depth)

    def pairs(self, node: yaml.MappingNode, depth: int) -> Iterator[tuple[yaml.Node, yaml.Node]]:
        """Give keys and values, those merged in first, but for the ones that are overridden."""
        merged = [value for key, value in node.value if key.tag.endswith(":merge")]
        own = [(key, value) for key, value in node.value if not key.tag.endswith(":merge")]
        taken = {key.value for key, _ in own if isinstance(key, yaml.ScalarNode)}
        for value in merged if depth <= MAX_DEPTH else ():
            for part in value.value if isinstance(value, yaml.SequenceNode) else (value,):
                if not isinstance(part, yaml.MappingNode):
                    continue
                for key, merged_value in self.pairs(part, depth + 1):
                    self.left -= 1
                    if self.left <= 0:
                        return
                    if isinstance(key, yaml.ScalarNode) and key.value not in taken:
                        yield key, merged_value
        yield from own

    def sequence(self, node: yaml.SequenceNode, name: str, line: int, depth: int) -> Iterator[Leaf]:
        """Give a list of plain values as one leaf, mappings in a list by their index."""
        self.left -= len(node.value)
        if self.left <= 0:
            return
        scalars = tuple(_scalar(item) for item in node.value if isinstance(item, yaml.ScalarNode))
        if len(scalars) == len(node.value):
            yield name, scalars, line
            return
        if self._whole:
            yield name, (self.json(node),), line
            return
        for index, item in enumerate(node.value):
            if isinstance(item, yaml.MappingNode):
                yield from self.mapping(item, f"{name}.{index}.", depth + 1)

    def json(self, node: yaml.Node) -> str:
        """Write a value as JSON."""
        return json.dumps(self._data(node, 0), ensure_ascii=False)

    def _data(self, node: yaml.Node, depth: int) -> object:
        self.left -= 1
        if self.left <= 0 or depth > MAX_DEPTH:
            return None
        if isinstance(node, yaml.MappingNode):
            return {
                str(key.value): self._data(value, depth + 1)
                for key, value in self.pairs(node, depth)
                if isinstance(key, yaml.ScalarNode)
            }
        if isinstance(node, yaml.SequenceNode):
            return [self._data(item, depth + 1) for item in node.value]
        return _typed(node)


Listed = tuple[str | tuple[tuple[str, tuple[str, ...]], ...], ...]


def list_under(text: str, *keys: str) -> Listed:
    """Give the items of a list below keys: texts, and mappings as keys with the texts of each.

    Nothing where there is no such list, or the text is no YAML.
    """
    if len(text) > MAX_TEXT or too_nested(text) is not None:
        return ()
    read = _listed_once if len(text) <= MAX_REREAD else _listed
    return read(text, keys)


def _listed(text: str, keys: tuple[str, ...]) -> Listed:
    try:
        node, _ = _compose(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return ()
    for name in keys:
        node = _below(node, name)
    found: list[str | tuple[tuple[str, tuple[str, ...]], ...]] = []
    for item in node.value[:MOST_ITEMS] if isinstance(node, yaml.SequenceNode) else ():
        if isinstance(item, yaml.ScalarNode):
            found.append(_scalar(item))
        elif isinstance(item, yaml.MappingNode):
            pairs = ((str(key.value), _texts(value)) for key, value in item.value)
            found.append(tuple(pairs))
    return tuple(found)


_listed_once = lru_cache(maxsize=MOST_REREAD)(_listed)


def _below(node: yaml.Node | None, name: str) -> yaml.Node | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    return next((value for key, value in node.value if key.value == name), None)


def _texts(node: yaml.Node) -> tuple[str, ...]:
    items = node.value[:MOST_ITEMS] if isinstance(node, yaml.SequenceNode) else [node]
    return tuple(_scalar(item) for item in items if isinstance(item, yaml.ScalarNode))


def _typed(node: yaml.Node) -> object:
    text = _scalar(node) if isinstance(node, yaml.ScalarNode) else ""
    tag = node.tag.rpartition(":")[2]
    if tag == "null":
        return None
    if tag == "bool":
        return text.lower() in {"true", "yes", "on"}
    number = read_number(text) if tag in {"int", "float"} else None
    if number is None:
        return text
    return int(number) if tag == "int" and number == int(number) else number


def _scalar(node: yaml.ScalarNode) -> str:
    if node.tag.endswith(":null") and not node.value:
        return "null"
    return str(node.value).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
