"""`diagnose dry-run`: start the job small, by its own framework, before it is started for real."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from trainrx.cli import make_app
from trainrx.cli._options import KNOWN, Display, Installed, LaunchOptions, Machine, takes
from trainrx.cli._output import format_option, save, show, view
from trainrx.cli._progress import progress
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.request import Request
from trainrx.model.errors import UsageError

HELP = """\
Start the job itself, small: its own framework, arguments and data, in one process on the CPU, with
the first rows of each data set, and a model without weights where the real one is large. Say where
it stops and why, or which rows and texts of the data never reach the model.

PATH is the script that starts the job, a config or a run folder. The code of the job runs on this
machine: do so only with a job you would start here. Its output folder is left alone, nothing is
reported, the Hugging Face hub is not asked. Exit status: 0 nothing found, 1 something found, 2 it
could not be started.

\b
  diagnose dry-run launch.sh --python /opt/venv/bin/python
  diagnose dry-run --cmd "llamafactory-cli train sft.yaml" --rows 2000
"""
PythonOption = Annotated[
    str,
    typer.Option(
        "--python",
        metavar="PROGRAM",
        help="The interpreter that has the framework; default: what the command finds.",
    ),
]
RowsOption = Annotated[
    int, typer.Option("--rows", metavar="N", min=1, help="Rows of each data set that are taken.")
]
SecondsOption = Annotated[
    float, typer.Option("--timeout", metavar="SECONDS", min=1, help="How long it may take.")
]
KeepLog = Annotated[
    Path | None,
    typer.Option("--save-log", metavar="FILE", help="Write what the job printed into a file."),
]
FormOption = Annotated[str, format_option("DryRunAnswer")]

app = make_app()


@app.command("dry-run", help=HELP)
@takes(LaunchOptions, Installed, Machine, *KNOWN)
def dry_run(
    request: Request,
    display: Display,
    *,
    python: PythonOption = "",
    rows: RowsOption = 500,
    timeout: SecondsOption = 600.0,
    save_log: KeepLog = None,
    form: FormOption = "text",
) -> int:
    """Run a job dry."""
    if not request.files:
        raise UsageError(
            "nothing to start: give the script that starts the job\n  diagnose dry-run launch.sh"
        )
    seen = view(request.lang, display.width, display.level)

    from trainrx.dry_run import answer

    options = answer.DryRunOptions(python=python, rows=rows, seconds=timeout)
    with progress(request.lang, form):
        loaded = LoadedKnowledge(request.kb, request.rules)
        found = answer.dry_run(request, loaded, options, os.environ, top=3)
    if save_log is not None:
        from trainrx.render.redact import masked

        save(save_log, masked(found, seen.redaction).log)
    return show(found, form, seen) or int(found.verdict != "runs" or bool(found.findings))
