"""`diagnose diff`: what differs between a launch that worked and one that does not."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trainrx.cli._commands import make_app, run_app
from trainrx.cli._options import KbOption, LangOption, WidthOption, language
from trainrx.cli._output import write
from trainrx.cli._stdin import read_stdin
from trainrx.cli._versions import VERSIONS_HELP, versions_of
from trainrx.cli._view import styled, view
from trainrx.cli.inspect import Form

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
VersionsGood = Annotated[
    str | None,
    typer.Option("--versions-good", metavar="FILE|NAME==VERSION", help=VERSIONS_HELP),
]
VersionsBad = Annotated[
    str | None,
    typer.Option("--versions-bad", metavar="FILE|NAME==VERSION", help="The same for BAD."),
]
FormatOption = Annotated[Form, typer.Option("--format", help="Form of the answer.")]
All = Annotated[bool, typer.Option("--all", help="Show every difference, of defaults too.")]

app = make_app()


@app.command(help=HELP)
def diff(  # noqa: PLR0913 - typer takes one parameter per option
    good: Good,
    bad: Bad,
    *,
    versions_good: VersionsGood = None,
    versions_bad: VersionsBad = None,
    form: FormatOption = Form.text,
    lang: LangOption = None,
    everything: All = False,
    kb: KbOption = None,
    width: WidthOption = None,
) -> int:
    """Compare two launches; 1 when they differ in what matters."""
    seen = view(language(lang), width, everything=everything)
    stdin = read_stdin((good, bad))

    from trainrx.inspect.comparison import compare_launches
    from trainrx.render.inspect_mask import masked

    answer = compare_launches(
        good,
        bad,
        versions_good=versions_of(versions_good, "--versions-good"),
        versions_bad=versions_of(versions_bad, "--versions-bad"),
        lang=seen.lang,
        kb=kb or (),
        stdin=stdin,
    )
    found = int(answer.verdict == "differs")
    answer = masked(answer)
    if form is Form.json:
        from trainrx.render.inspect_json import as_json

        return write(as_json(answer), utf8=True) or found
    from trainrx.render.diff import diff_page

    return write(styled(diff_page(answer, seen))) or found


def run(words: list[str]) -> int:
    """Run the command on the words that follow its name."""
    return run_app(app, words or ["--help"], "diff")
