"""The commands there are: one module each in this folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer


def commands() -> frozenset[str]:
    """Name the commands: the modules of this folder that are not private."""
    files = Path(__file__).parent.glob("*.py")
    return frozenset(file.stem for file in files if not file.stem.startswith("_"))


def program() -> str:
    """Give the name this program was called by."""
    name = Path(sys.argv[0]).name if sys.argv else ""
    return name if name in ("diagnose", "trainrx") else "diagnose"


def make_app(help_text: str | None = None) -> typer.Typer:
    """Make a typer app that speaks plain text: no boxes, no completion, no traceback of its own."""
    import typer

    return typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        help=help_text,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def run_app(app: typer.Typer, words: list[str], name: str = "") -> int:
    """Run a typer app on words; what its command returns is the exit status."""
    status = app(args=words, prog_name=f"{program()} {name}".strip(), standalone_mode=False)
    return status if isinstance(status, int) else 0
