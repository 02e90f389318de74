"""Whether a text is a post, in which somebody speaks, or of one kind as a whole."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, takewhile
from typing import TYPE_CHECKING

from trainrx.inputs.paste.signs import NARRATED, PERSONAL
from trainrx.inputs.recognise import (
    COMMAND,
    FREEZE,
    HERE_DOCUMENT,
    IMPORT,
    KNOWN_KEY,
    LOG,
    VERSIONS,
    recognise,
    with_short_lines,
)
from trainrx.model.pattern import late

if TYPE_CHECKING:
    from trainrx.inputs.paste.segment import PostPart
    from trainrx.inputs.paste.signs import Kind
    from trainrx.model.job import InputKind

FENCE = late(r"(?m)^[ \t>]{0,12}(?:```|~~~)")
SENTENCE = late(r"^(?=\S*[A-Za-z]{2})(?:[\w,;:'()/.+=-]+ ){7,}[^ ]*[.!]?$")
UNSPOKEN = late(r"\s*(?:#|//|\w+=|echo\b|printf\b|print\(|[\"'{\[(]|--?\w)")
"""Comments, what a program prints or is given: words in them are not said to us."""
_QUOTED = late(r"(?m)^[ \t]{0,3}(?:>[ \t]?)+")
_TEXT = late(r"\s*(?:export +)?\w+=([\"'])(?!.*\1)")
QUOTES = ("'", '"')
_PROMPT = late(r"\s*(?:\([\w.-]{1,40}\) ?)?\[?[\w.-]{1,40}@[\w.-]{1,60}[ :]\S{0,80}\]?[$#] +\S")
_WORDS = late(r"\s*\S+\s+\S+\s+\S+")
_TERSE = late(
    r"\b(?:died|crash(?:ed)?|hung|hang(?:s|ing)?|froze|freez(?:es?|ing)|blew up|stuck"
    r"|oom(?:s|ed)?)\b",
    re.IGNORECASE,
)
"""How people name what became of a job in a word; programs print of it at more length."""
EDGE = 40
"""Lines at either end of a log where a person would speak."""
SHORT = 3
"""Lines of a text that may be a few words of a person."""
MAIN = 0.8
"""Share of the lines of one kind from which on the others only look like something else."""
FEW = 3
"""Lines that look like those of a log: fewer may stand in a script by chance."""
DATA: tuple[InputKind, ...] = ("config", "args", "metrics")


def may_be_post(head: str, end: str) -> bool:
    """Tell cheaply whether a text is worth taking apart.

    Args:
        head: its beginning, as much as decides the kind of a text.
        end: its last lines.
    """
    if FENCE.search(head):
        return True
    head, end = (_QUOTED.sub("", with_short_lines(text)) for text in (head, end))
    begins = list(islice(_filled(head.split("\n")), SHORT + 1))
    first = begins[0] if begins else ""
    if len(begins) <= SHORT and _is_title(first) and _TERSE.search(head) and not LOG.search(head):
        return True
    if recognise(head) == "log":
        lines = chain(islice(_filled(head.split("\n")), EDGE), _last(end))
        return any(_is_spoken(line) or _is_written(line) for line in lines)
    if LOG.search(head) or any(_is_spoken(line) for _, line in _outside_texts(head)):
        return True
    return _is_title(first) and not COMMAND.match(first)


def _is_written(line: str) -> bool:
    """Tell whether a line looks like one a person writes or lists, not a log."""
    forms = (COMMAND.match, _PROMPT.match, KNOWN_KEY.match, VERSIONS.search, FREEZE.match)
    return any(form(line) for form in forms)


def is_post(text: str, parts: Sequence[PostPart]) -> bool:
    """Tell whether a text that was taken apart is a post.

    What is written as a whole - a script, a configuration, a program - has comments, texts and
    lists that look like something else alone; only what somebody says beside it makes it a post.
    """
    parts = _as_written(text, parts)
    kind = recognise("\n".join(line.text for part in parts for line in part.lines))
    if kind == "script":
        return _is_introduced(text, parts) or _is_session(text, parts) or _is_fenced(text)
    if kind == "log":
        return _is_mixed(parts) or _is_fenced(text)
    others = any(map(COMMAND.match, _lines(parts, "script"))) or _is_fenced(text)
    if kind in DATA or kind is None:
        others = others or any(map(LOG.search, _lines(parts, "log")))
        return (others or _says(parts)) and not _is_valid(text)
    return others or _says(parts)


def _as_written(text: str, parts: Sequence[PostPart]) -> list[PostPart]:
    """Give the parts as they stand in the text, but for marks of quotation.

    Here a comment is one, where in a post its words may be a heading.
    """
    rows = _QUOTED.sub("", text).split("\n")
    return [
        part._replace(
            lines=tuple(
                line._replace(text=rows[line.number - 1]) if line.text.strip() else line
                for line in part.lines
            )
        )
        for part in parts
    ]


def _is_introduced(text: str, parts: Sequence[PostPart]) -> bool:
    """Tell whether somebody speaks before or behind a script, or says what follows in it."""
    outside = {number for number, _ in _outside_texts(text)}
    prose = [
        [line.text for line in part.lines if part.kind == "prose" and line.number in outside]
        for part in parts
    ]
    first = any(_is_title(line) or _is_spoken(line) for line in prose[0])
    labels = (line for line in chain(*prose) if line.rstrip().endswith((":", "：")))
    return first or any(map(_is_spoken, chain(prose[-1], labels)))


def _is_session(text: str, parts: Sequence[PostPart]) -> bool:
    """Tell whether a script stands with what it printed, or with the prompts of a terminal."""
    printed = (line for line in _lines(parts, "log") if not line.lstrip().startswith("#"))
    return len(LOG.findall("\n".join(printed))) >= FEW or any(map(_PROMPT.match, text.split("\n")))


def _is_fenced(text: str) -> bool:
    """Tell whether fences set the parts of a text apart: what is printed stands within them."""
    inside = False
    printed = {True: 0, False: 0}
    fenced = False
    for line in text.split("\n"):
        if FENCE.match(line):
            inside, fenced = not inside, True
        elif LOG.search(line):
            printed[inside] += 1
    return fenced and printed[False] <= max(FEW, printed[True])


def _is_mixed(parts: Sequence[PostPart]) -> bool:
    """Tell a post from a log in which single lines look like something else."""
    size = Counter[str]()
    for part in parts:
        size[part.kind] += sum(1 for _ in _filled(line.text for line in part.lines))
    if not size:
        return False
    # a log has sentences in its midst; a person speaks before or after it
    said = _says(_outer(parts) if size["log"] else parts)
    written = {kind for kind in size if kind != "prose"}
    if len(written) < 2 or written <= {"script", "log"}:
        # a command among the lines of a log is found there
        titled = not written and any(map(_is_title, _lines(parts, "prose")))
        return said or titled or (not size["log"] and size["prose"] > MAIN / 2 * size.total())
    _, most = size.most_common(1)[0]
    return said or most < MAIN * size.total()


def _is_valid(text: str) -> bool:
    """Tell whether a text is one program or one set of data, whatever is said in it."""
    try:
        if IMPORT.search(text):
            ast.parse(text)
        elif text.lstrip().startswith(("{", "[")):
            json.loads(text)
        else:
            return _is_yaml(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return False
    return True


def _is_yaml(text: str) -> bool:
    """Tell whether a text is a mapping or a list of mappings; a list of words may be prose."""
    # its import takes longer than most texts take to be read
    import yaml

    try:
        found = yaml.compose(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError:
        return False
    rows = found.value if isinstance(found, yaml.SequenceNode) else [found]
    return bool(rows) and all(isinstance(row, yaml.MappingNode) for row in rows)


def _says(parts: Iterable[PostPart]) -> bool:
    return any(map(_is_spoken, _lines(parts, "prose")))


def _is_spoken(line: str) -> bool:
    if UNSPOKEN.match(line) or LOG.search(line):
        return False
    return any(sign.search(line) for sign in (PERSONAL, NARRATED, SENTENCE))


def _outer(parts: Sequence[PostPart]) -> tuple[PostPart, ...]:
    """Give what is in words before all else and behind it: a title and what is said below it."""
    ends = (takewhile(lambda part: part.kind == "prose", way) for way in (parts, reversed(parts)))
    return tuple(chain(*ends))


def _is_title(line: str) -> bool:
    """Tell whether a line that stands first, or for a person's own, is in words."""
    return _WORDS.match(line) is not None and UNSPOKEN.match(line) is None


def _lines(parts: Iterable[PostPart], kind: Kind) -> Iterator[str]:
    return (line.text for part in parts if part.kind == kind for line in part.lines)


def _filled(lines: Iterable[str]) -> Iterator[str]:
    return (line for line in lines if line.strip())


def _last(text: str) -> Sequence[str]:
    return list(_filled(text.split("\n")))[-EDGE:]


def _outside_texts(text: str) -> Iterator[tuple[int, str]]:
    """Give the lines of a script, numbered, but for the texts it writes or sets."""
    end: str | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        if end is None:
            yield number, line
            opened = HERE_DOCUMENT.search(line) or _TEXT.match(line)
            end = opened[1] if opened else None
        elif line.strip() == end or (end in QUOTES and end in line):
            end = None
