"""`diagnose serve`: the answer over HTTP, for programs and as a page."""

from __future__ import annotations

import os
import resource
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from trainrx.cli import make_app
from trainrx.cli._options import KNOWN, takes
from trainrx.cli._output import complain
from trainrx.launch.request import Request
from trainrx.model.errors import UsageError

HELP = """\
Answer over HTTP: POST /v1/diagnose, paste, lint, estimate, plan, fix and answer; a page at /.

It listens on this machine alone unless --host says otherwise. What is sent is kept for an hour, in
a temporary folder of its own, to answer questions about it. TRAINRX_TOKEN in the environment is
what callers must show (Authorization: Bearer), or TRAINRX_TOKEN_FILE names the file it stands in.
Needs trainrx[serve].

\b
  diagnose serve
  curl -F file=@launch.sh -F file=@train.log http://127.0.0.1:8600/v1/diagnose
"""
LOOPBACK = ("127.0.0.1", "localhost", "::1")

Host = Annotated[str, typer.Option("--host", help="The address it listens on.")]
Port = Annotated[int, typer.Option("--port", min=1, max=65535, help="The port it listens on.")]
Names = Annotated[
    list[str] | None,
    typer.Option("--name", metavar="HOST", help="A name it may be called by; may be repeated."),
]
Processes = Annotated[
    int | None, typer.Option("--processes", min=1, help="Answers at a time; one for each core.")
]
Seconds = Annotated[float, typer.Option("--seconds", min=1, help="An answer may take so long.")]

app = make_app(bare=True)


@app.command(help=HELP)
@takes(*KNOWN)
def serve(
    request: Request,
    *,
    host: Host = "127.0.0.1",
    port: Port = 8600,
    name: Names = None,
    processes: Processes = None,
    seconds: Seconds = 60.0,
) -> int:
    """Serve until it is told to stop.

    Raises:
        UsageError: the packages it works with are missing, or strangers could call it unasked.
    """
    secret = secret_of(os.environ)
    if host not in LOOPBACK and not secret:
        raise UsageError(
            f"--host {host} lets other machines ask: set TRAINRX_TOKEN to what they must show, or "
            "TRAINRX_TOKEN_FILE to a file it stands in"
        )
    try:
        import uvicorn

        from trainrx.share.connection import BoundedConnection
        from trainrx.share.serve.app import make_app
        from trainrx.share.serve.service import ServiceSettings
        from trainrx.share.workers import Limits
    except ImportError as error:
        raise UsageError(f"serve needs trainrx[serve]: {error}") from error
    settings = ServiceSettings(
        limits=Limits(
            seconds=seconds,
            processes=processes or Limits().processes,
            folders=(*request.kb, *request.rules),
        ),
        secret=secret,
        hosts=(*ServiceSettings().hosts, host, *(name or ())),
        lang=request.lang,
        kb=request.kb,
        rules=request.rules,
    )
    # each connection and each file that comes in takes one
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    complain(f"answering at http://{host}:{port}", request.lang)
    uvicorn.run(
        make_app(settings),
        host=host,
        port=port,
        log_level="warning",
        server_header=False,
        http=BoundedConnection,
        timeout_keep_alive=15,
    )
    return 0


def secret_of(environment: Mapping[str, str]) -> str:
    """Give what callers must show, "" for nothing.

    Raises:
        UsageError: the file it is to stand in cannot be read, or is empty.
    """
    name = environment.get("TRAINRX_TOKEN_FILE", "")
    if not name:
        return environment.get("TRAINRX_TOKEN", "")
    try:
        secret = Path(name).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"TRAINRX_TOKEN_FILE: {name} cannot be read: {error}") from error
    if not secret:
        raise UsageError(f"TRAINRX_TOKEN_FILE: {name} is empty")
    return secret
