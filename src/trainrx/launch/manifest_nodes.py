"""YAML nodes of manifests: where pods and services stand."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

MAX_DEPTH = 16
MOST_NODES = 20_000

Found = tuple[yaml.MappingNode, yaml.MappingNode, int]
"""A pod's specification, one of its containers, and how many pods there are of it."""


def get(node: yaml.Node | None, *path: str) -> yaml.Node | None:
    """Follow keys into mappings; None where one is missing."""
    for name in path:
        if not isinstance(node, yaml.MappingNode):
            return None
        node = next((value for key, value in node.value if scalar(key) == name), None)
    return node


def scalar(node: yaml.Node | None) -> str:
    """Give the text of a scalar, "" for anything else."""
    return str(node.value) if isinstance(node, yaml.ScalarNode) else ""


def items(node: yaml.Node | None) -> list[yaml.Node]:
    """Give the items of a list, none for anything else."""
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def entries(node: yaml.Node | None) -> list[tuple[str, yaml.Node]]:
    """Give keys and values of a mapping, none for anything else."""
    if not isinstance(node, yaml.MappingNode):
        return []
    return [(scalar(key), value) for key, value in node.value if scalar(key)]


def line_of(node: yaml.Node) -> int:
    """Give the line a node begins in, from 1."""
    return int(node.start_mark.line) + 1


def count(node: yaml.Node | None) -> int:
    """Read a number of replicas; 1 where none is written."""
    text = scalar(node).strip()
    return int(text) if text.isdecimal() and len(text) <= 6 and int(text) else 1


def pods(document: yaml.Node) -> list[Found]:
    """Find all containers of pods, and Argo's templates, with the replicas nearest above them."""
    return list(_walk(document))


def _walk(document: yaml.Node) -> Iterator[Found]:
    left = MOST_NODES
    stack: list[tuple[yaml.Node, int, int]] = [(document, 1, 0)]
    while stack and left > 0:
        left -= 1
        node, replicas, depth = stack.pop()
        if isinstance(node, yaml.MappingNode):
            containers = get(node, "containers")
            for container in items(containers):
                if isinstance(container, yaml.MappingNode):
                    yield node, container, replicas
            for name in ("container", "script"):  # templates of Argo
                single = get(node, name)
                if isinstance(single, yaml.MappingNode) and get(single, "image") is not None:
                    yield node, single, replicas
            written = get(node, "replicas") or get(node, "parallelism")
            replicas = count(written) if written is not None else replicas
        children = (
            [value for _, value in entries(node)]
            if isinstance(node, yaml.MappingNode)
            else items(node)
        )
        if depth < MAX_DEPTH:
            stack += [(child, replicas, depth + 1) for child in reversed(children)]


def services(document: yaml.Node) -> list[yaml.Node]:
    """Give the services of a compose file."""
    if get(document, "apiVersion") is not None:
        return []
    return [node for _, node in entries(get(document, "services"))]
