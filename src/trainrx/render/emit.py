"""Lines to text: plain for pipes, with colour for terminals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from io import StringIO

from trainrx.render.layout import Line

STYLES: dict[str, str] = {
    "bad": "bold red",
    "doubt": "bold yellow",
    "good": "bold green",
    "strong": "bold",
    "head": "bold",
    "fix": "bold cyan",
    "dim": "dim",
    "plus": "green",
    "minus": "red",
    "ask": "yellow",
    # parts of a stacked bar, the largest first
    "hue0": "blue",
    "hue1": "cyan",
    "hue2": "magenta",
    "hue3": "green",
    "hue4": "yellow",
    "hue5": "red",
}


def plain(lines: Iterable[Line]) -> str:
    """Give the lines as text without any control sequence."""
    return "".join("".join(span.text for span in line).rstrip() + "\n" for line in lines)


def coloured(lines: Iterable[Line]) -> str:
    """Give the lines with ANSI colour."""
    # rich costs 30 ms; a pipe does without it
    from rich.console import Console
    from rich.text import Text

    out = StringIO()
    console = Console(
        file=out, force_terminal=True, color_system="standard", highlight=False, no_color=False
    )
    for line in lines:
        text = Text()
        for span in line:
            text.append(span.text, STYLES.get(span.style, ""))
        console.print(text, soft_wrap=True)
    return out.getvalue()


def wants_colour(environment: Mapping[str, str], *, terminal: bool) -> bool:
    """Decide on colour: only for a terminal, never with NO_COLOR (https://no-color.org)."""
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return terminal and environment.get("TERM", "") not in ("", "dumb")
