"""`diagnose estimate`: how much GPU memory a job takes, before it runs."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from trainrx.cli._commands import make_app, run_app
from trainrx.cli._inputs import (
    Cmd,
    Config,
    Data,
    Env,
    Gpus,
    Log,
    ModelConfig,
    Nodes,
    Paths,
    VersionsOption,
)
from trainrx.cli._options import KbOption, LangOption, WidthOption, language
from trainrx.cli._output import write
from trainrx.cli._stdin import read_stdin
from trainrx.cli._versions import versions_of
from trainrx.cli._view import styled, view
from trainrx.model.errors import UsageError
from trainrx.model.estimate import Estimate, Fit
from trainrx.render.document import View

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


class Form(str, Enum):
    """The forms an answer comes in."""

    text = "text"
    json = "json"
    markdown = "markdown"


class FailOn(str, Enum):
    """From which verdict on the exit status is 1."""

    none = "none"
    does_not_fit = "does-not-fit"
    tight = "tight"


Gpu = Annotated[
    list[str] | None,
    typer.Option("--gpu", metavar="NAME|24GiB", help="The card; repeat it to compare cards."),
]
FormatOption = Annotated[Form, typer.Option("--format", help="Form of the answer.")]
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

app = make_app()


@app.command(help=HELP)
def estimate(  # noqa: PLR0913 - typer takes one parameter per option
    paths: Paths = None,
    *,
    cmd: Cmd = None,
    config: Config = None,
    env: Env = None,
    versions: VersionsOption = None,
    log: Log = None,
    gpu: Gpu = None,
    gpus: Gpus = None,
    nodes: Nodes = None,
    model_config: ModelConfig = None,
    data: Data = None,
    form: FormatOption = Form.text,
    plot: Plot = None,
    exact: Exact = False,
    fail_on: FailOnOption = FailOn.does_not_fit,
    lang: LangOption = None,
    verbose: Verbose = False,
    kb: KbOption = None,
    width: WidthOption = None,
) -> int:
    """Estimate the memory of a job."""
    files = (*(paths or ()), *(cmd or ()), *(config or ()), *(log or ()))
    if not files:
        raise UsageError(
            "nothing to estimate: give a launch script, a config or a run folder, for example\n"
            "  diagnose estimate launch.sh --gpu A100-80G --gpus 8"
        )
    seen = view(language(lang), width, everything=verbose)
    if plot is not None:
        from trainrx.render.estimate_plot import check_plot

        check_plot(plot)

    from trainrx import api
    from trainrx.render.redact import masked

    answer = api.estimate(
        paths or (),
        cmd=cmd or (),
        config=config or (),
        env=env,
        versions=versions_of(versions, "--versions"),
        logs=log or (),
        gpu=gpu,
        gpus=gpus,
        nodes=nodes,
        model_config=model_config,
        data=data,
        exact=exact,
        lang=seen.lang,
        kb=kb or (),
        stdin=read_stdin((*files, *(() if env is None else (env,)))),
    )
    answer = masked(answer)
    status = write(rendered(answer, form, seen), utf8=form is Form.json)
    if plot is not None and answer.prediction is not None:
        from trainrx.render.estimate_plot import write_plot

        write_plot(answer, plot)
    return status or failing(answer, fail_on)


def rendered(answer: Estimate, form: Form, seen: View) -> str:
    """Give the answer in the form that was asked for."""
    # each form imports only what it needs
    if form is Form.json:
        from trainrx.render.estimate_json import as_json

        return as_json(answer)
    if form is Form.markdown:
        from trainrx.render.estimate_markdown import to_markdown

        return to_markdown(answer, seen.lang)
    from trainrx.render.estimate import estimate_page

    return styled(estimate_page(answer, seen))


def failing(answer: Estimate, fail_on: FailOn) -> int:
    """Give the exit status: 1 for what was found, 2 where nothing could be predicted."""
    if answer.refusal is not None:
        return 1 if answer.refusal.kind == "impossible" else 2
    bad: dict[FailOn, tuple[Fit, ...]] = {
        FailOn.none: (),
        FailOn.does_not_fit: ("does-not-fit",),
        FailOn.tight: ("tight", "does-not-fit"),
    }
    verdicts = [card.verdict for card in answer.cards] or [answer.verdict]
    return int(all(verdict in bad[fail_on] for verdict in verdicts))


def run(words: list[str]) -> int:
    """Run the command on the words that follow its name."""
    return run_app(app, words or ["--help"], "estimate")
