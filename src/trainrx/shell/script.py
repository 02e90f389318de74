"""Read a launch script (or one pasted command) by evaluating it statically."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice

from trainrx.model.job import Defect, EnvVar, Script
from trainrx.model.pattern import late
from trainrx.shell.context import Context
from trainrx.shell.interpreter import Interpreter
from trainrx.shell.limits import MAX_TEXT, Budget, TooMuch
from trainrx.shell.prepare import Prepared, prepare
from trainrx.shell.record import Record
from trainrx.shell.scripts import evaluate
from trainrx.shell.sources import SourcePosition, in_file
from trainrx.shell.state import State
from trainrx.shell.values import Unknowns, without_marks

_SHORT = {
    "N": "nodes",
    "n": "ntasks",
    "c": "cpus-per-task",
    "J": "job-name",
    "p": "partition",
    "G": "gpus",
}
_SET: Mapping[str, tuple[str, ...]] = {
    "nodes": ("SLURM_NNODES", "SLURM_JOB_NUM_NODES"),
    "ntasks": ("SLURM_NTASKS", "SLURM_NPROCS"),
    "ntasks-per-node": ("SLURM_NTASKS_PER_NODE",),
    "cpus-per-task": ("SLURM_CPUS_PER_TASK",),
    "gpus": ("SLURM_GPUS",),
    "job-name": ("SLURM_JOB_NAME",),
    "partition": ("SLURM_JOB_PARTITION",),
}
"""Options and the variables that hold their value: sbatch(1), OUTPUT ENVIRONMENT VARIABLES.
https://slurm.schedmd.com/sbatch.html"""
_WORDS = frozenset({"job-name", "partition"})
_COUNT = late(r"[0-9]{1,6}")
_TYPED = late(r"(?:[A-Za-z][\w.-]{0,40}:)?([0-9]{1,4})")
_GPUS = late(r"(?:gres/)?gpu(?::[A-Za-z][\w.-]{0,40})?[:=]([0-9]{1,4})")


def allotted(directives: Iterable[tuple[str, str, int]]) -> dict[str, str]:
    """Give the variables whose value follows from the directives; a range (`2-4`) tells none."""
    found: dict[str, str] = {}
    for name, value, _ in directives:
        option = _SHORT.get(name, name)
        text = value.strip().strip("\"'")
        if option == "gres" and (match := _GPUS.fullmatch(text)) is not None:
            found["SLURM_GPUS_ON_NODE"] = match[1]
        elif option == "gpus-per-node" and (match := _TYPED.fullmatch(text)) is not None:
            found |= {"SLURM_GPUS_PER_NODE": text, "SLURM_GPUS_ON_NODE": match[1]}
        elif (option in _WORDS and "%" not in text) or _COUNT.fullmatch(text):
            found.update(dict.fromkeys(_SET.get(option, ()), text))
    nodes, each = found.get("SLURM_NNODES"), found.get("SLURM_NTASKS_PER_NODE")
    if nodes and each:
        found.setdefault("SLURM_NTASKS", str(int(nodes) * int(each)))
    return found


_DIRECTIVE = late(
    r"^#(?:SBATCH|BSUB|PBS|\$)[ \t]+-{1,2}(?P<name>[A-Za-z][\w-]*)(?:[= \t]+(?P<value>[^\n]*))?$",
    re.MULTILINE,
)
_SIGNS = ("#SBATCH", "#BSUB", "#PBS", "#$")
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
    directives = _directives(prepared)
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


def _directives(prepared: Prepared) -> tuple[tuple[str, str, int], ...]:
    found: list[tuple[str, str, int]] = []
    if not any(sign in prepared.text for sign in _SIGNS):
        return ()
    for match in _DIRECTIVE.finditer(prepared.text):
        value = re.sub(r"(?:^|\s)\s*#.*", "", match["value"] or "").strip()
        found.append((match["name"], value, prepared.lines.number(match.start())))
    return tuple(found[:1000])
