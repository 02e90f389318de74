"""Hold the regular expressions of the source to time in proportion to the text.

An expression is taken from each call of `re` (or of what compiles late) with what its names stand
for in its own module. It is tried on texts made of what it repeats (`trainrx.knowledge.regexes`);
those of the knowledge base are tried by `diagnose kb check`. What is only matched where a text
begins is not searched for.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from trainrx.knowledge.regexes import slowness

SOURCE = Path(__file__).parents[1] / "src"
COMPILED = frozenset({"compile", "late", "needled"})
SEARCHED = frozenset({"search", "finditer", "findall", "sub", "subn", "split"})
ANCHORED = frozenset({"match", "fullmatch"})
MOST = 86
"""Expressions that are slow still: a new one is refused. Most are matched on lines that are cut."""


class Regex(NamedTuple):
    """An expression where it stands.

    Attributes:
        name: what it is assigned to; "" where it is used at once.
        anchored: it is never searched for.
    """

    place: str
    name: str
    text: str
    flags: int
    anchored: bool


class _Module:
    """The expressions of one module."""

    def __init__(self, path: Path) -> None:
        self.path = path
        parts = path.relative_to(SOURCE).with_suffix("").parts
        self.name = ".".join(parts).removesuffix(".__init__")
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.constants: dict[str, str | bytes] = {}
        for node in self.tree.body:
            target, value = _assigned(node)
            if target and value is not None and (text := self.text(value)) is not None:
                self.constants[target] = text

    def text(self, node: ast.expr) -> str | bytes | None:
        """Give the text an expression of Python stands for; None where it is made while running."""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str | bytes) else None
        if isinstance(node, ast.Name):
            return self.constants.get(node.id)
        if isinstance(node, ast.FormattedValue):
            return self.text(node.value)
        parts: list[ast.expr] = []
        if isinstance(node, ast.JoinedStr):
            parts = node.values
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            parts = [node.left, node.right]
        texts = [self.text(part) for part in parts]
        if texts and all(isinstance(text, str) for text in texts):
            return "".join(text for text in texts if isinstance(text, str))
        return None

    def regexes(self, used: Mapping[tuple[str, str], set[str]]) -> Iterator[Regex]:
        """Give them, with how what they are assigned to is used."""
        names = {
            id(value): target
            for node in ast.walk(self.tree)
            for target, value in (_assigned(node),)
            if value is not None
        }
        for node in ast.walk(self.tree):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            method = _method(node)
            if method is None or (text := self.text(node.args[0])) is None:
                continue
            name = names.get(id(node), "")
            ways = used[self.name, name] if method in COMPILED and name else {method}
            place = f"{self.path.relative_to(SOURCE)}:{node.lineno}"
            plain = text.decode("latin-1") if isinstance(text, bytes) else text
            anchored = bool(ways) and ways <= ANCHORED
            yield Regex(place, name, plain, _flags(node), anchored)


def _assigned(node: ast.AST) -> tuple[str, ast.expr | None]:
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id, node.value
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id, node.value
    return "", None


def _method(node: ast.Call) -> str | None:
    """Name the function of `re`, or what compiles late; None for any other call."""
    func = node.func
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
        known = COMPILED | SEARCHED | ANCHORED
        return func.attr if func.value.id == "re" and func.attr in known else None
    return func.id if isinstance(func, ast.Name) and func.id in COMPILED - {"compile"} else None


def _flags(node: ast.Call) -> int:
    found = 0
    for part in (*node.args[1:], *(word.value for word in node.keywords)):
        for name in ast.walk(part):
            if isinstance(name, ast.Attribute) and name.attr.isupper():
                found |= int(getattr(re, name.attr, 0))
    return found


def uses(modules: list[_Module]) -> dict[tuple[str, str], set[str]]:
    """Give by which methods the names of each module are used; any other use counts as a search."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for module in modules:
        taken = {
            alias.asname or alias.name: (node.module or "", alias.name)
            for node in ast.walk(module.tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        methods = {
            id(node.value): node.attr
            for node in ast.walk(module.tree)
            if isinstance(node, ast.Attribute)
        }
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                place = taken.get(node.id, (module.name, node.id))
                found[place].add(methods.get(id(node), "search"))
    return found


def main() -> int:
    """Print what is slow."""
    modules = [_Module(path) for path in sorted(SOURCE.rglob("*.py"))]
    used = uses(modules)
    found = {regex for module in modules for regex in module.regexes(used)}
    slow = 0
    for regex in sorted(found):
        if said := slowness(regex.text, regex.flags, anchored=regex.anchored):
            slow += 1
            print(f"{regex.place}: {regex.name} {said}")
    print(f"{slow} of {len(found)} expressions are slow")
    return int(slow > MOST)


if __name__ == "__main__":
    sys.exit(main())
