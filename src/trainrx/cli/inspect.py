"""`diagnose inspect`: what a launch really sets, argument by argument."""

from __future__ import annotations

from typing import Annotated

import typer

from trainrx.cli import make_app
from trainrx.cli._options import JOB, KNOWN, Display, takes
from trainrx.cli._output import format_option, show, view
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.request import Request
from trainrx.model.errors import UsageError

HELP = """\
Show what a launch comes to: every argument with its value and where that comes from.

PATH is a launch script, a config or a run folder; - reads standard input. Given values are shown,
and the defaults that decide about memory, speed or the result; --all shows every argument.

\b
  diagnose inspect launch.sh --versions ms-swift==3.2.1
  diagnose inspect --cmd launch.sh --config train.yaml --format json
"""


All = Annotated[bool, typer.Option("--all", help="Show every argument and variable.")]

FormOption = Annotated[str, format_option("Inspection")]

app = make_app()


@app.command(help=HELP)
@takes(*JOB, *KNOWN)
def inspect(
    request: Request,
    display: Display,
    *,
    form: FormOption = "text",
    everything: All = False,
) -> int:
    """Inspect the launches of some files."""
    if not request.files:
        raise UsageError(
            "nothing to inspect: give a launch script, a config or a run folder, for example\n"
            "  diagnose inspect launch.sh --versions ms-swift==3.2.1"
        )
    seen = view(request.lang, display.width, display.level, everything=everything)

    from trainrx.inspect.inspection import inspect_launch

    return show(inspect_launch(request, LoadedKnowledge(request.kb, request.rules)), form, seen)
