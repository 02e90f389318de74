"""Read a launch script (or one pasted command) by evaluating it statically."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice

from trainrx.model.job import Defect, EnvVar, Script
from trainrx.shell.context import Context
from trainrx.shell.directives import allotted, directives_of
from trainrx.shell.interpreter import Interpreter
from trainrx.shell.limits import MAX_TEXT, Budget, TooMuch
from trainrx.shell.prepare import prepare
from trainrx.shell.record import Record
from trainrx.shell.scripts import evaluate
from trainrx.shell.sources import SourcePosition, in_file
from trainrx.shell.state import State
from trainrx.shell.values import Unknowns, without_marks

_UNITS = 150_000
_MAX_INHERITED = 2000


def read_script(
    text: str,
    source: str,
    inherited: Mapping[str, str] | None = None,
    files: Callable[[str], str | None] | None = None,
) -> Script:
    """Say which commands a script would start, with which words and environment.

    Nothing is run, and no file is looked at but through `files`. A word's line is its own, also in
    a continued command, an array or a script given to `bash -c`; words of a variable stand where it
    was set. Text beyond 128 KiB, and what asks for more work than a launch script needs, goes into
    `unread`.

    Args:
        text: The script, or a command as pasted from a terminal.
        source: The name under which origins cite it.
        inherited: Environment variables given besides the script. They supply values; `env` of a
            command lists only what the script itself sets.
        files: Gives the text of a file by its name as written (a path relative to the script, for
            one named by way of `$(dirname $0)`), None when it is not at hand. It decides which
            files may be looked at; without it none is.
    """
    prepared = prepare(text, source)
    directives = directives_of(prepared)
    pairs = islice((inherited or {}).items(), _MAX_INHERITED)
    own = allotted(directives)
    given = own | {name: without_marks(value) for name, value in pairs}
    state = State(given, Unknowns(), Budget(_UNITS))
    state.scheduled = bool(directives)
    record = Record(source, prepared.lines, state)
    context = Context(state, record, SourcePosition(prepared.lines), files or _no_file)
    Interpreter(context)
    if prepared.cut:
        record.add_unread(f"only the first {MAX_TEXT // 1024} KiB are read", 1)
    env: tuple[EnvVar, ...] = ()
    try:
        evaluate(context, prepared.text)
        env = record.environment()
    except (TooMuch, RecursionError) as error:
        record.add_unread(f"evaluation stopped: {error}", context.place.first)
    record.finish()
    return Script(
        source=source,
        text=prepared.shown,
        commands=tuple(record.commands),
        env=env,
        directives=directives,
        env_complete=record.env_complete,
        defects=_defects(prepared.defects, record.defects),
        unread=record.unread,
        files=tuple(record.files),
        written=tuple(
            (name, state.unknowns.show(item.text), in_file(item.line))
            for name, item in context.written.items()
        ),
    )


def _defects(looks: Sequence[Defect], runs: Sequence[Defect]) -> tuple[Defect, ...]:
    """Join the defects seen in the text and those seen in the evaluation, each place once.

    Of the same one the evaluation knows more, unless it does not know the column.
    """
    places = {(item.id, item.source, item.line) for item in runs if item.column is not None}
    kept = [item for item in looks if (item.id, item.source, item.line) not in places]
    places = {(item.id, item.source, item.line) for item in kept}
    more = (item for item in runs if (item.id, item.source, item.line) not in places)
    return tuple(sorted((*kept, *more), key=lambda item: item.line))


def _no_file(_name: str) -> str | None:
    return None
