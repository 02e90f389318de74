"""`diagnose explain ID`: the page of one cause, symptom, parameter, fact or rule."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trainrx.cli._commands import make_app, run_app
from trainrx.cli._options import KbOption, LangOption, RulesOption, WidthOption, language
from trainrx.cli._page import show

app = make_app()


@app.command(help="Show what is known of one cause, symptom, parameter, fact or rule.")
def explain(
    ident: Annotated[str, typer.Argument(metavar="ID", help="As `diagnose kb list` shows it.")],
    lang: LangOption = None,
    kb: KbOption = None,
    rules: RulesOption = None,
    width: WidthOption = None,
) -> int:
    """Show the page of one entry."""
    folders: list[Path] = kb or []
    return show(ident, language(lang), width, kb=folders, rules=rules or [])


def run(words: list[str]) -> int:
    """Run the command on the words that follow its name."""
    return run_app(app, words, "explain")
