"""Python's printed objects read as data, without running them: dataclasses, dicts, namespaces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Union

from trainrx.model.pattern import late

MAX_DEPTH = 40
MAX_TEXT = 1_000_000
"""Characters of one printed object that are read."""
MAX_LEAVES = 20_000
NOTHING = "null"
"""How None is written out: as YAML and JSON do, which the readers of configuration know."""

Node = Union[str, None, list["Node"], dict[str, "Node"]]  # noqa: UP007  # quoted names take no `|`
"""What was read; None is not Python's None (that is `NOTHING`) but what cannot be told."""

_SPACE = late(r"\s*")
_SINGLE = late(r"'((?:[^'\\]|\\.)*)'", re.DOTALL)
_DOUBLE = late(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_PREFIX = late(r"[rbuRBU]{1,2}(?=['\"])")
_BARE = late(r"[^,()\[\]{}'\"<>\n]+")
_KEYWORD = late(r"\s*([A-Za-z_]\w{0,127})=")
_ENUM = late(r"<([A-Za-z_][\w.]{0,127}): ([^<>]{0,400})>")
_NUMBER = late(r"-?\d{1,18}(?:\.\d{1,18})?(?:e[+-]?\d{1,2})?", re.ASCII)
_MEMBER = late(r"[A-Z]\w{2,60}\.([A-Z][A-Z0-9_]{0,60})")
_ESCAPE = late(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
_CLOSERS = {"(": ")", "[": "]", "{": "}"}


def read_repr(text: str) -> Node:
    """Read the printed object a text begins with; what follows it is left alone.

    `Name(a=1)` and dicts become mappings, lists, tuples and sets become lists, members of
    enumerations their value, None `NOTHING`. Of a text that breaks off, what is whole is kept.
    """
    return _ReprReader(text[:MAX_TEXT]).value(0)


def read_fields(text: str) -> dict[str, Node]:
    """Read `a=1, b='x'`, the inside of a printed object, to the end of the text."""
    return _ReprReader(text[:MAX_TEXT]).fields("", 0)


def read_scalar(text: str) -> str:
    """Read a value printed without quotes: `Class.MEMBER` is its member, None is `NOTHING`."""
    text = text.strip()
    if text == "None":
        return NOTHING
    member = _MEMBER.fullmatch(text)
    return member[1].lower() if member is not None else text


def whole(fields: Mapping[str, Node]) -> Iterator[tuple[str, tuple[str, ...] | None]]:
    """Give the fields by name; a mapping is one text, written as JSON. None: cannot be told."""
    import json  # few files hold mappings

    for name, node in fields.items():
        nested = isinstance(node, list) and any(isinstance(item, (dict, list)) for item in node)
        if isinstance(node, dict) or nested:
            yield name, (json.dumps(_typed(node), ensure_ascii=False),)
        else:
            yield from flatten({name: node})


def _typed(node: Node) -> object:
    if isinstance(node, dict):
        return {key: _typed(item) for key, item in node.items()}
    if isinstance(node, list):
        return [_typed(item) for item in node]
    if node is None or node == NOTHING:
        return None
    if node in ("True", "False"):
        return node == "True"
    if not _NUMBER.fullmatch(node):
        return node
    return int(node) if node.lstrip("-").isdecimal() else float(node)


def flatten(fields: Mapping[str, Node]) -> Iterator[tuple[str, tuple[str, ...] | None]]:
    """Give leaves by dotted names, as a configuration file's are; None: cannot be told."""
    left = MAX_LEAVES
    stack: list[Iterator[tuple[str, Node]]] = [iter(list(fields.items()))]
    prefixes = [""]
    while stack and left > 0:
        found = next(stack[-1], None)
        if found is None:
            stack.pop()
            prefixes.pop()
            continue
        left -= 1
        name, node = f"{prefixes[-1]}{found[0]}", found[1]
        if isinstance(node, dict):
            stack.append(iter(list(node.items())))
            prefixes.append(f"{name}.")
        elif isinstance(node, list) and any(isinstance(item, (dict, list)) for item in node):
            stack.append((str(number), item) for number, item in enumerate(node))
            prefixes.append(f"{name}.")
        elif isinstance(node, list):
            texts = [item for item in node if isinstance(item, str)]
            yield name, tuple(texts) if len(texts) == len(node) else None
        else:
            yield name, None if node is None else (node,)


class _ReprReader:
    """Reads on from `at`; `cut` is set when the text ends inside an object."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.cut = False

    def value(self, depth: int) -> Node:
        self._skip()
        char = self.text[self.at : self.at + 1]
        if depth > MAX_DEPTH or not char:
            self._give_up()
            return None
        if char in "([":
            self.at += 1
            return self._items(_CLOSERS[char], depth)
        if char == "{":
            self.at += 1
            return self._mapping(depth)
        if char == "<":
            return self._angle()
        prefix = _PREFIX.match(self.text, self.at)
        if prefix is not None:
            self.at = prefix.end()
            char = self.text[self.at]
        if char in "'\"":
            return self._strings()
        return self._word(depth)

    def fields(self, closer: str, depth: int) -> dict[str, Node]:
        """Read `name=value` pairs up to the closer; a value that is cut off is left out."""
        found: dict[str, Node] = {}
        while not self._ends(closer):
            keyword = _KEYWORD.match(self.text, self.at)
            if keyword is None:
                self.value(depth + 1)
                self._to_comma(closer)
                continue
            self.at = keyword.end()
            value = self.value(depth + 1)
            if self.cut:
                if isinstance(value, (dict, list)):
                    found[keyword[1]] = value
                break
            found[keyword[1]] = value
            self._to_comma(closer)
        return found

    def _items(self, closer: str, depth: int) -> Node:
        found: list[Node] = []
        while not self._ends(closer):
            value = self.value(depth + 1)
            if not self.cut:
                found.append(value)
            self._to_comma(closer)
        return found

    def _mapping(self, depth: int) -> Node:
        found: dict[str, Node] = {}
        items: list[Node] = []
        while not self._ends("}"):
            key = self._key(depth)
            self._skip()
            if self.text[self.at : self.at + 1] != ":" or self.cut:
                items.append(key)
            else:
                self.at += 1
                value = self.value(depth + 1)
                if not self.cut or isinstance(value, (dict, list)):
                    found[key or ""] = value
            self._to_comma("}")
        return items if items and not found else found

    def _key(self, depth: int) -> str | None:
        self._skip()
        if self.text[self.at : self.at + 1] in {"'", '"'}:
            return self._strings()
        bare = re.compile(r"[^,:()\[\]{}'\"<>\n]+").match(self.text, self.at)
        if bare is not None:
            self.at = bare.end()
            return read_scalar(bare[0])
        value = self.value(depth + 1)
        return value if isinstance(value, str) else None

    def _strings(self) -> str | None:
        """Read a string, and those right behind it: pprint breaks long ones."""
        parts: list[str] = []
        while self.text[self.at : self.at + 1] in {"'", '"'}:
            quoted = _SINGLE if self.text[self.at] == "'" else _DOUBLE
            match = quoted.match(self.text, self.at)
            if match is None:
                self._give_up()
                return None
            self.at = match.end()
            parts.append(_unescape(match[1]))
            self._skip()
        return "".join(parts)

    def _word(self, depth: int) -> Node:
        match = _BARE.match(self.text, self.at)
        if match is None:
            self.at += 1
            return None
        self.at = match.end()
        word = match[0].strip()
        if self.text[self.at : self.at + 1] == "(":
            self.at += 1
            return self._call(depth)
        if self.at == len(self.text) and depth and not word:
            self.cut = True
        return read_scalar(word)

    def _call(self, depth: int) -> Node:
        """Read the arguments of a printed object: named ones, or the only positional one."""
        if _KEYWORD.match(self.text, self.at) or self._ends_now(")"):
            return self.fields(")", depth)
        items = self._items(")", depth)
        return items[0] if isinstance(items, list) and len(items) == 1 else None

    def _angle(self) -> Node:
        match = _ENUM.match(self.text, self.at)
        if match is not None:
            self.at = match.end()
            return _ReprReader(match[2]).value(1)
        open_, start = 0, self.at
        for mark in re.compile(r"[<>]").finditer(self.text, start, start + 2000):
            open_ += 1 if mark[0] == "<" else -1
            self.at = mark.end()
            if open_ == 0:
                return None
        self.at = max(self.at, start + 1)
        return None

    def _skip(self) -> None:
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match is not None else self.at

    def _ends_now(self, closer: str) -> bool:
        self._skip()
        if closer and self.text[self.at : self.at + 1] == closer:
            self.at += 1
            return True
        return False

    def _ends(self, closer: str) -> bool:
        """Tell whether the object is over; running out of text is a cut unless it had no end."""
        if self.cut or self._ends_now(closer):
            return True
        if self.at >= len(self.text):
            self.cut = bool(closer)
            return True
        return False

    def _to_comma(self, closer: str) -> None:
        """Go behind the next comma, or stay in front of the closer; skip what was not understood.

        A closer of another kind is no end of this object and is passed over.
        """
        marks = re.compile(r"," if not closer else rf"[,{re.escape(closer)}]")
        match = marks.search(self.text, self.at)
        if match is None:
            self._give_up() if closer else self._finish()
        else:
            self.at = match.end() if match[0] == "," else match.start()

    def _finish(self) -> None:
        self.at = len(self.text)

    def _give_up(self) -> None:
        self._finish()
        self.cut = True


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPE.sub(_escaped, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _escaped(match: re.Match[str]) -> str:
    digits = match[1] or match[2] or match[3]
    if digits:
        code = int(digits, 16)
        return chr(code) if code < 0x110000 else "\ufffd"
    return _ESCAPED.get(match[4], match[4])
