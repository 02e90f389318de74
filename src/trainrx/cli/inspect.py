"""`diagnose inspect`: what a launch really sets, argument by argument."""

from __future__ import annotations

from enum import Enum
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
    Paths,
    VersionsOption,
)
from trainrx.cli._options import KbOption, LangOption, RulesOption, WidthOption, language
from trainrx.cli._output import write
from trainrx.cli._stdin import read_stdin
from trainrx.cli._versions import versions_of
from trainrx.cli._view import styled, view
from trainrx.model.errors import UsageError

HELP = """\
Show what a launch comes to: every argument with its value and where that comes from.

PATH is a launch script, a config or a run folder; - reads standard input. Given values are shown,
and the defaults that decide about memory, speed or the result; --all shows every argument.

\b
  diagnose inspect launch.sh --versions ms-swift==3.2.1
  diagnose inspect --cmd launch.sh --config train.yaml --format json
"""


class Form(str, Enum):
    """The forms an answer comes in."""

    text = "text"
    json = "json"


FormatOption = Annotated[Form, typer.Option("--format", help="Form of the answer.")]
All = Annotated[bool, typer.Option("--all", help="Show every argument and variable.")]

app = make_app()


@app.command(help=HELP)
def inspect(  # noqa: PLR0913 - typer takes one parameter per option
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
    form: FormatOption = Form.text,
    lang: LangOption = None,
    everything: All = False,
    kb: KbOption = None,
    rules: RulesOption = None,
    width: WidthOption = None,
) -> int:
    """Inspect the launches of some files."""
    files = (*(paths or ()), *(cmd or ()), *(config or ()), *(log or ()))
    if not files:
        raise UsageError(
            "nothing to inspect: give a launch script, a config or a run folder, for example\n"
            "  diagnose inspect launch.sh --versions ms-swift==3.2.1"
        )
    seen = view(language(lang), width, everything=everything)
    single = tuple(file for file in (env,) if file is not None)

    from trainrx.inspect.inspection import inspect_launch
    from trainrx.render.inspect_mask import masked

    answer = inspect_launch(
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
        lang=seen.lang,
        kb=kb or (),
        rules=rules or (),
        stdin=read_stdin((*files, *single)),
    )
    answer = masked(answer)
    if form is Form.json:
        from trainrx.render.inspect_json import as_json

        return write(as_json(answer), utf8=True)
    from trainrx.render.inspect import inspect_page

    return write(styled(inspect_page(answer, seen)))


def run(words: list[str]) -> int:
    """Run the command on the words that follow its name."""
    return run_app(app, words or ["--help"], "inspect")
