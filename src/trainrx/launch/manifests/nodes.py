"""Reading YAML nodes: keys, also merged ones, lists, numbers, and the line each stands in."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

MOST_MERGED = 8
_MERGE = "<<"


def get(node: yaml.Node | None, *path: str) -> yaml.Node | None:
    """Follow keys into mappings; None where one is missing."""
    for name in path:
        if not isinstance(node, yaml.MappingNode):
            return None
        node = next(
            (
                value
                for part in (node, *_merges(node))
                for key, value in part.value
                if scalar(key) == name
            ),
            None,
        )
    return node


def _merges(node: yaml.MappingNode) -> Iterator[yaml.MappingNode]:
    waiting = [node]
    for _ in range(MOST_MERGED):
        if not waiting:
            return
        for key, value in waiting.pop().value:
            if scalar(key) == _MERGE:
                parts = (value, *items(value))
                found = [item for item in parts if isinstance(item, yaml.MappingNode)]
                yield from found
                waiting += found


def scalar(node: yaml.Node | None) -> str:
    """Give the text of a scalar, "" for anything else."""
    return str(node.value) if isinstance(node, yaml.ScalarNode) else ""


def items(node: yaml.Node | None) -> list[yaml.Node]:
    """Give the items of a list, none for anything else."""
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def words(node: yaml.Node | None) -> list[yaml.ScalarNode]:
    """Give the texts of a list, or the one that stands instead of it."""
    found = [node] if isinstance(node, yaml.ScalarNode) else items(node)
    return [item for item in found if isinstance(item, yaml.ScalarNode)]


def entries(node: yaml.Node | None) -> list[tuple[str, yaml.Node]]:
    """Give keys and values of a mapping, merged ones last; none for anything else."""
    if not isinstance(node, yaml.MappingNode):
        return []
    found: dict[str, yaml.Node] = {}
    for part in (node, *_merges(node)):
        for key, value in part.value:
            if (name := scalar(key)) and name != _MERGE:
                found.setdefault(name, value)
    return list(found.items())


def line_of(node: yaml.Node) -> int:
    """Give the line a node begins in, from 1."""
    return int(node.start_mark.line) + 1


def count(node: yaml.Node | None) -> int:
    """Read a number of replicas; 1 where none is written."""
    text = scalar(node).strip()
    return int(text) if text.isdecimal() and len(text) <= 6 and int(text) else 1
