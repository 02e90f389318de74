"""`diagnose retry`: would starting the same job again help?"""

from __future__ import annotations

from typing import Annotated

import typer

from trainrx.cli import make_app
from trainrx.cli._options import JOB, KNOWN, Answered, Display, Good, takes
from trainrx.cli._output import format_option, show, view
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.request import Request
from trainrx.model.errors import UsageError

HELP = """\
Say whether starting the same job again would help, for people and for requeue scripts.

PATH is a log, a run folder or a launch script; - reads standard input.

\b
  exit status   0  transient: a restart may help
               10  deterministic: it fails again as it is
               11  bad node: restart without this node
               12  unknown: nothing tells
                2  wrong use, or an input that cannot be read
  diagnose retry train.log
  diagnose retry --log train.log --cmd launch.sh --quiet || exit 0; sbatch launch.sh
"""
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing: the status tells.")]

FormOption = Annotated[str, format_option("RetryAnswer")]

app = make_app()


@app.command(help=HELP)
@takes(*JOB, Good, Answered, *KNOWN)
def retry(
    request: Request,
    display: Display,
    *,
    form: FormOption = "text",
    quiet: Quiet = False,
) -> int:
    """Judge a failure; the exit status is the verdict."""
    if not request.files and not request.notes:
        raise UsageError(
            "nothing to judge: give the log of the failure, for example\n  diagnose retry train.log"
        )
    seen = view(request.lang, display.width, display.level)

    from trainrx.verdict.retrying import retry as judged

    answer = judged(request, LoadedKnowledge(request.kb, request.rules))
    if quiet:
        return answer.exit_code
    return show(answer, form, seen) or answer.exit_code
