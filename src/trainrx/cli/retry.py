"""`diagnose retry`: would starting the same job again help?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trainrx.cli._commands import make_app, run_app
from trainrx.cli._inputs import (
    Cmd,
    Config,
    Env,
    Gpu,
    Gpus,
    Log,
    ModelConfig,
    Nodes,
    Note,
    Paths,
    VersionsOption,
)
from trainrx.cli._options import KbOption, LangOption, RulesOption, WidthOption, language
from trainrx.cli._output import write
from trainrx.cli._stdin import read_stdin
from trainrx.cli._versions import versions_of
from trainrx.cli._view import styled, view
from trainrx.cli.estimate import Form, FormatOption
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

app = make_app()


@app.command(help=HELP)
def retry(  # noqa: PLR0913 - typer takes one parameter per option
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
    note: Note = None,
    model_config: ModelConfig = None,
    form: FormatOption = Form.text,
    quiet: Quiet = False,
    lang: LangOption = None,
    kb: KbOption = None,
    rules: RulesOption = None,
    width: WidthOption = None,
) -> int:
    """Judge a failure; the exit status is the verdict."""
    files = (*(paths or ()), *(cmd or ()), *(config or ()), *(log or ()))
    if not files and not note:
        raise UsageError(
            "nothing to judge: give the log of the failure, for example\n  diagnose retry train.log"
        )
    seen = view(language(lang), width)
    single: tuple[Path, ...] = () if env is None else (env,)

    from trainrx.diagnosis.retrying import retry as judged
    from trainrx.render import retry as shown
    from trainrx.render.redact import masked

    answer = judged(
        paths or (),
        cmd=cmd or (),
        config=config or (),
        env=env,
        versions=versions_of(versions, "--versions"),
        logs=log or (),
        gpu=gpu,
        gpus=gpus,
        nodes=nodes,
        note=note or (),
        model_config=model_config,
        lang=seen.lang,
        kb=kb or (),
        rules=rules or (),
        stdin=read_stdin((*files, *single)),
    )
    if quiet:
        return answer.exit_code
    answer = masked(answer)
    if form is Form.json:
        return write(shown.as_json(answer), utf8=True) or answer.exit_code
    if form is Form.markdown:
        return write(shown.to_markdown(answer, seen.lang)) or answer.exit_code
    return write(styled(shown.retry_page(answer, seen))) or answer.exit_code


def run(words: list[str]) -> int:
    """Run the command on the words that follow its name."""
    return run_app(app, words or ["--help"], "retry")
