"""Keyword arguments of a Python program (`SFTConfig(per_device_train_batch_size=2)`)."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from trainrx.fix.patch.configs import base
from trainrx.fix.patch.wanted import OffsetEdit, Want, applied, indent_of, line_end
from trainrx.model.job import RawLaunch

_HOLDERS = ("Arguments", "Config")
_TRAINING = frozenset({"output_dir", "per_device_train_batch_size", "learning_rate"})
"""What tells the call that holds the trainer's arguments."""


class Keyword(NamedTuple):
    """A keyword argument of a call."""

    call: ast.Call
    item: ast.keyword


def program_of(launch: RawLaunch, texts: Mapping[str, str]) -> str | None:
    """Give the name of the text that is the program of a launch."""
    own = [n for n in texts if n.endswith(".py") and base(n) == base(launch.program)]
    return own[0] if len(own) == 1 else None


def source_with(name: str, text: str, want: Want) -> str | None:
    """Give a program with one keyword argument as wanted; None when no edit does just that."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    found = [k for k in _keywords(tree) if k.item.arg == (want.old or want.name)]
    if len(found) > 1 or want.kind != "arg":
        return None
    starts = _starts(text)
    edit = _edit(name, text, tree, found, want, starts)
    if edit is None:
        return None
    after = applied({name: text}, [edit])[name]
    return after if _differs_in(tree, after, want) else None


def _keywords(tree: ast.AST) -> Iterator[Keyword]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node).endswith(_HOLDERS):
            for item in node.keywords:
                yield Keyword(node, item)


def takes_keywords(text: str) -> bool:
    """Tell whether a program sets the trainer's arguments itself, so that no flag reaches them."""
    try:
        return any(True for _ in _trainers(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError):
        return False


def _trainers(tree: ast.AST) -> Iterator[ast.Call]:
    """Give the calls that hold the trainer's arguments."""
    for node in ast.walk(tree):
        holds = isinstance(node, ast.Call) and _called(node).endswith(_HOLDERS)
        if holds and isinstance(node, ast.Call) and _TRAINING & {k.arg for k in node.keywords}:
            yield node


def _called(node: ast.Call) -> str:
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _starts(text: str) -> list[tuple[int, str]]:
    """Give where each line begins, and its text: Python counts columns in bytes of UTF-8."""
    out, at = [], 0
    for line in text.splitlines(keepends=True):
        out.append((at, line))
        at += len(line)
    return out


def _at(starts: list[tuple[int, str]], line: int | None, column: int | None) -> int:
    begin, text = starts[(line or 1) - 1]
    return begin + len(text.encode()[: column or 0].decode(errors="ignore"))


def _edit(
    name: str,
    text: str,
    tree: ast.AST,
    found: list[Keyword],
    want: Want,
    starts: list[tuple[int, str]],
) -> OffsetEdit | None:
    if not found:
        return _added(name, text, tree, want, starts)
    item = found[0].item
    start = _at(starts, item.lineno, item.col_offset)
    if want.keeps:
        return OffsetEdit(name, start, start + len(item.arg or ""), want.name)
    if want.values is None or want.old:
        return None  # what stands beside it may be meant for it
    value = item.value if _is_literal(item.value) else _constant(tree, item.value)
    if value is None:
        return None
    begin = _at(starts, value.lineno, value.col_offset)
    end = _at(starts, value.end_lineno, value.end_col_offset)
    return OffsetEdit(name, begin, end, _literal(want.values, text[begin:end]))


def _constant(tree: ast.AST, value: ast.expr) -> ast.expr | None:
    """Give the constant a name is bound to, when that is its only use."""
    if not isinstance(value, ast.Name):
        return None
    uses = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == value.id]
    bound = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and [t.id for t in node.targets if isinstance(t, ast.Name)] == [value.id]
    ]
    return bound[0] if len(bound) == 1 and len(uses) == 2 and _is_literal(bound[0]) else None


def _is_literal(node: ast.expr) -> bool:
    return isinstance(node, (ast.Constant, ast.UnaryOp))


def _literal(values: tuple[str, ...], raw: str) -> str:
    if len(values) > 1:
        return "[" + ", ".join(_literal((value,), "") for value in values) + "]"
    value = values[0] if values else "True"
    word = {"true": "True", "false": "False", "none": "None", "null": "None"}.get(value.lower())
    if word is not None and raw[:1] not in ("'", '"'):
        return word
    if raw[:1] not in ("'", '"'):
        try:
            float(value)
        except ValueError:
            pass
        else:
            return value
    return f"'{value}'" if raw.startswith("'") and not {"'", "\\"} & set(value) else _quoted(value)


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _added(
    name: str, text: str, tree: ast.AST, want: Want, starts: list[tuple[int, str]]
) -> OffsetEdit | None:
    calls = list(_trainers(tree))
    if len(calls) != 1 or want.values is None or any(k.arg is None for k in calls[0].keywords):
        return None
    last = max(calls[0].keywords, key=lambda item: (item.lineno, item.col_offset))
    begin = _at(starts, last.lineno, last.col_offset)
    end = _at(starts, last.end_lineno, last.end_col_offset)
    alone = text[text.rfind("\n", 0, begin) + 1 : begin].strip() == ""
    gap = line_end(text) + indent_of(text, begin) if alone else " "
    return OffsetEdit(name, end, end, f",{gap}{want.name}={_literal(want.values, '')}")


def _differs_in(tree: ast.AST, after: str, want: Want) -> bool:
    """Tell whether the changed program is the old one but for the argument."""
    try:
        new = ast.parse(after)
    except (SyntaxError, ValueError, RecursionError):
        return False
    one, other = (list(ast.walk(item)) for item in (tree, new))
    more = len([n for n in other if isinstance(n, ast.keyword)]) - len(
        [n for n in one if isinstance(n, ast.keyword)]
    )
    return more in (0, 1) and any(k.item.arg == want.name for k in _keywords(new))
