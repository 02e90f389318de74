"""How this terminal is to be written to."""

from __future__ import annotations

import os
import sys

from trainrx.model.text import Lang
from trainrx.render import words
from trainrx.render.emit import coloured, plain, wants_colour
from trainrx.render.layout import Line
from trainrx.render.page import View

NARROWEST = 40


def view(lang: Lang | None = None, width: int | None = None, *, everything: bool = False) -> View:
    """Choose language and width: what was asked for, else what the environment says."""
    return View(lang or words.language(os.environ), width or _size()[0], everything)


def styled(lines: list[Line]) -> str:
    """Give lines as text, coloured where a person reads them."""
    terminal = sys.stdout is not None and sys.stdout.isatty()
    return coloured(lines) if wants_colour(os.environ, terminal=terminal) else plain(lines)


def scrolls(lines: list[Line]) -> bool:
    """Tell whether the first lines will have left the screen when the last is written."""
    return _size()[1] is not None and len(lines) >= (_size()[1] or 0)


def _size() -> tuple[int, int | None]:
    """Give columns and, for a terminal, rows; COLUMNS overrides."""
    columns, rows = 80, None
    try:
        if sys.stdout is not None and sys.stdout.isatty():
            columns, rows = os.get_terminal_size(sys.stdout.fileno())
    except (OSError, ValueError):
        columns, rows = 80, None
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and len(given) < 5:
        columns = int(given)
    return max(columns or 80, NARROWEST), rows
