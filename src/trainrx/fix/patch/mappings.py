"""Edits of YAML and JSON files by the spans of their keys and values: every other byte stays.

PyYAML tells where each key and value begins and ends. Writing a file anew, as round-trip loaders
do, would change blanks and line breaks that nobody asked to change.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

import yaml

from trainrx.fix.patch.wanted import OffsetEdit, Want, indent_of, line_end, line_start, same

_PROPERTIES = re.compile(r"(?:[&!]\S*[ \t]+)+")
_ALIAS = re.compile(r":[ \t]+(\*[^\s,\]}]+)")
_DEPTH = 30
Pair = tuple[yaml.ScalarNode, yaml.Node]


class MappingItem(NamedTuple):
    """A key of a mapping with its value."""

    mapping: yaml.MappingNode
    number: int

    @property
    def key(self) -> yaml.Node:
        """Give the key's node."""
        return self.mapping.value[self.number][0]  # type: ignore[no-any-return]

    @property
    def value(self) -> yaml.Node:
        """Give the value's node."""
        return self.mapping.value[self.number][1]  # type: ignore[no-any-return]


def compose(text: str) -> yaml.MappingNode | None:
    """Read a mapping; None when the text is none."""
    try:
        loader = yaml.SafeLoader(text.replace("\t", " ") if is_json(text) else text)
        try:
            node = loader.get_node() if loader.check_node() else None
        finally:
            loader.dispose()
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return node if isinstance(node, yaml.MappingNode) else None


def is_json(text: str) -> bool:
    """Tell whether a text is a JSON object."""
    if not text.lstrip().startswith("{"):
        return False
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def mapping_edits(name: str, text: str, want: Want) -> Iterator[tuple[OffsetEdit, ...]]:
    """Give the edits that may bring a key to what is wanted, the most natural first."""
    root = compose(text)
    if root is None:
        return
    held = _find(root, want.old or want.name)
    if want.values is None:
        if held is not None:
            yield (_removed(name, text, held),)
            path = want.name.rpartition(".")[0]
            outer = _find(root, path) if path else None
            if outer is not None:
                yield (_removed(name, text, outer),)
    elif held is None:
        yield from _added(name, text, root, want)
    else:
        renaming = (_renamed(name, text, held, want),) if want.old else ()
        if want.keeps:
            yield renaming
        else:
            yield (*renaming, _set(name, text, held, want.values))


def _find(root: yaml.MappingNode, path: str, depth: int = 0) -> MappingItem | None:
    """Find a key by its dotted name; of a name given twice the last one counts."""
    found: MappingItem | None = None
    for number, (key, value) in enumerate(root.value if depth < _DEPTH else ()):
        if not isinstance(key, yaml.ScalarNode):
            continue
        if key.value == path or ("." not in path and same(key.value, path)):
            found = MappingItem(root, number)
        elif path.startswith(f"{key.value}.") and isinstance(value, yaml.MappingNode):
            found = _find(value, path[len(key.value) + 1 :], depth + 1) or found
    return found


def _index(mark: yaml.Mark | None) -> int:
    return mark.index if mark is not None else 0


def _end(node: yaml.Node) -> int:
    """Give where a value ends: a block's own mark stands behind the blanks after it."""
    flow = getattr(node, "flow_style", None)
    if isinstance(node, yaml.ScalarNode) or flow or not node.value:
        return _index(node.end_mark)
    last = node.value[-1]
    pair = last if isinstance(last, tuple) else (last,)
    return max(_index(pair[0].end_mark), *(_end(item) for item in pair))


# Values


def _set(name: str, text: str, held: MappingItem, values: tuple[str, ...]) -> OffsetEdit:
    start, end = _index(held.value.start_mark), _end(held.value)
    key_end = _index(held.key.end_mark)
    alias = _ALIAS.match(text, key_end)
    if alias is not None:
        start, end = alias.span(1)
    elif start < key_end:  # an anchor's value stands elsewhere
        return OffsetEdit(name, start, end, text[start:end])
    raw = text[start:end].rstrip()
    end = start + len(raw)
    properties = _PROPERTIES.match(raw)
    if properties is not None and alias is None:
        start += properties.end()
        raw = raw[properties.end() :]
    if not raw:
        at = text.index(":", key_end) + 1
        return OffsetEdit(name, at, at, " " + _scalar(values, "", text))
    if isinstance(held.value, yaml.SequenceNode) and not raw.startswith("["):
        return _block_list(name, text, key_end, end, values)
    return OffsetEdit(name, start, end, _scalar(values, raw, text))


def _block_list(
    name: str, text: str, key_end: int, end: int, values: tuple[str, ...]
) -> OffsetEdit:
    colon = text.index(":", key_end) + 1
    return OffsetEdit(name, colon, end, " " + _scalar(values, "", text))


def _scalar(values: tuple[str, ...], raw: str, text: str) -> str:
    """Write a value with the quotes of the one it replaces."""
    if len(values) > 1 or (raw.startswith("[") and values):
        inner = re.search(r"[\"']", raw)
        model = inner[0] * 2 if inner else ""
        return "[" + ", ".join(_scalar((v,), model, text) for v in values) + "]"
    value = values[0] if values else "true"
    if is_json(text):
        return _json(value)
    if raw[:1] == "'" and "'" not in value:
        return f"'{value}'"
    if raw[:1] == '"':
        return json.dumps(value, ensure_ascii=False)
    return value if _is_plain(value) else json.dumps(value, ensure_ascii=False)


