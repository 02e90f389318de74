r"""Commands whose output follows from their words: echo, basename, wc, awk NF ...

Launch scripts count GPUs this way: `$(echo $CUDA_VISIBLE_DEVICES | tr ',' '\n' | wc -l)`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable

from trainrx.parse.shell.unknown import known

_MAX_SEQUENCE = 256
_FORMAT = re.compile(r"%[sd%]|\\[nt\\]|[^%\\]+")
_ESCAPES = {"%%": "%", "\\n": "\n", "\\t": "\t", "\\\\": "\\"}
_INTEGER = re.compile(r"-?[0-9]{1,18}")


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
    files = [word for word in rest if not word.startswith("-")]
    if name == "cat" and files and len(files) == len(rest):
        found = [read(path) for path in files]
        return None if None in found else "".join(item or "" for item in found)
    if name in ("head", "tail", "grep", "awk", "sed", "cut", "sort", "uniq") and files:
        given = read(files[-1])
        if given is not None:
            at = len(rest) - 1 - rest[::-1].index(files[-1])
            text, rest = given, rest[:at] + rest[at + 1 :]
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


def _head(words: list[str], text: str) -> str | None:
    match = re.fullmatch(r"(?:-n?\x00?(\d{1,6}))?", "\0".join(words))
    if match is None:
        return None
    return "".join(text.splitlines(keepends=True)[: int(match[1] or 10)])


def _tail(words: list[str], text: str) -> str | None:
    match = re.fullmatch(r"(?:-n?\x00?(\d{1,6}))?", "\0".join(words))
    if match is None:
        return None
    count = int(match[1] or 10)
    return "".join(text.splitlines(keepends=True)[-count:]) if count else ""


def _cat(words: list[str], text: str) -> str | None:
    return None if words else text


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
    if len(words) != 3 or not all(re.fullmatch(r"-?\d{1,18}", words[at]) for at in (0, 2)):
        return None
    left, right = int(words[0]), int(words[2])
    if words[1] in "+-*":
        return str({"+": left + right, "-": left - right, "*": left * right}[words[1]])
    if words[1] in ("/", "%") and right > 0 <= left:
        return str(left // right if words[1] == "/" else left % right)
    return None


def _seq(words: list[str]) -> str | None:
    if not 0 < len(words) < 4 or not all(re.fullmatch(r"-?\d{1,9}", word) for word in words):
        return None
    numbers = [int(word) for word in words]
    first = numbers[0] if len(numbers) > 1 else 1
    step = numbers[1] if len(numbers) == 3 else 1
    if step == 0 or abs(numbers[-1] - first) // abs(step) > _MAX_SEQUENCE:
        return None
    return "\n".join(map(str, range(first, numbers[-1] + (1 if step > 0 else -1), step)))


def _tr(words: list[str], text: str) -> str | None:
    sets = [word.replace("\\n", "\n").replace("\\t", "\t") for word in words]
    if len(sets) == 2 and sets[0] == "-d":
        return text.translate({ord(char): None for char in sets[1]})
    if len(sets) == 2 and len(sets[0]) == len(sets[1]) == 1:
        return text.replace(sets[0], sets[1])
    return None


def _wc(words: list[str], text: str) -> str | None:
    if words == ["-l"]:
        return str(text.count("\n"))
    if words == ["-w"]:
        return str(len(text.split()))
    return None


def _awk(words: list[str], text: str) -> str | None:
    match = re.fullmatch(r"(?:-F ?\x00?(.))?\x00?\{ ?print NF;? ?\}", "\0".join(words))
    line = text.partition("\n")[0]
    if match is None:
        return None
    fields = line.split(match[1]) if match[1] and line else line.split()
    return str(len(fields))


def _cut(words: list[str], text: str) -> str | None:
    match = re.fullmatch(r"-d\x00?(.)\x00-f\x00?(\d{1,4})", "\0".join(words))
    if match is None or match[2] == "0":
        return None
    lines = (line.split(match[1]) for line in text.rstrip("\n").split("\n"))
    number = int(match[2]) - 1
    return "\n".join((parts[number : number + 1] or [""])[0] for parts in lines)


def _sed(words: list[str], text: str) -> str | None:
    match = re.fullmatch(r"s(.)([\w ,:/=-]+)\1([\w ,:/=-]*)\1(g?)", words[-1] if words else "")
    if len(words) != 1 or match is None:
        return None
    lines = text.split("\n")
    return "\n".join(line.replace(match[2], match[3], -1 if match[4] else 1) for line in lines)


def _grep_only(words: list[str], text: str) -> str | None:
    if len(words) != 2 or words[0] != "-o" or not re.fullmatch(r"[\w,: -]", words[1]):
        return None
    return (words[1] + "\n") * text.count(words[1])


def _bc(_words: list[str], text: str) -> str | None:
    match = re.fullmatch(r"\s*(\d{1,15})\s*([-+*/])\s*(\d{1,15})\s*", text)
    return None if match is None else _expr([match[1], match[2], match[3]])


_SOURCES: dict[str, Callable[[list[str]], str | None]] = {
    "echo": _echo,
    "printf": _printf,
    "basename": _line(_basename),
    "dirname": _line(_dirname),
    "expr": _line(_expr),
    "seq": _line(_seq),
}
_FILTERS: dict[str, Callable[[list[str], str], str | None]] = {
    "cat": _cat,
    "head": _head,
    "tail": _tail,
    "tr": _tr,
    "wc": _wc,
    "awk": _awk,
    "cut": _cut,
    "sed": _sed,
    "grep": _grep_only,
    "bc": _bc,
    "xargs": lambda words, text: None if words else " ".join(text.split()),
}
