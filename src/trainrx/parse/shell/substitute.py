r"""`$( ... )` of commands whose output follows from their words: echo, basename, wc, awk NF ...

Launch scripts count GPUs this way: `$(echo $CUDA_VISIBLE_DEVICES | tr ',' '\n' | wc -l)`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable

_MAX_SEQUENCE = 256


def output(stages: list[list[str]]) -> str | None:
    """Work out what a pipeline prints, without the line ends at its end.

    Args:
        stages: The words of each command, fully known.

    Returns:
        The text, or None when a command is not among the few that are understood.
    """
    text: str | None = None
    if len(stages) > 1 and stages[-1][0] in _SOURCES:
        return None
    for number, words in enumerate(stages):
        known = _SOURCES.get(words[0]) if number == 0 else None
        if known is not None:
            text = known(words[1:])
        elif text is not None and words[0] in _FILTERS:
            text = _FILTERS[words[0]](words[1:], text)
        else:
            return None
        if text is None:
            return None
    return None if text is None else text.rstrip("\n")


def _echo(words: list[str]) -> str | None:
    end = "\n"
    while words and re.fullmatch(r"-[neE]+", words[0]):
        end = "" if "n" in words[0] else end
        words = words[1:]
    return " ".join(words) + end


def _printf(words: list[str]) -> str | None:
    if len(words) == 2 and words[0] in ("%s", "%d", "%s\\n", "%d\\n"):
        return words[1]
    return words[0] if len(words) == 1 and not re.search(r"[%\\]", words[0]) else None


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
    "basename": _basename,
    "dirname": _dirname,
    "expr": _expr,
    "seq": _seq,
}
_FILTERS: dict[str, Callable[[list[str], str], str | None]] = {
    "tr": _tr,
    "wc": _wc,
    "awk": _awk,
    "cut": _cut,
    "sed": _sed,
    "grep": _grep_only,
    "bc": _bc,
    "xargs": lambda words, text: None if words else " ".join(text.split()),
}