def _json(value: str) -> str:
    lowered = {"True": "true", "False": "false", "None": "null"}.get(value, value)
    try:
        json.loads(lowered)
    except (ValueError, RecursionError):
        return json.dumps(value, ensure_ascii=False)
    return lowered


def _is_plain(value: str) -> bool:
    """Tell whether YAML reads a value without quotes as it is."""
    try:
        node = yaml.compose(f"k: {value}\nz: 1\n", Loader=yaml.SafeLoader)
        held = node.value[0][1] if isinstance(node, yaml.MappingNode) else None
        inside = yaml.compose(f"k: [{value}, 1]\n", Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError):
        return False
    return (
        isinstance(held, yaml.ScalarNode)
        and held.value == value
        and isinstance(inside, yaml.MappingNode)
    )


def _renamed(name: str, text: str, held: MappingItem, want: Want) -> OffsetEdit:
    start, end = _index(held.key.start_mark), _index(held.key.end_mark)
    raw = text[start:end]
    new = want.name.rpartition(".")[2]
    quote = raw[0] if raw[:1] in ('"', "'") else ""
    return OffsetEdit(name, start, end, f"{quote}{new}{quote}")


# Keys


def _removed(name: str, text: str, held: MappingItem) -> OffsetEdit:
    pairs, number = held.mapping.value, held.number
    start, end = _index(held.key.start_mark), max(_end(held.value), _index(held.key.end_mark))
    if _index(held.value.start_mark) < start:  # an alias
        alias = _ALIAS.match(text, _index(held.key.end_mark))
        end = alias.end() if alias else _index(held.key.end_mark)
    if held.mapping.flow_style:
        if number:
            return OffsetEdit(name, max(_end(n) for n in pairs[number - 1]), end, "")
        stop = _index(pairs[1][0].start_mark) if len(pairs) > 1 else end
        return OffsetEdit(name, start, stop, "")
    if not text[start:end].endswith("\n"):
        stop = text.find("\n", end)
        end = stop + 1 if stop >= 0 else len(text)
    return OffsetEdit(name, line_start(text, start), end, "")


def _added(
    name: str, text: str, root: yaml.MappingNode, want: Want
) -> Iterator[tuple[OffsetEdit, ...]]:
    mapping, path = root, want.name
    while "." in path:
        first, _, rest = path.partition(".")
        outer = _find(mapping, first)
        if outer is None or not isinstance(outer.value, yaml.MappingNode):
            break
        if _index(outer.value.start_mark) < _index(outer.key.start_mark):
            return  # an alias: its anchor's mapping serves others too
        mapping, path = outer.value, rest
    values = want.values or ()
    if mapping.flow_style:
        yield (_into_flow(name, text, mapping, path, values),)
    elif mapping.value:
        yield (_into_block(name, text, mapping, path, values),)
    if "." in want.name and mapping is root and not mapping.flow_style:
        yield (_below(name, text, root, f"{want.name}: {_scalar(values, '', text)}"),)


def _into_block(
    name: str, text: str, mapping: yaml.MappingNode, path: str, values: tuple[str, ...]
) -> OffsetEdit:
    indent = indent_of(text, _index(mapping.value[0][0].start_mark))
    parts = path.split(".")
    line = f"{parts[-1]}: {_scalar(values, '', text)}"
    lines = [f"{'  ' * depth}{part}:" for depth, part in enumerate(parts[:-1])]
    lines.append("  " * (len(parts) - 1) + line)
    return _below(name, text, mapping, (line_end(text) + indent).join(lines))


def _below(name: str, text: str, mapping: yaml.MappingNode, lines: str) -> OffsetEdit:
    """Put lines below the last key of a mapping, its comment included."""
    key, value = mapping.value[-1]
    indent = indent_of(text, _index(mapping.value[0][0].start_mark))
    end = max(_index(key.end_mark), _end(value))
    if _index(value.start_mark) < _index(key.start_mark):
        end = _index(key.end_mark)
    end = len(text[:end].rstrip()) if text[:end].endswith("\n") else end
    stop = text.find("\n", end)
    stop = len(text) if stop < 0 else stop
    stop -= text[end:stop].endswith("\r")
    return OffsetEdit(name, stop, stop, line_end(text) + indent + lines)


def _into_flow(
    name: str, text: str, mapping: yaml.MappingNode, path: str, values: tuple[str, ...]
) -> OffsetEdit:
    json_like = is_json(text)
    pairs = mapping.value
    start = _index(mapping.start_mark)
    gap = text[start + 1 : _index(pairs[0][0].start_mark)] if pairs else ""
    if len(pairs) > 1:
        between = text[_end(pairs[-2][1]) : _index(pairs[-1][0].start_mark)]
        gap = between.partition(",")[2] or gap
    gap = gap if not gap.strip() else " "
    nested = _nested(path.split("."), values, text, quoted=json_like)
    if not pairs:
        return OffsetEdit(name, start + 1, start + 1, nested)
    at = max(_end(pairs[-1][1]), _index(pairs[-1][0].end_mark))
    return OffsetEdit(name, at, at, f",{gap or ' '}{nested}")


def _nested(parts: list[str], values: tuple[str, ...], text: str, *, quoted: bool) -> str:
    key = f'"{parts[0]}"' if quoted else parts[0]
    if len(parts) == 1:
        return f"{key}: {_scalar(values, '', text)}"
    return f"{key}: {{{_nested(parts[1:], values, text, quoted=quoted)}}}"
