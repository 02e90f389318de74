"""`diagnose translate`: a launch in the words of another version of its framework."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from trainrx.cli import make_app
from trainrx.cli._options import (
    KNOWN,
    Display,
    Installed,
    LaunchOptions,
    takes,
    versions_of,
)
from trainrx.cli._output import complain, format_option, show, view, write, write_patch
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.request import Request
from trainrx.model.errors import UsageError

if TYPE_CHECKING:
    from trainrx.model.translation import Translation
    from trainrx.render.document import View

HELP = """\
Write a launch for another version of its framework: names, values, defaults that changed.

PATH is a launch script or a config; - reads standard input. Exits with 1 when an argument has no
counterpart and a person must decide.

\b
  diagnose translate launch.sh --to ms-swift==4.6
  diagnose translate launch.sh --from ms-swift==2.6.1 --to ms-swift==3.2 --diff
"""


class TranslationOptions(msgspec.Struct):
    """From which version to which, and what becomes of the files."""

    to: Annotated[
        str | None, typer.Option("--to", metavar="NAME==VERSION", help="The version wanted.")
    ] = None
    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="NAME==VERSION",
            help="The version it is written for; else that of --versions, or by its names.",
        ),
    ] = None
    diff: Annotated[
        bool, typer.Option("--diff", help="Print the edits of the files as a diff.")
    ] = False
    write: Annotated[
        bool, typer.Option("--write", help="Edit the files; the old ones stay as .bak.")
    ] = False


All = Annotated[bool, typer.Option("--all", help="Show unchanged arguments and every default.")]

FormOption = Annotated[str, format_option("Translation")]

app = make_app()


@app.command(help=HELP)
@takes(LaunchOptions, Installed, *KNOWN)
def translate(
    request: Request,
    way: TranslationOptions,
    display: Display,
    *,
    form: FormOption = "text",
    everything: All = False,
) -> int:
    """Translate the launches of some files."""
    if not request.files:
        raise UsageError(
            "nothing to translate: give a launch script or a config, for example\n"
            "  diagnose translate launch.sh --to ms-swift==4.6"
        )
    if way.diff and way.write:
        raise UsageError("--diff shows the edits, --write makes them: give one of them")
    seen = view(request.lang, display.width, display.level, everything=everything)

    from trainrx.translation.launch import translate as run_translation

    answer = run_translation(
        request,
        LoadedKnowledge(request.kb, request.rules),
        to=_versions(way.to, "--to", wanted=True),
        from_=_versions(way.from_, "--from"),
        edits=True,
    )
    status = 0 if all(item.complete for item in answer.launches) and not answer.by_hand else 1
    if way.write:
        from trainrx.render.translate import written_text
        from trainrx.translation.launch import write_edits

        done = write_edits(answer)
        _say_by_hand(answer, seen)
        return write(written_text(done, seen.lang), seen.redaction) or status
    if way.diff:
        from trainrx.translation.launch import diff_of

        _say_by_hand(answer, seen)
        return write_patch(diff_of(answer), seen) or status
    return show(answer, form, seen) or status


def _say_by_hand(answer: Translation, seen: View) -> None:
    """Say on standard error what the edits leave to a person."""
    from trainrx.render.redact import masked

    safe = masked(answer, seen.redaction)
    said = (seen.lang, seen.redaction)
    for item in safe.launches:
        for one in item.arguments:
            if one.outcome in ("missing", "stranger"):
                complain(f"{one.given}: {one.why}", *said)
        for refused in item.refused:
            complain(f"{refused.given.strip()}: {refused.reason}", *said)
    for line in safe.by_hand:
        complain(line, *said)


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
