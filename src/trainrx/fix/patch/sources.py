"""Keyword arguments of a Python program (`SFTConfig(per_device_train_batch_size=2)`)."""

from __future__ import annotations

import ast
import io
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from trainrx.catalog.keywords import PEFT_KEYWORDS, as_python, quoted
from trainrx.fix.patch.configs import base
from trainrx.fix.patch.wanted import OffsetEdit, Want, applied, indent_of, line_end
from trainrx.launch.python_model import named_by
from trainrx.launch.python_names import text_of
from trainrx.launch.python_values import DTYPES
from trainrx.model.job import RawLaunch

_TRAINING = frozenset({"output_dir", "per_device_train_batch_size", "learning_rate"})
"""What tells the call that holds the trainer's arguments."""
_OF_MODEL = frozenset({"attn_implementation", "torch_dtype", "dtype", "device_map"})
"""What is added where the model is loaded."""
_ARITHMETIC = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop)
_CONTAINERS = (ast.List, ast.Tuple, ast.Dict, ast.expr_context)


class _Place(NamedTuple):
    """Where a program gives an argument a value: a keyword of a call, or `args.bf16 = True`."""

    node: ast.keyword | ast.Assign
    value: ast.expr
    call: ast.Call | None = None


def program_of(launch: RawLaunch, texts: Mapping[str, str]) -> str | None:
    """Give the name of the text that is the program of a launch."""
    own = [n for n in texts if n.endswith(".py") and base(n) == base(launch.program)]
    return own[0] if len(own) == 1 else None


def source_with(name: str, text: str, want: Want) -> str | None:
    """Give a program with one argument as wanted; None when no edit does just that.

    The edit counts only when the syntax tree of the new text is the old one with that argument
    changed.
    """
    tree = _tree(text)
    if tree is None or want.kind != "arg":
        return None
    source = _Source(name, text, tree)
    found = source.places(want.old or want.name)
    if len(found) > 1:
        return None
    edit = source.changed(found[0], want) if found else source.added(want)
    if edit is None:
        return None
    after = applied({name: text}, [edit])[name]
    # the edit was made on the tree as well
    return after if _same(_tree(after), tree) else None


def sets_keyword(text: str, want: Want) -> bool:
    """Tell whether a program sets an argument, under its present name."""
    tree = _tree(text)
    return tree is not None and bool(_Source("", text, tree).places(want.old or want.name))


def option_of(text: str, want: Want) -> str | None:
    """Give the option of the program's own parser that an argument takes its value from."""
    tree = _tree(text)
    found = [] if tree is None else _Source("", text, tree).places(want.name)
    if tree is None or len(found) != 1 or not isinstance(found[0].value, ast.Attribute):
        return None
    name = found[0].value.attr
    declared = (
        arg.value
        for call in _calls(tree)
        if text_of(call.func).endswith(".add_argument")
        for arg in call.args
        if isinstance(arg, ast.Constant)
    )
    options = [one for one in declared if isinstance(one, str) and one.startswith("--")]
    return next((o[2:] for o in options if o[2:].replace("-", "_") == name), None)


def takes_keywords(text: str) -> bool:
    """Tell whether a program sets the trainer's arguments itself, so that no flag reaches them."""
    tree = _tree(text)
    return tree is not None and any(True for _ in _trainers(tree))


def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _same(one: ast.Module | None, other: ast.Module) -> bool:
    try:
        return one is not None and ast.dump(one) == ast.dump(other)
    except RecursionError:  # a sum of a thousand terms
        return False


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _trainers(tree: ast.AST) -> Iterator[ast.Call]:
    """Give the calls that hold the trainer's arguments."""
    for call in _calls(tree):
        given = {item.arg for item in call.keywords}
        if _TRAINING & given and text_of(call.func).endswith(("Arguments", "Config")):
            yield call


