"""How this terminal is to be written to, and the option that says in which form."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from trainrx.cli._output import write
from trainrx.model.text import Lang
from trainrx.render import render
from trainrx.render.document import View
from trainrx.render.formats import load, names

if TYPE_CHECKING:
    import msgspec

NARROWEST = 40


def view(lang: Lang, width: int | None = None, *, everything: bool = False) -> View:
    """Say how this terminal is to be written to; `width` goes before what it says."""
    columns, rows = _size()
    return View(
        lang,
        width or columns,
        everything,
        colour=wants_colour(os.environ, terminal=_is_terminal()),
        rows=rows,
    )


def show(answer: msgspec.Struct, form: str, seen: View, *, redact: bool = False) -> int:
    """Print an answer in the form that was asked for; give the exit status."""
    return write(render(answer, form, seen, redact=redact), utf8=load(form).utf8)


def format_option(kind: str) -> Any:  # noqa: ANN401  # what typer calls an option has no type
    """Give the option that chooses among the formats there are for a kind of answer."""
    import typer

    known = names(kind)

    def check(name: str) -> str:
        if name not in known:
            raise typer.BadParameter(f"{name!r} is not one of {str(known)[1:-1]}.")
        return name

    metavar = f"[{'|'.join(known)}]"
    return typer.Option("--format", metavar=metavar, callback=check, help="Form of the answer.")


def wants_colour(environment: Mapping[str, str], *, terminal: bool) -> bool:
    """Decide on colour: only for a terminal, never with NO_COLOR (https://no-color.org)."""
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return terminal and environment.get("TERM", "") not in ("", "dumb")


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _size() -> tuple[int, int | None]:
    """Give columns and, for a terminal, rows; COLUMNS overrides."""
    columns, rows = 80, None
    try:
        if _is_terminal():
            columns, rows = os.get_terminal_size(sys.stdout.fileno())
    except (OSError, ValueError):
        columns, rows = 80, None
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and len(given) < 5:
        columns = int(given)
    return max(columns or 80, NARROWEST), rows
