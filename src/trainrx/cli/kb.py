"""`diagnose kb check|test|new|list`: work on the knowledge base."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, get_args

import typer

from trainrx.cli._commands import make_app, run_app
from trainrx.cli._options import KbOption, LangOption, RulesOption, WidthOption, language
from trainrx.cli._output import write
from trainrx.cli._scaffold import scaffold
from trainrx.cli._view import styled, view
from trainrx.kb.load import load
from trainrx.model.errors import UsageError
from trainrx.model.knowledge import Family
from trainrx.render.listing import listing

app = make_app(
    "Check, test, list and extend the knowledge base.",
)


class Kind(str, Enum):
    """The kinds of entry that can be scaffolded."""

    cause = "cause"
    symptom = "symptom"


@app.command("check", help="Refuse entries that are malformed or contradict each other.")
def run_checks(kb: KbOption = None) -> int:
    """Check the shipped knowledge and the folders given; 1 when something is wrong."""
    # the checks compile every pattern; no other command needs them
    from trainrx.kb import check as checks

    said: list[str] = []
    status = checks.main(said.append, kb or ())
    return write("\n".join(said) + "\n") or status


@app.command("test", help="Run the tests that stand beside causes and rules.")
def run_tests(kb: KbOption = None, rules: RulesOption = None) -> int:
    """Run every `<id>.test.yaml`; 1 when an expectation does not hold."""
    # only this command needs the whole pipeline
    from trainrx.api import entry_tests

    said: list[str] = []
    status = entry_tests.main(said.append, kb or (), rules or ())
    return write("\n".join(said) + "\n") or status


@app.command("list", help="List all entries: id, kind, family, title.")
def list_entries(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[WORD]...", show_default=False)
    ] = None,
    family: Annotated[str | None, typer.Option("--family", help="Only of this family.")] = None,
    lang: LangOption = None,
    kb: KbOption = None,
    rules: RulesOption = None,
    width: WidthOption = None,
) -> int:
    """List entries that hold all the words in id, kind or title."""
    if family is not None:
        _family(family)
    seen = view(language(lang), width)
    knowledge = load(kb or (), rules or ())
    lines = listing(knowledge, seen, words=words or (), family=family)
    return write(styled(lines))


@app.command("new", help="Write a new entry to fill in, and its test.")
def new(
    kind: Annotated[Kind, typer.Argument(help="cause or symptom")],
    ident: Annotated[str, typer.Argument(metavar="ID", help="Lower-case words and dashes.")],
    family: Annotated[str, typer.Option("--family", help=", ".join(get_args(Family)))],
    kb: Annotated[
        Path | None, typer.Option("--kb", metavar="DIR", help="Where to write; default ./kb.")
    ] = None,
) -> int:
    """Scaffold an entry."""
    today = dt.datetime.now(tz=dt.timezone.utc).date().isoformat()
    written = scaffold(kind.value, ident, _family(family), kb or Path("kb"), today)
    return write(_wrote(written))


def run(words: list[str]) -> int:
    """Run the command on the words that follow its name."""
    return run_app(app, words or ["--help"], "kb")


def _family(name: str) -> Family:
    known: tuple[Family, ...] = get_args(Family)
    for family in known:
        if family == name:
            return family
    raise UsageError(f"there is no family {name!r}; the families are {', '.join(known)}")


def _wrote(paths: Sequence[Path]) -> str:
    listed = "".join(f"wrote {path}\n" for path in paths)
    return f"{listed}fill in what stands in capitals, then run: diagnose kb check\n"
