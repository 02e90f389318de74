"""Config files: YAML or JSON read the way their framework reads it, every value with its line."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from trainrx.model.facts import INFINITE
from trainrx.model.findings import Unread
from trainrx.model.job import RawArg
from trainrx.model.pattern import late

MAX_TEXT = 300_000
"""Characters; larger files are data, not configuration."""

MAX_REREAD = 20_000
"""Characters of a file that is kept read."""

MAX_VALUES = 20_000
"""Values kept; bounds what anchors and aliases can multiply into."""

MAX_DEPTH = 30
_MAX_BRACKETS = 100
_MOST_QUOTED = 3000
_QUOTED = late(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'")
MAX_LINE = 400
"""Characters of a name, and of a line that is quoted."""
_MAX_DIGITS = 40


def read_config(
    text: str, source: str, *, whole: bool = False
) -> tuple[tuple[RawArg, ...], tuple[Unread, ...]]:
    """Read a YAML or JSON mapping into arguments; nested keys become dotted names.

    Values stay as the file spells them (`1e-5`, `True`). Only the first YAML document counts; the
    frameworks refuse a file with several, which is told. Merged keys (`<<: *base`) give way to
    the ones beside them. A list of `key=value` texts, as Hydra keeps its overrides, is read as
    these. A file that cannot be read gives no arguments and an `Unread` that names line and
    reason.

    Args:
        text: the file's text.
        source: what it is called, for origins.
        whole: a mapping that is a value is one argument, written as JSON, as parsers take it
            that know no dotted names.
    """
    if len(text) > MAX_TEXT:
        return (), (refused(source, "is too large for a configuration file", text, None),)
    if (deep := too_nested(text)) is not None:
        return (), (refused(source, "nests too deeply", text, deep),)
    read = _read_once if len(text) <= MAX_REREAD else _read
    return read(text, source, whole)


def _read(text: str, source: str, whole: bool) -> tuple[tuple[RawArg, ...], tuple[Unread, ...]]:
    # PyYAML costs 10 ms; most launches have no file for it
    from trainrx.inputs.config_yaml import read_yaml_config

    return read_yaml_config(text, source, whole=whole)


MOST_REREAD = 192
"""Files kept read: those of one composition of Hydra are some fifty, with its lists."""
_read_once = lru_cache(maxsize=MOST_REREAD)(_read)
"""A launch is read again for every change that is tried on it and for every round of a loop that
starts it, most of its files as they were."""


def too_nested(text: str) -> int | None:
    """Find the line where brackets go deeper than any configuration does.

    The YAML scanner takes quadratic time on them, so it must not see such a text. Those in quotes
    do not count, as the templates of chats have them, but for lines that are nothing else.
    """
    depth = 0
    for number, full in enumerate(text.split("\n"), start=1):
        many = _count(full, "[{") > _MOST_QUOTED
        line = full if many else _QUOTED.sub("", full)
        opened = _count(line, "[{")
        if depth + opened > _MAX_BRACKETS and opened:
            return number
        depth = max(depth + opened - _count(line, "]}"), 0)
    return None


def _count(line: str, brackets: Iterable[str]) -> int:
    return sum(line.count(bracket) for bracket in brackets)


def refused(source: str, reason: str, text: str, line: int | None) -> Unread:
    """Say why a file, or a line of it, was not read."""
    lines = text[:MAX_TEXT].split("\n") if line is not None else []
    shown = lines[line - 1].strip()[:MAX_LINE] if line is not None and line <= len(lines) else ""
    return Unread(source=source, reason=reason, line=line, text=shown)


def read_number(text: str) -> float | None:
    """Read a finite number as Python and YAML 1.2 write it; None when it is none."""
    if len(text) > _MAX_DIGITS:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if -INFINITE < number < INFINITE else None
