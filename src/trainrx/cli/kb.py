"""`diagnose kb check|test|format|new|list`: work on the knowledge base."""

from __future__ import annotations

import datetime as dt
import shlex
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, get_args

import typer

from trainrx.cli import make_app
from trainrx.cli._options import KNOWN, Language, WidthOption, takes
from trainrx.cli._output import show_page, view, write
from trainrx.cli._scaffold import named, scaffold
from trainrx.knowledge.lint import load_lint
from trainrx.knowledge.load import load, shared_fixes
from trainrx.knowledge.places import shipped
from trainrx.knowledge.store import Entry
from trainrx.launch.request import Request
from trainrx.model.errors import UsageError
from trainrx.model.knowledge import Family
from trainrx.render.explain import listing

app = make_app(
    "Check, test, list and extend the knowledge base.",
)


class KindName(str, Enum):
    """The kinds of entry that can be scaffolded."""

    cause = "cause"
    symptom = "symptom"
    guard = "guard"
    rule = "rule"
    package = "package"
    parameter = "parameter"
    fact = "fact"
    protocol = "protocol"


@app.command("check", help="Say all that is wrong with entries, each with its file and line.")
@takes(*KNOWN)
def run_checks(
    request: Request,
    idents: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", show_default=False, help="Say only what concerns these."),
    ] = None,
    *,
    warnings: Annotated[bool, typer.Option("--warnings", help="Say warnings too.")] = False,
) -> int:
    """Check the shipped knowledge and the folders given; 1 when something is wrong."""
    # no other command needs the checks, and only two the record of a test
    from trainrx.entries import check as checks
    from trainrx.entries.tests import CaseFile

    said: list[str] = []
    status = checks.main(
        said.append,
        *_folders(request),
        today=dt.datetime.now(tz=dt.timezone.utc).date(),
        tests=CaseFile,
        idents=idents or (),
        warnings=warnings,
    )
    return write("\n".join(said) + "\n") or status


@app.command("test", help="Run the tests that stand beside causes and rules.")
@takes(*KNOWN)
def run_tests(request: Request) -> int:
    """Run every `<id>.test.yaml`; 1 when an expectation does not hold."""
    # only this command needs the whole pipeline
    from trainrx.entries import tests as entry_tests

    said: list[str] = []
    status = entry_tests.main(said.append, *_folders(request))
    return write("\n".join(said) + "\n") or status


@app.command("format", help="Write entries in their one form: block style, 100 columns.")
@takes(*KNOWN)
def write_form(
    request: Request,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH|ID]...", show_default=False, help="Only these files, folders, entries."
        ),
    ] = None,
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; 1 when a file is not in that form.")
    ] = False,
) -> int:
    """Format the shipped knowledge and the folders given, or only what is named.

    Raises:
        UsageError: a name is no path and no entry.
    """
    # PyYAML is not imported by the other commands
    from trainrx.entries.form import reformed

    kb, rules = _folders(request)
    roots = (*shipped(), *kb, *rules)
    wanted = [path for name in names or () for path in _files_of(name, roots)]
    changed = tuple(reformed(wanted or roots))
    for path, text in () if check else changed:
        path.write_text(text, encoding="utf-8")
    said = "would write" if check else "wrote"
    listed = "".join(f"{said} {path}\n" for path, _ in changed)
    return write(f"{listed}{len(changed)} changed\n") or int(check and bool(changed))


@app.command("list", help="List all entries: id, kind, family, title.")
@takes(*KNOWN)
def list_entries(
    request: Request,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WORD]...",
            show_default=False,
            help="Only what holds all of these in id, kind, title, or in lines it is known by.",
        ),
    ] = None,
    family: Annotated[str | None, typer.Option("--family", help="Only of this family.")] = None,
    *,
    width: WidthOption = None,
) -> int:
    """List entries that hold all the words in id, kind, title, patterns or samples."""
    if family is not None:
        _family(family)
    seen = view(request.lang, width)
    knowledge = load(request.kb, request.rules)
    of_lint, fixes = load_lint(request.kb, request.rules).rules, shared_fixes(request.kb)
    more: tuple[Entry, ...] = (*of_lint.values(), *fixes.values())
    listed = listing(knowledge, seen, terms=words or (), family=family, more=more)
    return show_page(listed, seen)


@app.command("new", help="Write a new entry to fill in, and its test.")
@takes(Language)
def new(
    _request: Request,
    kind: Annotated[KindName, typer.Argument(help="What to write.")],
    ident: Annotated[
        str,
        typer.Argument(
            metavar="FAMILY/ID",
            help="Where it belongs and its name: oom/my-state; of a guard the package comes first, "
            "of a rule the stage; a package, parameter, fact or protocol is its own name.",
        ),
    ],
    family: Annotated[
        str | None, typer.Option("--family", help="Instead of what stands before the slash.")
    ] = None,
    kb: Annotated[
        Path | None, typer.Option("--kb", metavar="DIR", help="Where to write; default ./kb.")
    ] = None,
    rules: Annotated[
        Path | None, typer.Option("--rules", metavar="DIR", help="Rules go here; default ./rules.")
    ] = None,
) -> int:
    """Scaffold an entry."""
    today = dt.datetime.now(tz=dt.timezone.utc).date().isoformat()
    name = named(kind.value, ident, family)
    written = scaffold(kind.value, name, kb or Path("kb"), rules or Path("rules"), today)
    own = f" --kb {shlex.quote(str(kb))}" if kb else ""
    own += f" --rules {shlex.quote(str(rules))}" if rules else ""
    return write(_wrote(written, name.ident, own))


def _folders(request: Request) -> tuple[list[Path], list[Path]]:
    return [Path(name) for name in request.kb], [Path(name) for name in request.rules]


def _files_of(name: str, roots: Sequence[Path]) -> tuple[Path, ...]:
    """Give the path of this name, else the files of the entry of this id, its test too."""
    if (path := Path(name)).exists():
        return (path,)
    wanted = (f"{name}.yaml", f"{name}.test.yaml")
    found = tuple(path for root in roots for path in root.rglob("*.yaml") if path.name in wanted)
    if not found:
        raise UsageError(f"{name!r} is no file, no folder and no entry")
    return found


def _family(name: str) -> Family:
    known: tuple[Family, ...] = get_args(Family)
    for family in known:
        if family == name:
            return family
    raise UsageError(f"there is no family {name!r}; the families are {', '.join(known)}")


def _wrote(paths: Sequence[Path], ident: str, own: str) -> str:
    listed = "".join(f"wrote {path}\n" for path in paths)
    return (
        f"{listed}every FILL_IN is yours; what is left to do says: diagnose kb check {ident}{own}\n"
    )
