"""`diagnose plan`: a configuration that works, per hardware."""

from __future__ import annotations

import re
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
from trainrx.cli.fix import Form, FormatOption, Keep, names_of
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
MOST_DIGITS = 6
_COUNTED = re.compile(rf"(?P<count>\d{{1,{MOST_DIGITS}}})\s*[xX*×]\s*(?P<card>\S.*)")
Gpu = Annotated[
    list[str] | None,
    typer.Option(
        "--gpu", metavar="[N]xNAME|[N]x24GiB", help="Cards, with their number; may be repeated."
    ),
]

app = make_app()


@app.command(help=HELP)
def plan(  # noqa: PLR0913 - typer takes one parameter per option
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
    keep: Keep = None,
    form: FormatOption = Form.text,
    lang: LangOption = None,
    kb: KbOption = None,
    width: WidthOption = None,
) -> int:
    """Plan a job for some hardware."""
    files = (*(paths or ()), *(cmd or ()), *(config or ()), *(log or ()))
    if not files:
        raise UsageError(
            "nothing to plan: give a launch script or a config, for example\n"
            "  diagnose plan launch.sh --gpu 2xA800-80G --gpu 8x24GiB"
        )
    asked = tuple(counted(text, gpus) for text in gpu or ())
    seen = view(language(lang), width)
    single: tuple[Path, ...] = () if env is None else (env,)

    from trainrx.prove.hardware_plans import plan_job
    from trainrx.render import plan as shown
    from trainrx.render.fix_json import as_json

    answer = plan_job(
        paths or (),
        hardware=asked,
        cmd=cmd or (),
        config=config or (),
        env=env,
        versions=versions_of(versions, "--versions"),
        logs=log or (),
        gpu=asked[0][0] if asked else None,
        gpus=gpus,
        nodes=nodes,
        model_config=model_config,
        data=data,
        keep=names_of(keep),
        lang=seen.lang,
        kb=kb or (),
        stdin=read_stdin((*files, *single)),
    )
    if form is Form.json:
        status = write(as_json(answer), utf8=True)
    elif form is Form.markdown:
        status = write(shown.to_markdown(answer, seen.lang))
    else:
        status = write(styled(shown.plan_page(answer, seen)))
    return status or int(any(row.verdict in ("none", "unknown") for row in answer.hardware))


def counted(text: str, gpus: int | None) -> tuple[str, int | None]:
    """Take `8x24GiB` apart; a card without a number is there `gpus` times.

    Raises:
        UsageError: the number is none.
    """
    match = _COUNTED.fullmatch(text.strip())
    if match is None:
        return text, gpus
    count = int(match["count"])
    if count < 1:
        raise UsageError(f"--gpu {text}: expected at least one card, such as 8x24GiB")
    return match["card"], count


def run(words: list[str]) -> int:
    """Run the command on the words that follow its name."""
    return run_app(app, words or ["--help"], "plan")
