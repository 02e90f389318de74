"""`diagnose mcp`: the tools of trainrx for agents."""

from __future__ import annotations

from typing import Annotated

import typer

from trainrx.cli import make_app
from trainrx.cli._options import KNOWN, takes
from trainrx.launch.request import Request
from trainrx.model.errors import UsageError

HELP = """\
Serve agents by the Model Context Protocol: diagnose, answer_question, lint_launch, plan_fix,
estimate_memory, explain, search_knowledge.

Over standard input and output, where it may read the paths an agent names; or over HTTP, where it
reads nothing of this machine. Needs trainrx[mcp], best in an environment of its own.

\b
  claude mcp add trainrx -- uvx --from 'trainrx[mcp]' diagnose mcp
  diagnose mcp --http 8601
"""
Http = Annotated[
    int | None,
    typer.Option(
        "--http", metavar="PORT", min=1, max=65535, help="Listen on a port of this machine."
    ),
]
Seconds = Annotated[float, typer.Option("--seconds", min=1, help="An answer may take so long.")]

app = make_app(bare=True)


@app.command(help=HELP)
@takes(*KNOWN)
def mcp(request: Request, *, http: Http = None, seconds: Seconds = 60.0) -> int:
    """Serve until the agent leaves.

    Raises:
        UsageError: the packages it works with are missing.
    """
    try:
        from trainrx.share.agents.server import serve_http, serve_stdio
        from trainrx.share.workers import Limits
    except ImportError as error:
        raise UsageError(f"mcp needs trainrx[mcp]: {error}") from error
    limits = Limits(seconds=seconds, folders=(*request.kb, *request.rules))
    if http is None:
        serve_stdio(limits)
    else:
        serve_http(limits, "127.0.0.1", http)
    return 0
