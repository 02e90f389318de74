"""`$(( ... ))` without `eval`: whole numbers, comparisons, assignments; the rest is unknown."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable

from trainrx.model.pattern import late

_ASSIGN = late(
    r"\s*(?:(?P<before>\+\+|--)\s*)?(?P<name>[A-Za-z_]\w*)\s*"
    r"(?:(?P<after>\+\+|--)|(?P<sign>[-+*/%]?)=(?!=)(?P<value>.+))?\s*",
    re.ASCII | re.DOTALL,
)
_ASSIGNED = late(
    r"(?<![\w$])([A-Za-z_]\w*)\s*(?:\+\+|--|(?:[-+*/%&|^]|<<|>>)?=(?!=))"
    r"|(?:\+\+|--)\s*([A-Za-z_]\w*)",
    re.ASCII,
)
_STRANGE = late(
    r"\+\+|--|\*\*|//|<<|>>|!(?!=)|(?<!&)&(?!&)|(?<!\|)\|(?!\|)|\d_|[^\w\s()+*/%<>=!&|-]", re.ASCII
)
"""What Python reads otherwise than bash, or not at all."""
_NUMBER = late(r"[-+]?(?:0|[1-9][0-9]{0,18})")
_FACTORS = late(r"[0-9@*/() ]*")
"""A product or quotient of numbers and unknowns."""
_MAX_FORMULA = 200
_MAX_LENGTH = 400
_LIMIT = 2**63


def _divide(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


_OPERATORS: dict[type[ast.AST], Callable[..., int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: _divide,
    ast.Mod: lambda left, right: left - right * _divide(left, right),
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.Gt: operator.gt,
    ast.LtE: operator.le,
    ast.GtE: operator.ge,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}

Read = Callable[[str], str | None]
"""Gives the text of a variable, None when it is not known."""
Write = Callable[[str, int | None], None]
"""Takes the result of an assignment (`i++`, `n = 2`), None when it is not known."""


def evaluate(expression: str, read: Read, write: Write) -> int | None:
    """Evaluate an expression whose `$` expansions are done.

    Returns:
        The value, or None when it is not known, not a number or not an expression.
    """
    value = 0
    try:
        for part in expression.split(",") if expression.strip() else ():
            value = _assign(part, read, write)
    except (ArithmeticError, SyntaxError, TypeError, ValueError, RecursionError, MemoryError):
        forget(expression, write)
        return None
    return value


def forget(expression: str, write: Write) -> None:
    """Take what an expression assigns as unknown."""
    for match in _ASSIGNED.finditer(expression):
        write(match[1] or match[2], None)


def formula(expression: str, read: Read) -> str:
    """Write a product or quotient with the values of its variables; "" for anything else.

    Args:
        expression: its `$` expansions done, unknown values as `@1`.
        read: gives the text of a variable, an unknown one as `@1`.
    """
    written = re.sub(r"[A-Za-z_]\w*", lambda match: f"({read(match[0]) or '?'})", expression)
    kept = len(written) <= _MAX_FORMULA and _FACTORS.fullmatch(written) is not None
    return re.sub(r" +", "", written) if kept else ""


def names(expression: str) -> list[str]:
    """Name the variables an expression reads."""
    return re.findall(r"(?<![\w$#{])[A-Za-z_]\w*", expression, re.ASCII)[:20]


def _assign(part: str, read: Read, write: Write) -> int:
    """Evaluate an assignment, or what is none."""
    match = _ASSIGN.fullmatch(part)
    if match is None or not (match["before"] or match["after"] or match["value"]):
        return _value(_parsed(part), read)
    name, step = match["name"], match["before"] or match["after"]
    if match["before"] and (match["after"] or match["value"]):
        raise ValueError(part)
    if step:
        old = _number(read(name))
        new = old + (1 if step == "++" else -1)
        write(name, new)
        return old if match["after"] else new
    value, sign = match["value"], match["sign"]
    new = _value(_parsed(f"{name}{sign}({value})" if sign else value), read)
    write(name, new)
    return new


def _parsed(text: str) -> ast.expr:
    if len(text) > _MAX_LENGTH or _STRANGE.search(text):
        raise ValueError(text)
    source = text.replace("&&", " and ").replace("||", " or ").replace("/", "//")
    return ast.parse(f"({source}\n)", mode="eval").body


def _value(node: ast.expr, read: Read) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        value = node.value
    elif isinstance(node, ast.Name):
        value = _number(read(node.id))
    elif isinstance(node, ast.UnaryOp):
        value = _applied(node.op, _value(node.operand, read))
    elif isinstance(node, ast.BinOp):
        value = _applied(node.op, _value(node.left, read), _value(node.right, read))
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        value = _applied(node.ops[0], _value(node.left, read), _value(node.comparators[0], read))
    elif isinstance(node, ast.BoolOp):
        wanted = isinstance(node.op, ast.Or)
        value = any(bool(_value(item, read)) == wanted for item in node.values) == wanted
    else:
        raise TypeError(type(node))
    if not -_LIMIT <= value < _LIMIT:
        raise OverflowError
    return int(value)


def _applied(sign: ast.AST, *operands: int) -> int:
    if type(sign) not in _OPERATORS:
        raise ValueError(sign)
    return _OPERATORS[type(sign)](*operands)


def _number(text: str | None) -> int:
    if text is None or not _NUMBER.fullmatch(text.strip()):
        raise ValueError(text)
    return int(text)