class _Source:
    """A program, in which each change is made twice: as an edit of its text, and of its tree."""

    def __init__(self, name: str, text: str, tree: ast.Module) -> None:
        self._name = name
        self._text = text
        self._tree = tree
        self._starts: list[tuple[int, str]] = []
        at = 0
        for line in io.StringIO(text, newline=""):  # where Python ends a line, and nowhere else
            self._starts.append((at, line))
            at += len(line)

    def places(self, name: str) -> list[_Place]:
        """Give the places that set an argument; of several calls the trainer's goes first."""
        found = [*self._places(name)]
        trainers = [*_trainers(self._tree)]
        own = [place for place in found if place.call in trainers]
        return own if len(own) == 1 and all(place.call for place in found) else found

    def _places(self, name: str) -> Iterator[_Place]:
        for call in _calls(self._tree):
            names = named_by(text_of(call.func))
            for item in call.keywords if names is not None else ():
                if item.arg and name in (item.arg, (names or {}).get(item.arg)):
                    yield _Place(item, item.value, call)
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                target = node.targets[0]
                if isinstance(target, ast.Attribute) and target.attr == name:
                    yield _Place(node, node.value)

    def changed(self, place: _Place, want: Want) -> OffsetEdit | None:
        """Change what a place sets: its name, its value, or that it does so."""
        item = place.node
        if want.values is None:
            return self._removed(place)
        if want.old or want.keeps:
            # with another name and another value, what stands beside it may be meant for it
            if not want.keeps or isinstance(item, ast.Assign):
                return None
            start = self._at(item.lineno, item.col_offset)
            edit = OffsetEdit(self._name, start, start + len(item.arg or ""), want.name)
            item.arg = want.name
            return edit
        value = self._set_here(place.value)
        if value is None:
            return None
        begin, end = self._span(value)
        literal = _literal(want.values, value, self._text[begin])
        self._replace(value, literal)
        return OffsetEdit(self._name, begin, end, literal)

    def _removed(self, place: _Place) -> OffsetEdit | None:
        """Take a keyword out, with the comma and the line that are its own."""
        item, call = place.node, place.call
        if call is None or isinstance(item, ast.Assign):
            return None
        begin, end = self._span(item)
        call.keywords.remove(item)
        rest = self._text[end:]
        tail = rest[: len(rest) - len(rest.lstrip(" \t"))]
        if rest[len(tail) :].startswith(","):
            end += len(tail) + 1
            line = self._text.rfind("\n", 0, begin) + 1
            stop = self._text.find("\n", end)
            alone = not self._text[line:begin].strip() and not self._text[end:stop].strip()
            if alone and stop >= 0:
                return OffsetEdit(self._name, line, stop + 1, "")
            if not self._text[end:stop].strip():  # the last one of its line
                return OffsetEdit(self._name, len(self._text[:begin].rstrip(" \t")), end, "")
            gap = self._text[end:]
            end += len(gap) - len(gap.lstrip(" "))
            return OffsetEdit(self._name, begin, end, "")
        # the last one: the comma in front goes
        front = self._text[:begin].rstrip()
        return OffsetEdit(self._name, len(front.removesuffix(",")), end, "")

    def added(self, want: Want) -> OffsetEdit | None:
        """Add a keyword to the one call that takes it."""
        calls = [*self._takers(want.name)]
        if len(calls) != 1 or not want.values or any(k.arg is None for k in calls[0].keywords):
            return None
        keyword = PEFT_KEYWORDS.get(want.name, want.name)
        literal = _literal(want.values, None)
        given: list[ast.expr | ast.keyword] = [*calls[0].keywords, *calls[0].args]
        last = max(given, key=lambda item: (item.lineno, item.col_offset))
        begin, end = self._span(last)
        line = self._text.rfind("\n", 0, begin) + 1
        alone = self._text[line:begin].strip() == ""
        gap = line_end(self._text) + indent_of(self._text, begin) if alone else " "
        value = ast.parse(literal, mode="eval").body
        calls[0].keywords.append(ast.keyword(arg=keyword, value=value))
        return OffsetEdit(self._name, end, end, f",{gap}{keyword}={literal}")

    def _takers(self, name: str) -> Iterator[ast.Call]:
        """Give the calls an argument that is not set yet belongs to; those with arguments only."""
        if name.startswith("lora_"):
            found = self._called("LoraConfig")
        elif name in _OF_MODEL:
            loaders = self._called("from_pretrained")
            found = (call for call in loaders if named_by(text_of(call.func)) is not None)
        else:
            found = _trainers(self._tree)
        return (call for call in found if call.keywords or call.args)

    def _called(self, name: str) -> Iterator[ast.Call]:
        for call in _calls(self._tree):
            if text_of(call.func).rpartition(".")[2] == name:
                yield call

    def _set_here(self, value: ast.expr) -> ast.expr | None:
        """Give the expression a value is written as, where no other value hangs on it."""
        if _is_written_out(value):
            return value
        if not isinstance(value, ast.Name):
            return None
        uses = [n for n in ast.walk(self._tree) if isinstance(n, ast.Name) and n.id == value.id]
        bound = [
            node.value
            for node in ast.walk(self._tree)
            if isinstance(node, ast.Assign)
            and [t.id for t in node.targets if isinstance(t, ast.Name)] == [value.id]
        ]
        only = len(bound) == 1 and len(uses) == 2 and _is_written_out(bound[0])
        return bound[0] if only else None

    def _replace(self, old: ast.expr, literal: str) -> None:
        new = ast.parse(literal, mode="eval").body
        for node in ast.walk(self._tree):
            for field, value in ast.iter_fields(node):
                if value is old:
                    setattr(node, field, new)

    def _span(self, node: ast.expr | ast.keyword) -> tuple[int, int]:
        begin = self._at(node.lineno, node.col_offset)
        return begin, self._at(node.end_lineno, node.end_col_offset)

    def _at(self, line: int | None, column: int | None) -> int:
        """Give a position of the text: Python counts columns in bytes of UTF-8."""
        begin, text = self._starts[(line or 1) - 1]
        return begin + len(text.encode()[: column or 0].decode(errors="ignore"))


def _is_written_out(node: ast.expr) -> bool:
    """Tell a value that hangs on nothing else: `2`, `4 * 8`, `["q_proj"]`, `torch.bfloat16`."""
    if _is_dtype(node):
        return True
    return all(isinstance(part, (*_ARITHMETIC, *_CONTAINERS)) for part in ast.walk(node))


def _is_dtype(node: ast.expr) -> bool:
    owner, _, name = text_of(node).rpartition(".")
    return owner == "torch" and name in DTYPES


def _literal(values: tuple[str, ...], present: ast.expr | None, quote: str = "") -> str:
    """Write words as a value; `present` is the expression they stand in place of.

    Args:
        values: the words.
        present: the expression.
        quote: its first character.
    """
    if len(values) > 1:
        return "[" + ", ".join(as_python(value) for value in values) + "]"
    value = values[0] if values else "True"
    if present is not None and _is_dtype(present) and value in DTYPES:
        return f"torch.{value}"
    is_text = isinstance(present, ast.Constant) and isinstance(present.value, str)
    if not is_text or value.startswith(("{", "[")):
        return as_python(value)
    return f"'{value}'" if quote == "'" and not {"'", "\\"} & set(value) else quoted(value)
