"""`diagnose watch`: follow a job that runs, from its files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer

from trainrx.cli import make_app
from trainrx.cli._options import JOB, KNOWN, Display, takes
from trainrx.cli._output import show, view
from trainrx.launch.request import Request
from trainrx.model.errors import UsageError

HELP = """\
Follow a job that runs, from its files: steps, ranks, memory, when it runs out, stalls, failures.

PATH is a log, a run folder or the log folder of torchrun; what is not there yet may come. Files are
read on from where they were left, through rotation. On a terminal a panel shows the job, elsewhere
a line is written when something changes. Ctrl-C ends it and leaves the job as it is.

\b
  diagnose watch train.log --gpu A100-80G
  diagnose watch run_folder/ --on-alert 'notify-send trainrx "$TRAINRX_ALERT $TRAINRX_CAUSE"'
  diagnose watch train.log --once --format json     exit status 1 where there is an alert
"""


class Following(msgspec.Struct):
    """How a job is followed."""

    once: Annotated[
        bool,
        typer.Option("--once", help="Say how it stands and exit: 0 fine, 1 an alert, 2 wrong use."),
    ] = False
    interval: Annotated[
        float, typer.Option("--interval", metavar="SECONDS", min=0.1, help="Time between looks.")
    ] = 5.0
    stall: Annotated[
        float | None,
        typer.Option(
            "--stall",
            metavar="SECONDS",
            min=1,
            help="Silence that is a stall; else ten usual steps, five minutes at least.",
        ),
    ] = None
    on_alert: Annotated[
        str | None,
        typer.Option(
            "--on-alert",
            metavar="COMMAND",
            help="Run for each new alert: JSON on its input, TRAINRX_ALERT, ... in variables.",
        ),
    ] = None


class Published(msgspec.Struct):
    """Where metrics go."""

    prometheus: Annotated[
        Path | None,
        typer.Option(
            "--prometheus", metavar="FILE.prom", help="Write metrics there; needs trainrx[watch]."
        ),
    ] = None
    prometheus_port: Annotated[
        int | None,
        typer.Option(
            "--prometheus-port",
            metavar="N",
            min=1,
            max=65535,
            help="Give metrics out on this port; needs trainrx[watch].",
        ),
    ] = None


Form = Annotated[
    Literal["text", "json"], typer.Option("--format", help="Form of the answer of --once.")
]

app = make_app()


@app.command(help=HELP)
@takes(*JOB, *KNOWN)
def watch(
    request: Request,
    following: Following,
    published: Published,
    display: Display,
    *,
    form: Form = "text",
) -> int:
    """Follow a job."""
    followed = (*request.paths, *request.logs)
    if not followed:
        raise UsageError(
            "nothing to follow: give a log or a run folder, for example\n  diagnose watch train.log"
        )
    if "-" in followed:
        raise UsageError("`diagnose watch` follows files: give the name of the log instead of -")
    if form == "json" and not following.once:
        raise UsageError("--format json is for --once: expected both, or neither")
    seen = view(request.lang, display.width, display.level)

    from trainrx.cli._watching import WatchLoop, outlets

    out = outlets(published.prometheus, published.prometheus_port, following.on_alert)
    loop = WatchLoop(request, following.stall, out, seen)
    if following.once:
        state = loop.once()
        return show(state, form, seen) or int(bool(state.alerts))
    return loop.follow(following.interval)
