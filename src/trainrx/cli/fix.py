"""`diagnose fix`: the changed launch, proved before it is shown."""

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
from trainrx.model.errors import UsageError
from trainrx.model.fixing import FixAnswer
from trainrx.render.document import View

HELP = """\
Print the changes that make a launch work, as a patch of your own files.

PATH is a launch script, a config, a log or a run folder; - reads standard input. Each change is
made on a copy, which is parsed, checked and estimated again: what fails a check is not shown. Lines
that begin with # say why; patch and git apply pass over them.
Exit status 0: there is a proved change, or nothing to fix, 1: nothing was proved, something else
still stops the launch, or nothing can be told, 2: wrong use.

\b
  diagnose fix launch.sh --log train.log --versions freeze.txt --gpu A100-80G
  diagnose fix launch.sh --log train.log > fix.patch && patch -p1 < fix.patch
  diagnose fix launch.sh --gpu 24GiB --gpus 8 --keep max_length --plan 2 --write
"""


class Form(str, Enum):
    """The forms an answer comes in."""

    text = "text"
    json = "json"
    markdown = "markdown"


Keep = Annotated[
    list[str] | None,
    typer.Option("--keep", metavar="NAME,...", help="Parameters that must stay as they are."),
]
Plan = Annotated[
    int, typer.Option("--plan", metavar="N", min=1, help="Which proposal to show or write.")
]
DiffOption = Annotated[bool, typer.Option("--diff", help="Print a patch (the default).")]
Write = Annotated[
    bool,
    typer.Option("--write", help="Change the files, keeping the old ones as .bak."),
]
FormatOption = Annotated[Form, typer.Option("--format", help="Form of the answer.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show all that was tried and every check.")
]

app = make_app()


@app.command(help=HELP)
def fix(  # noqa: PLR0913 - typer takes one parameter per option
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
    data: Data = None,
    keep: Keep = None,
    plan: Plan = 1,
    diff: DiffOption = False,
    write_: Write = False,
    form: FormatOption = Form.text,
    lang: LangOption = None,
    verbose: Verbose = False,
    kb: KbOption = None,
    rules: RulesOption = None,
    width: WidthOption = None,
) -> int:
    """Fix a launch."""
    files = (*(paths or ()), *(cmd or ()), *(config or ()), *(log or ()))
    if not files:
        raise UsageError(
            "nothing to fix: give a launch script or a config, for example\n"
            "  diagnose fix launch.sh --log train.log --gpu A100-80G"
        )
    if diff and write_:
        raise UsageError("--diff prints the change and --write makes it: give one of the two")
    seen = view(language(lang), width, everything=verbose)
    single: tuple[Path, ...] = () if env is None else (env,)

    from trainrx.prove.fixing import fix_launch

    answer = fix_launch(
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
        data=data,
        keep=names_of(keep),
        plan=plan,
        lang=seen.lang,
        kb=kb or (),
        rules=rules or (),
        stdin=read_stdin((*files, *single)),
    )
    if write_:
        answer = written(answer)
    status = write(rendered(answer, form, seen), utf8=form is Form.json)
    return status or int(answer.verdict not in ("proved", "checked", "nothing-to-fix"))


def names_of(given: list[str] | None) -> tuple[str, ...]:
    """Take `--keep a,b --keep c` apart."""
    return tuple(name.strip() for text in given or () for name in text.split(",") if name.strip())


def written(answer: FixAnswer) -> FixAnswer:
    """Write the chosen proposal into its files.

    Raises:
        UsageError: a file was changed since it was read, stands on standard input, or cannot be
            written; nothing was changed then.
    """
    import msgspec

    from trainrx.fix.patch import write_files

    chosen = next((item for item in answer.proposals if item.number == answer.chosen), None)
    if chosen is None or not chosen.patched.files:
        return answer
    if any(file.name in ("-", "<stdin>") for file in chosen.patched.files):
        raise UsageError("--write cannot change standard input: give the file by its name")
    done = write_files(chosen.patched, Path.cwd())
    return msgspec.structs.replace(
        answer,
        written=tuple(_shown(one.file) for one in done),
        backups=tuple("" if one.backup is None else _shown(one.backup) for one in done),
    )


def _shown(path: Path) -> str:
    here = Path.cwd().resolve()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def rendered(answer: FixAnswer, form: Form, seen: View) -> str:
    """Give the answer in the form that was asked for."""
    # each form imports only what it needs
    if form is Form.json:
        from trainrx.render.fix_json import as_json

        return as_json(answer)
    if form is Form.markdown:
        from trainrx.render.fix_markdown import to_markdown

        return to_markdown(answer, seen.lang)
    from trainrx.render.fix import fix_page

    return styled(fix_page(answer, seen))


def run(words: list[str]) -> int:
    """Run the command on the words that follow its name."""
    return run_app(app, words or ["--help"], "fix")
