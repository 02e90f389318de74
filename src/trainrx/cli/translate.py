"""`diagnose translate`: a launch in the words of another version of its framework."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from trainrx.cli._commands import make_app, run_app
from trainrx.cli._inputs import Cmd, Config, Paths
from trainrx.cli._options import KbOption, LangOption, WidthOption, language
from trainrx.cli._output import complain, write
from trainrx.cli._stdin import read_stdin
from trainrx.cli._versions import versions_of
from trainrx.cli._view import styled, view
from trainrx.model.errors import UsageError

if TYPE_CHECKING:
    from trainrx.model.translation import Translation

HELP = """\
Write a launch for another version of its framework: names, values, defaults that changed.

PATH is a launch script or a config; - reads standard input. Exits with 1 when an argument has no
counterpart and a person must decide.

\b
  diagnose translate launch.sh --to ms-swift==4.6
  diagnose translate launch.sh --from ms-swift==2.6.1 --to ms-swift==3.2 --diff
"""


class Form(str, Enum):
    """The forms an answer comes in."""

    text = "text"
    json = "json"


To = Annotated[
    str | None, typer.Option("--to", metavar="NAME==VERSION", help="The version wanted.")
]
From = Annotated[
    str | None,
    typer.Option(
        "--from", metavar="NAME==VERSION", help="The version it is written for; else by its names."
    ),
]
Diff = Annotated[bool, typer.Option("--diff", help="Print the edits of the files as a diff.")]
Write = Annotated[bool, typer.Option("--write", help="Edit the files; the old ones stay as .bak.")]
FormatOption = Annotated[Form, typer.Option("--format", help="Form of the answer.")]
All = Annotated[bool, typer.Option("--all", help="Show unchanged arguments and every default.")]

app = make_app()


@app.command(help=HELP)
def translate(  # noqa: PLR0913 - typer takes one parameter per option
    paths: Paths = None,
    *,
    to: To = None,
    from_: From = None,
    cmd: Cmd = None,
    config: Config = None,
    diff: Diff = False,
    write_: Write = False,
    form: FormatOption = Form.text,
    lang: LangOption = None,
    everything: All = False,
    kb: KbOption = None,
    width: WidthOption = None,
) -> int:
    """Translate the launches of some files."""
    files = (*(paths or ()), *(cmd or ()), *(config or ()))
    if not files:
        raise UsageError(
            "nothing to translate: give a launch script or a config, for example\n"
            "  diagnose translate launch.sh --to ms-swift==4.6"
        )
    if diff and write_:
        raise UsageError("--diff shows the edits, --write makes them: give one of them")
    seen = view(language(lang), width, everything=everything)

    from trainrx.render.inspect_mask import masked
    from trainrx.translate.launch import translate as run_translation

    answer = run_translation(
        paths or (),
        to=_versions(to, "--to", wanted=True),
        from_=_versions(from_, "--from"),
        cmd=cmd or (),
        config=config or (),
        lang=seen.lang,
        kb=kb or (),
        stdin=read_stdin(files),
        edits=True,
    )
    status = 0 if all(item.complete for item in answer.launches) and not answer.by_hand else 1
    if write_:
        from trainrx.render.translate import written_text
        from trainrx.translate.launch import write_edits

        done = write_edits(answer)
        _say_by_hand(answer)
        return write(written_text(done, seen.lang)) or status
    if diff:
        from trainrx.translate.launch import diff_of

        _say_by_hand(answer)
        return write(diff_of(answer)) or status
    answer = masked(answer)
    if form is Form.json:
        from trainrx.render.translate_json import as_json

        return write(as_json(answer), utf8=True) or status
    from trainrx.render.translate import translation_page

    return write(styled(translation_page(answer, seen))) or status


def _say_by_hand(answer: Translation) -> None:
    """Say on standard error what the edits leave to a person."""
    from trainrx.render.inspect_mask import masked

    safe = masked(answer)
    for item in safe.launches:
        for one in item.arguments:
            if one.outcome in ("missing", "stranger"):
                complain(f"{one.given}: {one.why}")
        for refused in item.refused:
            complain(f"{refused.given.strip()}: {refused.reason}")
    for line in safe.by_hand:
        complain(line)


def _versions(given: str | None, option: str, *, wanted: bool = False) -> dict[str, str]:
    """Read `name==version`, one or several.

    Raises:
        UsageError: it is missing where it must be given, or names no version.
    """
    if given is None and not wanted:
        return {}
    found = versions_of(given, option) if given and "=" in given else None
    if not isinstance(found, dict):
        raise UsageError(
            f"{option} {given or ''}: expected a framework and a version, "
            f"for example {option} ms-swift==4.6"
        )
    return found


def run(words: list[str]) -> int:
    """Run the command on the words that follow its name."""
    return run_app(app, words or ["--help"], "translate")
