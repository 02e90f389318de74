"""`diagnose`: why did this job fail, or why will it fail, and what to change."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from trainrx.cli._commands import commands, make_app, run_app
from trainrx.cli._inputs import (
    Cmd,
    Config,
    Env,
    Framework,
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
from trainrx.cli._view import format_option, show, view
from trainrx.model.errors import UsageError
from trainrx.model.result import Diagnosis

HELP = """\
Say why a fine-tuning job failed, or will fail, and which parameters to change.

PATH is a run folder, a launch script, a config or a log; - reads standard input. The kind of each
is found out from its content; the options say it for you.

\b
  diagnose --cmd launch.sh --log train.log --versions freeze.txt
  diagnose run_folder/ --gpu A100-80G --gpus 8 --lang zh
"""
EPILOG = """\
Other commands: fix FILE (the changed launch, proved), plan FILE (what works on which hardware),
retry LOG (does a restart help), lint FILE (defects before it runs), lsp (the same in an editor),
translate FILE (to another version), estimate FILE (the GPU memory it takes), inspect FILE (what
a launch sets), diff GOOD BAD, explain ID, kb check|test|new|list (a file of that name:
./inspect)."""


class EngineChoice(str, Enum):
    """The inference engines; both conclude the same."""

    durable = "durable"
    reference = "reference"


class FailOn(str, Enum):
    """From which certainty on the exit status is 1."""

    none = "none"
    possible = "possible"
    likely = "likely"


Good = Annotated[
    Path | None,
    typer.Option("--good", metavar="FILE", help="A launch that worked, to compare with."),
]
FormatOption = Annotated[str, format_option("Diagnosis")]
Top = Annotated[int, typer.Option("--top", metavar="N", min=1, help="Show at most so many causes.")]
Explain = Annotated[
    bool, typer.Option("--explain", help="Show everything, with the terms of each score.")
]
EngineOption = Annotated[EngineChoice, typer.Option("--engine", help="Inference engine.")]
Redact = Annotated[
    bool, typer.Option("--redact", help="Mask secrets (markdown always masks them).")
]
FailOnOption = Annotated[
    FailOn, typer.Option("--fail-on", help="Exit with 1 when a cause is at least so certain.")
]
Version = Annotated[bool, typer.Option("--version", "-V", help="Show the version and exit.")]

app = make_app()


@app.command(help=HELP, epilog=EPILOG)
def diagnose(  # noqa: PLR0913 - typer takes one parameter per option
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
    framework: Framework = None,
    good: Good = None,
    model_config: ModelConfig = None,
    form: FormatOption = "text",
    lang: LangOption = None,
    top: Top = 5,
    kb: KbOption = None,
    rules: RulesOption = None,
    explain: Explain = False,
    engine: EngineOption = EngineChoice.durable,
    redact: Redact = False,
    fail_on: FailOnOption = FailOn.none,
    width: WidthOption = None,
    version: Version = False,
) -> int:
    """Diagnose a job."""
    if version:
        from trainrx.model.version import __version__

        return write(f"trainrx {__version__}\n")
    files = (*(paths or ()), *(cmd or ()), *(config or ()), *(log or ()))
    installed = versions_of(versions, "--versions")
    listing = installed if isinstance(installed, Path) else None
    single = tuple(f for f in (env, listing, good, model_config) if f is not None)
    _refuse_nothing((*files, *single), note or [])
    _refuse_misplaced_command(paths or [])
    seen = view(language(lang), width, everything=explain)

    from trainrx import api

    answer = api.diagnose(
        paths or (),
        cmd=cmd or (),
        config=config or (),
        env=env,
        versions=installed,
        logs=log or (),
        gpu=gpu,
        gpus=gpus,
        nodes=nodes,
        note=note or (),
        framework=framework,
        good=good,
        model_config=model_config,
        lang=seen.lang,
        top=top,
        kb=kb or (),
        rules=rules or (),
        engine=engine.value,
        stdin=read_stdin((*files, *single)),
    )
    return show(answer, form, seen, redact=redact) or failing(answer, fail_on)


def failing(answer: Diagnosis, fail_on: FailOn) -> int:
    """Give 1 when a cause is at least as certain as asked, else 0."""
    found = {cause.verdict for cause in answer.causes}
    if fail_on is FailOn.likely:
        return int("likely" in found)
    return int(fail_on is FailOn.possible and bool(found))


def run(words: list[str]) -> int:
    """Run the command on the words of the command line."""
    return run_app(app, words)


def _refuse_nothing(files: tuple[Path, ...], note: list[str]) -> None:
    if files or note:
        return
    raise UsageError(
        "nothing to read: give a launch script, a log or a run folder, for example\n"
        "  diagnose --cmd launch.sh --log train.log\n"
        "  tail -n 2000 train.log | diagnose -\n"
        "`diagnose --help` shows all options."
    )


def _refuse_misplaced_command(paths: list[Path]) -> None:
    """Notice `diagnose --lang zh explain ID`: the command must come first."""
    for path in paths:
        name = str(path)
        if name in commands() and not path.exists():
            raise UsageError(
                f"there is no file {name!r} here; the command {name!r} must be the first word: "
                f"diagnose {name} ..."
            )
