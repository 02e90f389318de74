"""`diagnose diff`: what differs between a launch that worked and one that does not."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from trainrx.cli import make_app
from trainrx.cli._options import (
    KNOWN,
    Display,
    Installed,
    Machine,
    takes,
    versions_of,
)
from trainrx.cli._output import format_option, read_stdin, show, view
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.request import Request

HELP = """\
Show what differs between two launches once both are resolved, defaults included.

GOOD and BAD are launch scripts, configs or run folders; - reads standard input. Arguments that were
renamed between the two versions are compared as one. Exit status 0: the same in what matters,
1: different, 2: wrong use.

\b
  diagnose diff launch_2x.sh launch_3x.sh --versions-good ms-swift==2.6.1 \\
    --versions-bad ms-swift==3.1.1
"""
Good = Annotated[Path, typer.Argument(metavar="GOOD", show_default=False, hidden=True)]
Bad = Annotated[Path, typer.Argument(metavar="BAD", show_default=False, hidden=True)]


class SideVersions(msgspec.Struct):
    """The versions of each side, where they are not those of both."""

    versions_good: Annotated[
        str | None,
        typer.Option("--versions-good", metavar="FILE|NAME==VERSION", help="--versions of GOOD."),
    ] = None
    versions_bad: Annotated[
        str | None,
        typer.Option("--versions-bad", metavar="FILE|NAME==VERSION", help="--versions of BAD."),
    ] = None


All = Annotated[bool, typer.Option("--all", help="Show every difference, of defaults too.")]

FormOption = Annotated[str, format_option("Comparison")]

app = make_app()


@app.command(help=HELP)
@takes(Installed, Machine, *KNOWN)
def diff(
    request: Request,
    good: Good,
    bad: Bad,
    versions: SideVersions,
    display: Display,
    *,
    form: FormOption = "text",
    everything: All = False,
) -> int:
    """Compare two launches; 1 when they differ in what matters."""
    seen = view(request.lang, display.width, display.level, everything=everything)
    stdin = read_stdin((str(good), str(bad)))
    if stdin is not None:
        request = msgspec.structs.replace(request, stdin=stdin)

    from trainrx.inspect.comparison import compare_launches, side

    answer = compare_launches(
        side(request, good, versions_of(versions.versions_good, "--versions-good")),
        side(request, bad, versions_of(versions.versions_bad, "--versions-bad")),
        LoadedKnowledge(request.kb, request.rules),
    )
    return show(answer, form, seen) or int(answer.verdict == "differs")
