"""`diagnose lsp`: lint in an editor, by the Language Server Protocol."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from trainrx.cli._commands import make_app, run_app
from trainrx.cli._options import KbOption, LangOption, RulesOption, language
from trainrx.lsp.server import serve
from trainrx.render import words

HELP = """\
Serve an editor over standard input and output: findings of lint while a launch is written, fixes
for them, and what a rule or an argument means under the pointer.

Needs `pip install 'trainrx[lsp]'`. The editor may send `lang`, `versions`, `gpu`, `gpus`, `nodes`,
`env`, `select`, `ignore`, `extendSelect` and `delay` as initialization options; trainrx.toml and
[tool.trainrx] count as for diagnose lint.
"""
Tcp = Annotated[
    int | None,
    typer.Option(
        "--tcp", metavar="PORT", min=1, max=65535, help="Listen on a port of this machine."
    ),
]
Stdio = Annotated[bool, typer.Option("--stdio", help="What is done anyway; editors pass it.")]

app = make_app()


@app.command(help=HELP)
def lsp(
    *,
    tcp: Tcp = None,
    stdio: Stdio = False,
    lang: LangOption = None,
    kb: KbOption = None,
    rules: RulesOption = None,
) -> int:
    """Serve until the editor ends."""
    del stdio
    asked = language(lang) or words.language(os.environ)
    serve(asked, kb=kb or [], rules=rules or [], port=tcp)
    return 0


def run(words_behind: list[str]) -> int:
    """Run the command on the words that follow its name."""
    return run_app(app, words_behind, "lsp")
