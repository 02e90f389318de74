"""`$(( ... ))`: signed 64-bit integers as bash counts, without `eval`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable

from trainrx.model.pattern import late
from trainrx.shell.limits import MAX_DEPTH

_TOKEN = late(
    r"\s*(?:(?P<number>\d+#[0-9A-Za-z]+|0[xX][0-9a-fA-F]+|\d+)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<op>\*\*|<<=|>>=|[-+*/%&|^]=|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>!~&|^?:(),=]))",
    re.ASCII,
)
_ASSIGN = ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")


def _wrap(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63


def _divide(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(left: int, right: int) -> int:
    return left - right * _divide(left, right)


def _power(base: int, exponent: int) -> int:
    if exponent < 0:
        raise _NotANumber
    return pow(base, exponent, 2**64)


def _compare(test: Callable[[int, int], bool]) -> Callable[[int, int], int]:
    return lambda left, right: int(test(left, right))


_POWER = 12
_BINARY: dict[str, tuple[int, Callable[[int, int], int]]] = {
    "||": (1, lambda left, right: int(bool(left or right))),
    "&&": (2, lambda left, right: int(bool(left and right))),
    "|": (3, operator.or_),
    "^": (4, operator.xor),
    "&": (5, operator.and_),
    "==": (6, _compare(operator.eq)),
    "!=": (6, _compare(operator.ne)),
    "<": (7, _compare(operator.lt)),
    ">": (7, _compare(operator.gt)),
    "<=": (7, _compare(operator.le)),
    ">=": (7, _compare(operator.ge)),
    "<<": (8, lambda left, right: left << (right & 63)),
    ">>": (8, lambda left, right: left >> (right & 63)),
    "+": (9, operator.add),
    "-": (9, operator.sub),
    "*": (10, operator.mul),
    "/": (10, _divide),
    "%": (10, _remainder),
    "**": (_POWER, _power),
}


class _NotANumber(Exception):  # noqa: N818  # control flow inside this file
    """The expression has no static value."""


Read = Callable[[str], str | None]
"""Gives the text of a variable, None when it is not known."""
Write = Callable[[str, int | None], None]
"""Takes the result of an assignment (`i++`, `n = 2`), None when it is not known."""


def evaluate(expression: str, read: Read, write: Write) -> int | None:
    """Evaluate an expression whose `$` expansions are done.

    Returns:
        The value, or None when it is not known, not a number or not an expression.
    """
    tokens = _tokens(expression)
    if tokens is None:
        return None
    if not tokens:
        return 0
    parser = _Parser(tokens, read, write)
    try:
        value = parser.comma(0)
    except (_NotANumber, ZeroDivisionError):
        return None
    return value if parser.at_end else None


def names(expression: str) -> list[str]:
    """Name the variables an expression reads."""
    return re.findall(r"(?<![\w$#{])[A-Za-z_]\w*", expression, re.ASCII)[:20]


def _tokens(expression: str) -> list[tuple[str, str]] | None:
    tokens: list[tuple[str, str]] = []
    position = 0
    end = len(expression.rstrip())
    while position < end:
        match = _TOKEN.match(expression, position)
        if match is None or len(tokens) > 1000:
            return None
        tokens.append((match.lastgroup or "", match[match.lastgroup or 0]))
        position = match.end()
    return tokens


class _Parser:
    """Precedence climbing over the tokens."""

    def __init__(self, tokens: list[tuple[str, str]], read: Read, write: Write) -> None:
        self._tokens, self._read, self._write = tokens, read, write
        self._at = 0

    @property
    def at_end(self) -> bool:
        return self._at == len(self._tokens)

    def _peek(self) -> str:
        return "" if self.at_end else self._tokens[self._at][1]

    def _take(self, *texts: str) -> str:
        """Step over the next token when it is one of these; give it, or nothing."""
        text = self._peek()
        if text not in texts:
            return ""
        self._at += 1
        return text

    def comma(self, depth: int) -> int:
        value = self._ternary(depth)
        while self._take(","):
            value = self._ternary(depth)
        return value

    def _ternary(self, depth: int) -> int:
        condition = self._binary(0, depth)
        if not self._take("?"):
            return condition
        yes = self._ternary(depth + 1)
        if not self._take(":"):
            raise _NotANumber
        no = self._ternary(depth + 1)
        return yes if condition else no

    def _binary(self, least: int, depth: int) -> int:
        left = self._unary(depth)
        while (found := _BINARY.get(self._peek())) is not None and found[0] > least:
            self._at += 1
            # Power binds to the right, everything else to the left.
            right = self._binary(found[0] - (found[0] == _POWER), depth + 1)
            left = _wrap(found[1](left, right))
        return left

    def _unary(self, depth: int) -> int:
        if depth > MAX_DEPTH:
            raise _NotANumber
        sign = self._take("-", "+", "~", "!")
        if sign:
            value = self._unary(depth + 1)
            return _wrap({"-": -value, "+": value, "~": ~value, "!": int(not value)}[sign])
        step = self._take("++", "--")
        if step:
            return self._store(self._name(), step[0], 1)
        return self._atom(depth)

    def _atom(self, depth: int) -> int:
        if self._take("("):
            value = self.comma(depth + 1)
            if not self._take(")"):
                raise _NotANumber
            return value
        if not self.at_end and self._tokens[self._at][0] == "number":
            self._at += 1
            return _number(self._tokens[self._at - 1][1])
        name = self._name()
        sign = self._take(*_ASSIGN)
        if sign:
            try:
                right = self._ternary(depth + 1)
            except (_NotANumber, ZeroDivisionError):
                self._write(name, None)
                raise
            return self._store(name, sign[:-1], right)
        step = self._take("++", "--")
        if step:
            after = self._store(name, step[0], 1)
            return after - 1 if step == "++" else after + 1
        return self._variable(name)

    def _name(self) -> str:
        if self.at_end or self._tokens[self._at][0] != "name":
            raise _NotANumber
        self._at += 1
        return self._tokens[self._at - 1][1]

    def _variable(self, name: str) -> int:
        text = (self._read(name) or "").strip()
        if not re.fullmatch(r"[-+]?\w{1,20}", text, re.ASCII):
            raise _NotANumber
        value = _number(text.lstrip("+-"))
        return -value if text.startswith("-") else value

    def _store(self, name: str, sign: str, right: int) -> int:
        try:
            value = _wrap(_BINARY[sign][1](self._variable(name), right)) if sign else right
        except (_NotANumber, ZeroDivisionError):
            self._write(name, None)
            raise
        self._write(name, value)
        return value


def _number(text: str) -> int:
    try:
        if "#" in text:
            base, digits = text.split("#")
            return _wrap(int(digits, int(base)))
        if text[:2].lower() == "0x":
            return _wrap(int(text, 16))
        return _wrap(int(text, 8 if text.startswith("0") and len(text) > 1 else 10))
    except ValueError as error:
        raise _NotANumber from error
