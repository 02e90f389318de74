"""`diagnose fix`: the changed launch, proved before it is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from trainrx.cli import make_app
from trainrx.cli._options import (
    JOB,
    KNOWN,
    Answered,
    Data,
    Display,
    Good,
    KeepOption,
    names_of,
    takes,
)
from trainrx.cli._output import format_option, show, view
from trainrx.cli._progress import progress
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.request import Request
from trainrx.model.errors import UsageError
from trainrx.model.fixing import FixAnswer
from trainrx.model.job import NO_FILES

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


class ChosenChange(msgspec.Struct):
    """Which change is asked for, and where it goes."""

    keep: KeepOption = None
    plan: Annotated[
        int, typer.Option("--plan", metavar="N", min=1, help="Which proposal to show or write.")
    ] = 1
    diff: Annotated[bool, typer.Option("--diff", help="Print a patch (the default).")] = False
    write: Annotated[
        bool, typer.Option("--write", help="Change the files, keeping the old ones as .bak.")
    ] = False


Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show all that was tried and every check.")
]

FormOption = Annotated[str, format_option("FixAnswer")]

app = make_app()


@app.command(help=HELP)
@takes(*JOB, Good, Answered, Data, *KNOWN)
def fix(
    request: Request,
    change: ChosenChange,
    display: Display,
    *,
    form: FormOption = "text",
    verbose: Verbose = False,
) -> int:
    """Fix a launch."""
    if not request.files:
        raise UsageError(
            "nothing to fix: give a launch script or a config, for example\n"
            "  diagnose fix launch.sh --log train.log --gpu A100-80G"
        )
    if change.diff and change.write:
        raise UsageError("--diff prints the change and --write makes it: give one of the two")
    seen = view(request.lang, display.width, display.level, everything=verbose)

    from trainrx.verdict.fixing import fix_launch

    with progress(request.lang, form):
        answer = fix_launch(
            request,
            LoadedKnowledge(request.kb, request.rules),
            keep=names_of(change.keep),
            plan=change.plan,
        )
    if change.write:
        answer = written(answer)
    done = answer.verdict in ("proved", "checked", "nothing-to-fix")
    return show(answer, form, seen) or int(not done)


def written(answer: FixAnswer) -> FixAnswer:
    """Write the chosen proposal into its files.

    Raises:
        UsageError: a file was changed since it was read, stands on standard input, or cannot be
            written; nothing was changed then.
    """
    from trainrx.fix.patch import write_files

    chosen = next((item for item in answer.proposals if item.number == answer.chosen), None)
    if chosen is None or not chosen.patched.files:
        return answer
    if any(file.name in NO_FILES for file in chosen.patched.files):
        raise UsageError(
            "--write changes files, and neither standard input nor a command in words is one: give "
            "the launch by the name of its file"
        )
    done = write_files(chosen.patched, Path.cwd())
    return msgspec.structs.replace(
        answer,
        written=tuple(_shown(one.file) for one in done),
        backups=tuple("" if one.backup is None else _shown(one.backup) for one in done),
    )


def _shown(path: Path) -> str:
    here = Path.cwd().resolve()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
