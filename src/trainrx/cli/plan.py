"""`diagnose plan`: a configuration that works, per hardware."""

from __future__ import annotations

from typing import Annotated

import msgspec

from trainrx.cli import make_app
from trainrx.cli._options import (
    JOB,
    KNOWN,
    Data,
    Display,
    KeepOption,
    names_of,
    takes,
)
from trainrx.cli._output import format_option, show, view
from trainrx.cli._progress import progress
from trainrx.inputs.hardware import card_and_count
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.request import Request
from trainrx.model.errors import UsageError

HELP = """\
Show a configuration of a launch that works on each hardware, or the least hardware that would do.

PATH is a launch script, a config or a run folder; - reads standard input. Changes are spelled for
the framework and version of the launch.
Exit status 0: it works on all that was asked, 1: not on some, 2: wrong use.

\b
  diagnose plan launch.sh --gpu 24GiB --gpus 8 --versions freeze.txt
  diagnose plan launch.sh --gpu 2xA800-80G --gpu 4xA6000-48G --gpu 8x24GiB
"""

FormOption = Annotated[str, format_option("PlanAnswer")]

app = make_app()


@app.command(help=HELP)
@takes(*JOB, Data, *KNOWN)
def plan(
    request: Request,
    display: Display,
    *,
    keep: KeepOption = None,
    form: FormOption = "text",
) -> int:
    """Plan a job for some hardware."""
    if not request.files:
        raise UsageError(
            "nothing to plan: give a launch script or a config, for example\n"
            "  diagnose plan launch.sh --gpu 2xA800-80G --gpu 8x24GiB"
        )
    asked = tuple(counted(text, request.gpus) for text in request.cards)
    if asked:
        request = msgspec.structs.replace(request, cards=(asked[0][0],))
    seen = view(request.lang, display.width, display.level)

    from trainrx.prove.hardware_plans import plan_job

    with progress(request.lang, form):
        answer = plan_job(
            request, LoadedKnowledge(request.kb, request.rules), hardware=asked, keep=names_of(keep)
        )
    status = show(answer, form, seen)
    return status or int(any(row.verdict in ("none", "unknown") for row in answer.hardware))


def counted(text: str, gpus: int | None) -> tuple[str, int | None]:
    """Take `8x24GiB` apart; a card without a number is there `gpus` times.

    Raises:
        UsageError: the number is none, or `--gpus` says another for it.
    """
    card, count = card_and_count(text)
    if count is not None and count < 1:
        raise UsageError(f"--gpu {text}: expected at least one card, such as 8x24GiB")
    return card, gpus if count is None else count
