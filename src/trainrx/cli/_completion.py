"""Completion of the shell: all commands as one, of which only the one that is typed is imported."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, cast

import typer
from typer.core import TyperGroup
from typer.main import get_command

from trainrx.cli import DEFAULT, commands, module_of

if TYPE_CHECKING:
    from typer.core import TyperCommand


class AllCommands(TyperGroup):
    """Every command by its name."""

    def list_commands(self, ctx: object) -> list[str]:  # noqa: ARG002 - given by the parser
        """Name the commands, but for the one that needs no name."""
        return sorted(commands() - {DEFAULT})

    def get_command(self, ctx: object, cmd_name: str) -> TyperCommand | None:  # noqa: ARG002
        """Import the command of a name."""
        return _command(cmd_name) if cmd_name in commands() else None


def complete(words: Sequence[str], name: str) -> int:
    """Answer the shell that asks by its environment, or set it up to ask.

    Beside the commands stand the options of the one that needs no name.
    """
    app = typer.Typer(cls=AllCommands, rich_markup_mode=None)
    app.callback(invoke_without_command=True)(_nothing)
    group = get_command(app)
    options = (item for item in _command(DEFAULT).params if item.param_type_name == "option")
    group.params = [*group.params, *options]
    group(args=list(words), prog_name=name, standalone_mode=False)
    return 0


def _nothing() -> None:
    """Diagnose fine-tuning jobs."""


def _command(name: str) -> TyperCommand:
    return cast("TyperCommand", get_command(import_module(module_of(name)).app))
