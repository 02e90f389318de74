"""`diagnose estimate`: how much GPU memory a job takes, before it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from trainrx.cli import make_app
from trainrx.cli._options import JOB, KNOWN, Data, Display, takes
from trainrx.cli._output import format_option, show, view
from trainrx.cli._progress import progress
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.request import Request
from trainrx.model.errors import UsageError
from trainrx.model.estimate import Estimate, Fit

HELP = """\
Predict how much GPU memory a job takes, term by term, and whether it fits the card.

PATH is a launch script, a config or a run folder; - reads standard input. Three figures are told
apart: what torch allocates, what its allocator reserves, and what nvidia-smi shows of the card.
Exit status 0: predicted, 1: does not fit (see --fail-on) or cannot run as it is laid out, 2: no
prediction, or wrong use.

\b
  diagnose estimate launch.sh --gpu A100-80G --gpus 8
  diagnose estimate train.yaml --versions llamafactory==0.9.3 --gpu 24GiB --gpu 80GiB
"""


FailOn = Literal["none", "does-not-fit", "tight"]
Plot = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE.svg|png", help="Draw it too; needs trainrx[plot]."),
]
Exact = Annotated[
    bool,
    typer.Option(
        "--exact", help="Also run the real model class without weights; needs trainrx[exact]."
    ),
]
FailOnOption = Annotated[
    FailOn, typer.Option("--fail-on", help="Exit with 1 when it is at least so bad on every card.")
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show the terms of every phase with their sources.")
]

FormOption = Annotated[str, format_option("Estimate")]

app = make_app()


@app.command(help=HELP)
@takes(*JOB, Data, *KNOWN)
def estimate(
    request: Request,
    display: Display,
    *,
    form: FormOption = "text",
    plot: Plot = None,
    exact: Exact = False,
    fail_on: FailOnOption = "does-not-fit",
    verbose: Verbose = False,
) -> int:
    """Estimate the memory of a job."""
    if not request.files:
        raise UsageError(
            "nothing to estimate: give a launch script, a config or a run folder, for example\n"
            "  diagnose estimate launch.sh --gpu A100-80G --gpus 8"
        )
    seen = view(request.lang, display.width, display.level, everything=verbose)
    if plot is not None:
        from trainrx.render.figures import check_plot

        check_plot(plot)

    from trainrx.estimation.run import estimate as run

    with progress(request.lang, form):
        answer = run(request, LoadedKnowledge(request.kb, request.rules), exact=exact)
    status = show(answer, form, seen)
    if plot is not None and answer.prediction is not None:
        from trainrx.render.estimate_plot import write_plot
        from trainrx.render.redact import masked

        write_plot(masked(answer, display.level), plot)
    return status or failing(answer, fail_on)


def failing(answer: Estimate, fail_on: FailOn) -> int:
    """Give the exit status: 1 for what was found, 2 where nothing could be predicted."""
    if answer.refusal is not None:
        return 1 if answer.refusal.kind == "impossible" else 2
    bad: dict[FailOn, tuple[Fit, ...]] = {
        "none": (),
        "does-not-fit": ("does-not-fit",),
        "tight": ("tight", "cannot-say", "does-not-fit"),
    }
    verdicts = [card.verdict for card in answer.cards] or [answer.verdict]
    return int(all(verdict in bad[fail_on] for verdict in verdicts))
