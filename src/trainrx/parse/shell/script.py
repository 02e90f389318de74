"""Read a launch script (or one pasted command) by evaluating it statically."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice

from trainrx.model.job import EnvVar, Script
from trainrx.parse.shell.context import Context
from trainrx.parse.shell.interpreter import Interpreter
from trainrx.parse.shell.limits import MAX_TEXT, Budget, TooMuch
from trainrx.parse.shell.prepare import Prepared, prepare
from trainrx.parse.shell.reader import Reader
from trainrx.parse.shell.record import Place, Record
from trainrx.parse.shell.state import State
from trainrx.parse.shell.unknown import Unknowns, without_marks

_DIRECTIVE = re.compile(
    r"^#(?:SBATCH|BSUB|PBS|\$)[ \t]+-{1,2}(?P<name>[A-Za-z][\w-]*)(?:[= \t]+(?P<value>[^\n]*))?$",
    re.MULTILINE,
)
_UNITS = 150_000
_MAX_INHERITED = 2000


def read_script(text: str, source: str, inherited: Mapping[str, str] | None = None) -> Script:
    """Say which commands a script would start, with which words and environment.

    Nothing is run and no file is looked at. A word's line is its own, also in a continued command,
    an array or a script given to `bash -c`; words of a variable stand where it was set. Text beyond
    128 KiB, and what asks for more work than a launch script needs, goes into `unread`.

    Args:
        text: The script, or a command as pasted from a terminal.
        source: The name under which origins cite it.
        inherited: Environment variables given besides the script. They supply values; `env` of a
            command lists only what the script itself sets.
    """
    prepared = prepare(text, source)
    directives = _directives(prepared)
    pairs = islice((inherited or {}).items(), _MAX_INHERITED)
    given = {name: without_marks(value) for name, value in pairs}
    state = State(given, Unknowns(), Budget(_UNITS))
    state.scheduled = bool(directives)
    record = Record(source, prepared.lines, state)
    context = Context(state, record, Place(prepared.lines))
    if prepared.cut:
        record.add_unread(f"only the first {MAX_TEXT // 1024} KiB are read", 1)
    env: tuple[EnvVar, ...] = ()
    try:
        _evaluate(prepared.text, context)
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
        defects=tuple(sorted((*prepared.defects, *record.defects), key=lambda item: item.line)),
        unread=record.unread,
    )


def _evaluate(text: str, context: Context) -> None:
    interpreter = Interpreter(context)
    reader = Reader(text, context.budget)
    for node in reader.commands():
        interpreter.run(node)
        if context.stop:
            break
    if reader.stopped:
        reason = "the script is too tangled to be read as a whole; its lines were read one by one"
        context.record.add_unread(reason, context.place.first)
    if reader.errors:
        line = context.place.line(min(reader.errors))
        context.record.add_unread("bash would not accept this line as it stands", line)


def _directives(prepared: Prepared) -> tuple[tuple[str, str, int], ...]:
    found = []
    for match in _DIRECTIVE.finditer(prepared.text):
        value = re.sub(r"\s+#.*", "", match["value"] or "").strip()
        found.append((match["name"], value, prepared.lines.number(match.start())))
    return tuple(found[:1000])
