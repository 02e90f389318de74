"""One YAML reader for our own entries: YAML 1.2 scalars, no duplicate keys, dates stay text.

PyYAML speaks YAML 1.1, where `1e-5` is text, `off` is false and `12:30` is 750.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from trainrx.knowledge.regular import read_regular
from trainrx.model.errors import KnowledgeError
from trainrx.model.limits import DEEPEST, LARGEST_ENTRY

if TYPE_CHECKING:
    from collections.abc import Hashable

_Base: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[valid-type,misc]  # the C loader is chosen at run time
    """The loader of kb and rules."""


_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, regex)
        for tag, regex in resolvers
        if tag.removeprefix("tag:yaml.org,2002:") in ("null", "merge")
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int", re.compile(r"^[-+]?(?:0|[1-9][0-9]*)$"), list("-+0123456789")
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(
        r"^[-+]?(?:[0-9]+\.[0-9]*(?:[eE][-+]?[0-9]+)?|\.[0-9]+(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)$"
    ),
    list("-+.0123456789"),
)


def _mapping(loader: yaml.SafeLoader, node: yaml.MappingNode) -> dict[Hashable, object]:
    loader.flatten_mapping(node)
    out: dict[Hashable, object] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if key in out:
            raise yaml.constructor.ConstructorError(
                None, None, f"the key {key!r} stands twice", key_node.start_mark
            )
        out[key] = loader.construct_object(value_node, deep=True)
    return out


_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)


def read_yaml(path: Path) -> object:
    """Read one file of ours.

    Raises:
        KnowledgeError: it cannot be read or is not YAML; names the file, line and reason.
    """
    return read_nodes(path)[0]


def read_nodes(path: Path) -> tuple[object, yaml.Node | None]:
    """Read one file of ours, with the nodes that tell on which line each key stands.

    Raises:
        KnowledgeError: it cannot be read or is not YAML; names the file, line and reason.
    """
    return nodes_of(read_text(path), path)


def read_text(path: Path) -> str:
    """Read the text of one file of ours.

    Raises:
        KnowledgeError: it cannot be read.
    """
    try:
        data = read_regular(path, LARGEST_ENTRY + 1)
        if len(data) > LARGEST_ENTRY:
            raise KnowledgeError(str(path), "", f"is larger than {LARGEST_ENTRY >> 20} MiB")
        return data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise KnowledgeError(str(path), "", f"cannot be read: {error}") from error


def _refuse_deep(text: str) -> None:
    """Look how deeply a text nests before it is composed, which takes a frame of C a level.

    Raises:
        YAMLError: it nests more deeply than any entry.
    """
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEEPEST:
                raise yaml.YAMLError(f"nests more than {DEEPEST} lists and mappings")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def nodes_of(text: str, path: Path) -> tuple[object, yaml.Node | None]:
    """Read the text of one file of ours, with its nodes.

    Raises:
        KnowledgeError: it is not YAML; names the file, line and reason.
    """
    try:
        _refuse_deep(text)
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            return (None if node is None else loader.construct_document(node)), node
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or str(error)
        raise KnowledgeError(str(path), where, f"is not valid YAML: {problem}") from error
