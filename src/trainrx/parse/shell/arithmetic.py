"""`$(( ... ))`: signed 64-bit integers as bash counts, without `eval`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable

from trainrx.parse.shell.limits import MAX_DEPTH

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+#[0-9A-Za-z]+|0[xX][0-9a-fA-F]+|\d+)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<op>\*\*|<<=|>>=|[-+*/%&|^]=|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>!~&|^?:(),=]))",
    re.ASCII,
)
_ASSIGN = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="})


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
    "**": (12, _power),
}


class _NotANumber(Exception):
    """The expression has no static value."""


def evaluate(
    expression: str,
    read: Callable[[str], str | None],
    write: Callable[[str, str], None] = lambda _name, _value: None,
) -> int | None:
    """Evaluate an expression whose `$` expansions are done.

    Args:
        expression: Text between the parentheses.
        read: Gives the text of a variable, None when it is not known.
        write: Takes the result of an assignment (`i++`, `n = 2`).

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

    def __init__(
        self,
        tokens: list[tuple[str, str]],
        read: Callable[[str], str | None],
        write: Callable[[str, str], None],
    ) -> None:
        self._tokens, self._read, self._write = tokens, read, write
        self._at = 0

    @property
    def at_end(self) -> bool:
        return self._at == len(self._tokens)

    def _peek(self) -> str:
        return "" if self.at_end else self._tokens[self._at][1]

    def _take(self, text: str) -> bool:
        if self._peek() != text:
            return False
        self._at += 1
        return True

    def comma(self, depth: int) -> int:
        value = self._ternary(depth)
        while self._take(","):
            value = self._ternary(depth)
        return value

    def _ternary(self, depth: int) -> int:
        if depth > MAX_DEPTH:
            raise _NotANumber
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
            # ** binds to the right, everything else to the left.
            power = found[0] == 12
            if power and depth > MAX_DEPTH:
                raise _NotANumber
            right = self._binary(found[0] - power, depth + power)
            left = _wrap(found[1](left, right))
        return left

    def _unary(self, depth: int) -> int:
        if depth > MAX_DEPTH:
            raise _NotANumber
        for sign, apply in (("-", operator.neg), ("+", operator.pos), ("~", operator.invert)):
            if self._take(sign):
                return _wrap(int(apply(self._unary(depth + 1))))
        if self._take("!"):
            return int(not self._unary(depth + 1))
        if self._peek() in ("++", "--"):
            self._at += 1
            name = self._name()
            value = _wrap(self._variable(name) + by) if (by := self._by(self._at - 2)) else 0
            self._write(name, value)
            return value
        return self._atom(depth)

    def _atom(self, depth: int) -> int:
        if self._take("("):
            value = self.comma(depth + 1)
            if not self._take(")"):
                raise _NotANumber
            return value
        if self.at_end:
            raise _NotANumber
        group, text = self._tokens[self._at]
        if group == "number":
            self._at += 1
            return _number(text)
        name = self._name()
        if self._peek() in _ASSIGN:
            return self._assign(name, depth)
        if self._peek() in ("++", "--"):
            return self._step(name) - (1 if self._tokens[self._at - 1][1] == "++" else -1)
        return self._variable(name)

    def _name(self) -> str:
        if self.at_end or self._tokens[self._at][0] != "name":
            raise _NotANumber
        self._at += 1
        return self._tokens[self._at - 1][1]

    def _variable(self, name: str) -> int:
        text = self._read(name)
        if text is None or not re.fullmatch(r"\s*[-+]?\w{1,20}\s*", text, re.ASCII):
            raise _NotANumber
        text = text.strip()
        value = _number(text.lstrip("+-"))
        return -value if text.startswith("-") else value

    def _assign(self, name: str, depth: int) -> int:
        sign = self._peek()[:-1]
        self._at += 1
        self._write(name, None)
        right = self._ternary(depth + 1)
        value = _wrap(_BINARY[sign][1](self._variable(name), right)) if sign else right
        self._write(name, value)
        return value

    def _step(self, name: str) -> int:
        """Count a variable up or down at the operator that is next."""
        by = 1 if self._peek() == "++" else -1
        self._at += 1
        value = _wrap(self._variable(name) + by)
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
