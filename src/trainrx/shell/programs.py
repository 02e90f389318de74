"""Commands whose output follows from their words: echo, basename, seq, wc, awk NF ..."""

from __future__ import annotations

import posixpath
import re
import string
from collections.abc import Callable

from trainrx.model.pattern import late
from trainrx.shell.values import known

_MAX_SEQUENCE = 256
_FORMAT = late(r"%[sd%]|\\[nt\\]|[^%\\]+")
_ESCAPES = {"%%": "%", "\\n": "\n", "\\t": "\t", "\\\\": "\\"}
_INTEGER = late(r"-?[0-9]{1,18}")
_COUNT = late(r"-?[0-9]{1,15}", re.ASCII)
_MAX_EXPRESSION = 41
_CLASSES = {"[:upper:]": string.ascii_uppercase, "[:lower:]": string.ascii_lowercase}
_PLAIN_SET = late(r"(?:\\[nt\\]|[^\\\[-])+|-")
_AWK = late(r"(?:-F ?\0?(?P<between>[^\0\\*+?.|()^$\[\]{}]{1,4})\0)? *\{ *print +NF *;? *\} *")


def printed(words: list[str], text: str | None, read: Callable[[str], str | None]) -> str | None:
    """Work out what a command prints.

    Args:
        words: The command, fully known but for the words of `echo` and `printf`.
        text: What it reads, None when that is not known.
        read: Gives the text of a file at hand.

    Returns:
        The text, or None when the command is not among the few that are understood.
    """
    name, *rest = words
    if name in _SOURCES:
        return _SOURCES[name](rest)
    if name == "cat" and rest and not any(word.startswith("-") for word in rest):
        found = [read(path) for path in rest]
        return None if None in found else "".join(item or "" for item in found)
    if text is None or name not in _FILTERS:
        return None
    return _FILTERS[name](rest, text)


def _echo(words: list[str]) -> str | None:
    end = "\n"
    escapes = False
    while words and re.fullmatch(r"-[neE]+", words[0]):
        end = "" if "n" in words[0] else end
        escapes = "e" in words[0] or (escapes and "E" not in words[0])
        words = words[1:]
    text = " ".join(words)
    if escapes and "\\" in text:
        text = re.sub(r"\\[nt\\]", lambda match: _ESCAPES[match[0]], text)
    return text + end


def _printf(words: list[str]) -> str | None:
    if words[:1] == ["--"]:
        words = words[1:]
    if not words or not known(words[0]):
        return None
    parts = _FORMAT.findall(words[0])
    if "".join(parts) != words[0]:
        return None
    wanted = [part for part in parts if part in ("%s", "%d")]
    values = words[1:]
    if not wanted:
        return "".join(_piece(part, []) for part in parts)
    rounds = max(1, -(-len(values) // len(wanted)))
    for kind, value in zip(wanted * rounds, values, strict=False):
        if kind == "%d" and not _INTEGER.fullmatch(value):
            return None
    values = values + [""] * (rounds * len(wanted) - len(values))
    waiting = values[::-1]
    return "".join(_piece(part, waiting) for _ in range(rounds) for part in parts)


def _piece(part: str, waiting: list[str]) -> str:
    if part in ("%s", "%d"):
        return waiting.pop() or ("0" if part == "%d" else "")
    return _ESCAPES.get(part, part)


def _line(work: Callable[[list[str]], str | None]) -> Callable[[list[str]], str | None]:
    """End what a command prints in a line end."""

    def whole(words: list[str]) -> str | None:
        text = work(words)
        return None if text is None else text + "\n"

    return whole


def _basename(words: list[str]) -> str | None:
    if words[:1] == ["--"]:
        words = words[1:]
    if not 0 < len(words) < 3 or words[0].startswith("-"):
        return None
    name = posixpath.basename(words[0].rstrip("/"))
    suffix = words[1] if len(words) == 2 else ""
    return name[: -len(suffix)] if suffix and name != suffix and name.endswith(suffix) else name


def _dirname(words: list[str]) -> str | None:
    if words[:1] == ["--"]:
        words = words[1:]
    if len(words) != 1 or words[0].startswith("-"):
        return None
    return posixpath.dirname(words[0].rstrip("/")) or ("/" if words[0].startswith("/") else ".")


def _expr(words: list[str]) -> str | None:
    operands, signs = words[::2], words[1::2]
    if len(words) % 2 == 0 or len(words) > _MAX_EXPRESSION:
        return None
    if not all(map(_COUNT.fullmatch, operands)) or not set(signs) <= set("+-*/%"):
        return None
    value = _whole(words)
    return None if value is None else str(value)


def _seq(words: list[str]) -> str | None:
    between = "\n"
    if match := re.match(r"-s\0?([^\0\\]{1,4})\0", "\0".join(words)):
        between, words = match[1], words[1 if len(words[0]) > 2 else 2 :]
    if not 0 < len(words) < 4 or not all(re.fullmatch(r"-?\d{1,9}", word) for word in words):
        return None
    numbers = [int(word) for word in words]
    first = numbers[0] if len(numbers) > 1 else 1
    step = numbers[1] if len(numbers) == 3 else 1
    if step == 0 or abs(numbers[-1] - first) // abs(step) > _MAX_SEQUENCE:
        return None
    return between.join(map(str, range(first, numbers[-1] + (1 if step > 0 else -1), step)))


def _whole(words: list[str]) -> int | None:
    """Work out numbers and the signs between them, as expr does: `*` first, 010 is ten."""
    total, term, before = 0, int(words[0]), "+"
    for sign, word in zip(words[1::2], words[2::2], strict=True):
        number = int(word)
        if sign == "*":
            term *= number
        elif sign in "/%":
            if not number:
                return None
            quotient = abs(term) // abs(number) * (1 if (term < 0) == (number < 0) else -1)
            term = quotient if sign == "/" else term - number * quotient
        else:
            total += term if before == "+" else -term
            term, before = number, sign
    return total + (term if before == "+" else -term)


def _tr(words: list[str], text: str) -> str | None:
    """Replace characters."""
    sets = [_letters(word) for word in words]
    if len(sets) != 2 or not all(sets):
        return None
    old, new = (found or "" for found in sets)
    new += new[-1] * (len(old) - len(new))
    return text.translate({ord(char): to for char, to in zip(old, new, strict=False)})


def _letters(word: str) -> str | None:
    r"""Spell out a set of characters: `,`, `\n`, `[:upper:]`; None for a range or an option."""
    if word in _CLASSES or not _PLAIN_SET.fullmatch(word):
        return _CLASSES.get(word)
    return re.sub(r"\\[nt\\]", lambda match: _ESCAPES[match[0]], word)


def _wc(words: list[str], text: str) -> str | None:
    return f"{text.count(chr(10))}\n" if words == ["-l"] else None


def _awk(words: list[str], text: str) -> str | None:
    """Count the fields of lines: `-F, '{print NF}'`."""
    match = _AWK.fullmatch("\0".join(words))
    if match is None:
        return None
    between = match["between"] or " "
    counts = (
        len(line.split(between) if between != " " and line else line.split())
        for line in text.splitlines()
    )
    return "".join(f"{count}\n" for count in counts)


_SOURCES: dict[str, Callable[[list[str]], str | None]] = {
    "echo": _echo,
    "printf": _printf,
    "basename": _line(_basename),
    "dirname": _line(_dirname),
    "expr": _line(_expr),
    "seq": _line(_seq),
}
_FILTERS: dict[str, Callable[[list[str], str], str | None]] = {
    "cat": lambda words, text: None if words else text,
    "tr": _tr,
    "wc": _wc,
    "awk": _awk,
}
