"""`read`: variables from a here-string, a here-document or a file at hand."""

from __future__ import annotations

import re
from itertools import pairwise

from trainrx.model.pattern import late
from trainrx.shell.context import Context, Verdict
from trainrx.shell.expand import split
from trainrx.shell.state import word_lines
from trainrx.shell.variables import Field, Variable

_NAME = late(r"[A-Za-z_]\w*", re.ASCII)
_READ_VALUES = late(r"-[a-z]*[dnNptui]")
"""Options that take a value."""
_BLANKS = " \t\n"


def read(context: Context, fields: list[Field], separators: str) -> None:
    """Run `read`; the values are not known when it reads from somewhere else."""
    words = [field.text for field in fields]
    names = _names(words)
    flags = "".join(word[1:] for word in words[1:] if word.startswith("-"))
    line = fields[0].line
    feed = context.streams.stdin
    if feed is None:
        _forget(context, names or ["REPLY"], line)
        return
    raw = feed.raw
    text = feed.take_all() if "d" in flags else feed.take_line()
    context.verdict = Verdict(value=text is not None and "d" not in flags)
    text = text or ""
    if "r" not in flags:
        text = re.sub(r"\\(?:\n|(?=.))", "", text)
    if "a" in flags and names:
        values = tuple(Field(part, line) for part in _parts(text, separators))
        context.state.set(names[-1], Variable(values, line, array=True))
        return
    if "d" in flags and "\n" in text and names:
        stripped = text.strip(_blanks(separators))
        lines = word_lines(raw, feed.line) if feed.line else ()
        context.state.set(names[-1], Variable((Field(stripped),), line, lines=lines))
        return
    if not names:
        context.state.set_text("REPLY", text, line)
        return
    for name in names[:-1]:
        part, text = _first(text, separators)
        context.state.set_text(name, part, line)
    rest = text.strip(_blanks(separators))
    context.state.set_text(names[-1], _last(rest, separators), line)


def _names(words: list[str]) -> list[str]:
    return [
        word
        for before, word in pairwise(words)
        if _NAME.fullmatch(word) and not _READ_VALUES.fullmatch(before)
    ]


def _forget(context: Context, names: list[str], line: int) -> None:
    unknowns = context.state.unknowns
    for name in names:
        context.state.set_text(name, unknowns.mark("command", name, f"${name}"), line)
    context.verdict = Verdict(None)


def _blanks(separators: str) -> str:
    return "".join(char for char in separators if char in _BLANKS)


def _parts(text: str, separators: str) -> list[str]:
    parts = split(text.strip(_blanks(separators)), separators) if separators else [text]
    if parts and parts[-1] == "":
        del parts[-1]
    return parts


def _first(text: str, separators: str) -> tuple[str, str]:
    """Cut off the first word."""
    if not separators:
        return text, ""
    text = text.lstrip(_blanks(separators))
    blanks, others = _blanks(separators), separators.translate({ord(c): None for c in _BLANKS})
    cut = f"[{re.escape(separators)}]"
    found = re.search(cut, text)
    if found is None:
        return text, ""
    end = found.end()
    if found[0] in blanks:
        rest = text[end:].lstrip(blanks)
        if rest[:1] and rest[:1] in others:
            rest = rest[1:].lstrip(blanks)
    else:
        rest = text[end:].lstrip(blanks)
    return text[: found.start()], rest


def _last(text: str, separators: str) -> str:
    """Give what is left for the last variable: one separator at its end is taken off."""
    part, rest = _first(text, separators)
    return text if rest else part
