"""`diagnose paste`: a text that somebody posted, taken apart and diagnosed."""

from __future__ import annotations

import msgspec

from trainrx.cli import make_app
from trainrx.cli._options import JOB, KNOWN, Answered, Display, Good, takes
from trainrx.cli.diagnose import AnswerOptions, EngineOption, FailOnOption, answer
from trainrx.launch.request import Request
from trainrx.model.errors import UsageError

HELP = """\
Diagnose a posted text: an issue, a chat, a mail, a scroll-back of a terminal.

PATH is a file that holds the text; - reads standard input. Commands, configs, programs, lists of
versions and logs in it are told apart, fenced or not; the rest is what somebody says of the job.
diagnose does the same with a file that looks like a post: this command reads any text as one.
--explain lists what was read as what, line by line.

\b
  diagnose paste issue.md
  diagnose paste - --gpu A100-80G --gpus 8 --explain
"""

app = make_app()


@app.command(help=HELP)
@takes(*JOB, Good, Answered, *KNOWN)
def paste(
    request: Request,
    shown: AnswerOptions,
    display: Display,
    *,
    engine: EngineOption = "durable",
    fail_on: FailOnOption = "none",
) -> int:
    """Diagnose a post."""
    if not request.paths:
        raise UsageError(
            "nothing to read: give a file that holds the text, or - and paste it, for example\n"
            "  diagnose paste issue.md"
        )
    posted = msgspec.structs.replace(request, paths=(), posts=request.paths)
    return answer(posted, shown, display, engine=engine, fail_on=fail_on)
