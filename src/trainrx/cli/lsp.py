"""`diagnose lsp`: lint in an editor, by the Language Server Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trainrx.cli import make_app
from trainrx.cli._options import KNOWN, takes
from trainrx.launch.request import Request
from trainrx.lsp.server import serve

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

app = make_app(bare=True)


@app.command(help=HELP)
@takes(*KNOWN)
def lsp(request: Request, *, tcp: Tcp = None, stdio: Stdio = False) -> int:
    """Serve until the editor ends."""
    del stdio
    kb, rules = ([Path(name) for name in names] for names in (request.kb, request.rules))
    serve(request.lang, kb=kb, rules=rules, port=tcp)
    return 0
