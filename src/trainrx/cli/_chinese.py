"""Help and wrong use in Chinese: what typer says, which cannot be given words of its own.

Help is found in a catalogue of texts as errors are; what is not found stays as it is.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import typer

from trainrx.render.chinese import catalogue, chinese
from trainrx.render.layout import cells, pad, wrap

if TYPE_CHECKING:
    from typer.core import TyperCommand

HELP = Path(__file__).parent / "texts" / "help.yaml"
WIDEST = 78
_COLUMN, _GAP, _INDENT = 30, 2, 2
_LIMITS = re.compile(r"(?s)(.*?)(?:  \[([^\n]*)\])?")
"""The help of an option, and what typer says of its default and its range."""
_LIMIT_WORDS = (("default: ", "默认 "), ("required", "必填"))


class WrongUse(Protocol):
    """What a parser raises; typer brings its own copy of click's errors in some releases."""

    def format_message(self) -> str:
        """Say what is wrong, without the usage."""


def wrong_use(error: WrongUse) -> str:
    """Say what is wrong with a command line, as the parser itself says it in English."""
    said = f"错误：{chinese(error.format_message())}\n"
    context: typer.Context | None = getattr(error, "ctx", None)
    if context is None:
        return said
    hint = f"用 '{context.command_path} {context.help_option_names[0]}' 查看帮助。"
    return f"{context.get_usage()}\n{hint}\n\n{said}"


def speak(command: TyperCommand) -> None:
    """Let a command and those below it write their help in Chinese; nothing is read before that."""
    command.context_class = _ChineseContext
    for below in getattr(command, "commands", {}).values():
        speak(below)


class _Help:
    """The page of a command's help, as its context writes it: in cells, which Chinese takes two of.

    It stands in the place of click's formatter, which counts characters and breaks at spaces.
    """

    def __init__(self, width: int | None = None, max_width: int | None = None) -> None:
        shown = min(shutil.get_terminal_size().columns - 2, max_width or WIDEST)
        self.width = width or max(shown, 50)
        self.indent = 0
        self.lines: list[str] = []

    def getvalue(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)

    def write_usage(self, prog: str, args: str = "") -> None:
        self._write(f"用法：{prog} {args}")

    def write_paragraph(self) -> None:
        if self.lines:
            self.lines.append("")

    def write_text(self, text: str) -> None:
        for number, paragraph in enumerate(text.split("\n\n")):
            if number:
                self.write_paragraph()
            if paragraph.startswith("\b\n"):
                self.lines += (self._example(line) for line in paragraph.splitlines()[1:])
            else:
                self._write(_said(" ".join(paragraph.split())))

    def write_dl(self, rows: Sequence[tuple[str, str]]) -> None:
        column = min(max(cells(first) for first, _ in rows), _COLUMN) + _GAP
        for first, second in rows:
            below = wrap(_row(second), self.width - self.indent - column)
            head = first
            if cells(first) > column - _GAP:
                self._write(first)
                head = ""
            for line in below:
                self.lines.append(f"{'':{self.indent}}{pad(head, column)}{line}".rstrip())
                head = ""

    @contextmanager
    def indentation(self) -> Iterator[None]:
        self.indent += _INDENT
        yield
        self.indent -= _INDENT

    @contextmanager
    def section(self, name: str) -> Iterator[None]:
        self.write_paragraph()
        self._write(f"{_said(name)}：")
        with self.indentation():
            yield

    def _write(self, text: str) -> None:
        self.lines += (f"{'':{self.indent}}{line}" for line in wrap(text, self.width - self.indent))

    def _example(self, line: str) -> str:
        said = line.strip()
        start = line[: len(line) - len(line.lstrip())]
        return f"{'':{self.indent}}{start}{_said(said)}"


class _ChineseContext(typer.Context):
    formatter_class = cast("Any", _Help)


def _said(text: str) -> str:
    """Give the Chinese of a text; one that was cut short is known by its beginning."""
    known = _help_texts()
    if text in known:
        return known[text]
    start = text.removesuffix("...").rstrip()
    return next((zh for en, zh in known.items() if start and en.startswith(start)), text)


@lru_cache(maxsize=1)
def _help_texts() -> dict[str, str]:
    return {text.en: text.zh for text in catalogue(HELP)}


def _row(text: str) -> str:
    found = _LIMITS.fullmatch(text)
    if found is None or not found[2]:
        return _said(text)
    limits = found[2]
    for en, zh in _LIMIT_WORDS:
        limits = limits.replace(en, zh)
    return f"{_said(found[1])}  [{limits}]"
