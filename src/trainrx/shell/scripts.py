"""Scripts started or sourced by a script: `source`, `bash x.sh`, `bash -c`, `ssh`, `eval`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from trainrx.model.pattern import late
from trainrx.shell.context import RAN, Context
from trainrx.shell.continuations import blanks_after_backslashes, comments_in_text
from trainrx.shell.directives import allotted, as_directives, as_options, directives_of, folder_told
from trainrx.shell.prepare import Prepared, prepare
from trainrx.shell.quotes import code_only, spans
from trainrx.shell.reader import ScriptReader, commands
from trainrx.shell.sources import Lines, SourcePosition
from trainrx.shell.state import FOLDER
from trainrx.shell.values import Field, Variable

_SHELLS = frozenset({"bash", "sh", "zsh", "dash"})
COMMAND_OPTION = late(r"-[a-z]*c")
_WRAPPERS = frozenset(
    {"nohup", "srun", "sbatch", "time", "sudo", "setsid", "timeout", "env", "nice", "stdbuf"}
    | {"mpirun", "mpiexec", "bsub", "qsub", "sshpass", "xargs", "parallel", "unbuffer", "flock"}
)
_SCRIPT_NAMES = (".sh", ".bash", ".sbatch", ".slurm")
_HARMLESS = late(r"(?:.*/)?(?:bin/activate|activate|conda\.sh|etc/profile)")
_REMOTE_VALUE = late(r"-[bcDEeFIiJLlmOopQRSwWBux]")
"""Options of ssh that take the next word."""
_SLIP = late(r"\\[ \t]+\n|\\\n[ \t]*#|\\[ \t]+#")
_MAX_FILES = 32
_MAX_NESTED = 6


def evaluate(context: Context, text: str) -> None:
    """Evaluate the text of a file and note what could not be read of it."""
    reader = ScriptReader(text, context.budget)
    for node in reader.commands():
        context.run(node)
        if context.stop:
            break
    if reader.stopped:
        reason = "the script is too tangled to be read as a whole; its lines were read one by one"
        context.record.add_unread(reason, context.place.first)
    if reader.errors:
        line = context.place.line(min(reader.errors))
        context.record.add_unread("bash would not accept this line as it stands", line)


class Scripts:
    """Runs other scripts in a context."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._read: dict[str, tuple[Prepared, int]] = {}
        self._nested = 0

    def run(self, fields: list[Field], prefix: dict[str, Variable]) -> bool:
        """Run a command that is itself a script; False when it is none, or not at hand."""
        names = [field.text.rpartition("/")[2] for field in fields]
        if fields[0].text in ("source", "."):
            self._source(fields)
            return True
        return (
            self._remote(fields, names)
            or self._given(fields, names, prefix)
            or self._file(fields, names, prefix)
        )

    def inner(self, script: Field) -> None:
        """Evaluate a script that is a word of this one."""
        context = self._context
        if len(script.text) < 2:
            return
        kept = context.place
        context.place = SourcePosition(Lines(script.text), script.line, fixed=not script.rows)
        if script.rows:
            _report_slips(context, script.text, context.place)
        for node in commands(script.text, context.budget):
            context.run(node)
        context.place = kept

    # Files at hand

    def _source(self, fields: list[Field]) -> None:
        context = self._context
        if len(fields) < 2:
            return
        shown = context.state.unknowns.show(fields[1].text)
        if _HARMLESS.fullmatch(shown):
            return
        found = self._load(fields[1].text)
        if found is None:
            reason = f"{shown[:200]} is sourced; what it sets is not visible here"
            context.record.hide_environment(reason, fields[0].line)
            return
        kept = context.state.positional
        if len(fields) > 2:
            context.state.positional = tuple(fields[2:])
        found()
        if len(fields) > 2:
            context.state.positional = kept
        if context.stop == "return":
            context.stop = ""

    def _load(self, name: str) -> Callable[[], None] | None:
        """Find a file; what is given evaluates it in the shell as it is then."""
        context = self._context
        if len(self._read) >= _MAX_FILES or self._nested >= _MAX_NESTED:
            return None
        found = context.find_file(name)
        if found is None:
            return None
        path, text = found
        written = context.written.get(path)
        if written is not None:
            return partial(self.inner, Field(text, written.line, written.rows))
        if path not in self._read:
            context.budget.spend(1 + len(text) // 16)
            prepared = prepare(text, path)
            first = context.record.add_file(path, prepared)
            self._read[path] = prepared, first
        return partial(self._evaluate, *self._read[path])

    def _evaluate(self, prepared: Prepared, first: int) -> None:
        context = self._context
        kept = context.place
        context.place = SourcePosition(prepared.lines, first)
        self._nested += 1
        evaluate(context, prepared.text)
        self._nested -= 1
        context.place = kept

    def _file(self, fields: list[Field], names: list[str], prefix: dict[str, Variable]) -> bool:
        """Evaluate `bash x.sh` or `./x.sh`; say so when that script is not at hand."""
        at = next((at for at, name in enumerate(names) if name in _SHELLS), -1) + 1
        found = _script_at(fields, at, wrapped=names[0] in _WRAPPERS)
        if found is None:
            return False
        text = fields[found].text
        named = text.endswith(_SCRIPT_NAMES)
        if not named and not (at and found == at) and text not in self._context.written:
            return False
        load = self._load(text)
        if load is None:
            if named:
                shown = self._context.state.unknowns.show(text)[:200]
                reason = f"{shown} is run from here; give that script as well"
                self._context.record.add_unread(reason, fields[found].line)
            return False
        wrapper: Sequence[Field] = fields[: at - 1] if at else fields[:found]
        if names[0] == "sbatch" and not at:
            wrapper, load = self._submitted(text, wrapper, load)
        self._child(load, fields[found + 1 :], prefix, wrapper=wrapper)
        return True

    def _submitted(
        self, text: str, wrapper: Sequence[Field], load: Callable[[], None]
    ) -> tuple[Sequence[Field], Callable[[], None]]:
        """Give what `sbatch` is told, its script's own lines first, and the script as a job has it.

        https://slurm.schedmd.com/sbatch.html: options of the command line go before directives.
        """
        found = self._context.find_file(text)
        known = None if found is None else self._read.get(found[0])
        if known is None:
            return wrapper, load
        prepared, first = known
        asked = directives_of(prepared)

        def run() -> None:
            state = self._context.state
            was, state.scheduled = state.scheduled, bool(asked)
            for name, value in allotted((*asked, *as_directives(wrapper[1:]))).items():
                if name not in state.variables:
                    state.variables[name] = Variable((Field(value),), 0, exported=True)
            load()
            state.scheduled = was

        return (wrapper[0], *as_options(asked, first), *wrapper[1:]), run

    # Scripts given as words or as standard input

    def _given(self, fields: list[Field], names: list[str], prefix: dict[str, Variable]) -> bool:
        """Evaluate `bash -c` and `bash <<EOF`."""
        for at, name in enumerate(names[:-2]):
            if name in _SHELLS and COMMAND_OPTION.fullmatch(names[at + 1]):
                load = partial(self.inner, fields[at + 2])
                self._child(load, fields[at + 4 :], prefix, wrapper=fields[:at])
                return True
        at = next((at for at, name in enumerate(names) if name in _SHELLS), len(names))
        end = next((end for end in range(at + 1, len(names)) if names[end][:1] != "-"), len(names))
        if at == len(names) or (end < len(names) and names[end - 1] != "-s"):
            return False
        script = self._standard_input()
        if script is None:
            return False
        self._child(partial(self.inner, script), fields[end:], prefix, wrapper=fields[:at])
        return True

    def _standard_input(self) -> Field | None:
        feed = self._context.streams.stdin
        if feed is None:
            return None
        rows = feed.rows
        return Field(feed.take_all(), feed.line or self._context.line, rows)

    def _remote(self, fields: list[Field], names: list[str]) -> bool:
        """Evaluate what `ssh host` runs there."""
        at = next((at for at, name in enumerate(names[:8]) if name == "ssh"), -1)
        if at < 0 or (at and names[0] not in _WRAPPERS):
            return False
        host, rest = _host(fields[at + 1 :])
        script = rest[0] if rest else None
        if len(rest) > 1:
            script = Field(" ".join(field.text for field in rest), rest[0].line)
        inner = [field.text.rpartition("/")[2] for field in rest]
        if not rest or (inner[0] in _SHELLS and all(name[:1] == "-" for name in inner[1:])):
            script = self._standard_input() or script
        if script is None:
            return False
        kept, self._context.host = self._context.host, self._context.state.unknowns.show(host)
        self._child(partial(self.inner, script), [], {}, remote=True)
        self._context.host = kept
        return True

    def _child(
        self,
        load: Callable[[], None],
        arguments: Sequence[Field],
        prefix: dict[str, Variable],
        *,
        wrapper: Sequence[Field] = (),
        remote: bool = False,
    ) -> None:
        """Evaluate in a shell of its own: only exported variables go in, and none come back."""
        context, state = self._context, self._context.state
        kept, stop, left = state.snapshot(), context.stop, context.left
        functions, outer = context.functions, context.wrapper
        state.variables = {
            name: item for name, item in kept.items() if item.exported and not remote
        }
        if remote:
            from trainrx.shell.folders import leave

            leave(state)
        elif FOLDER in kept:
            state.variables[FOLDER] = kept[FOLDER]
        if wrapper and wrapper[0].text in ("sbatch", "srun"):
            told, rest = folder_told(wrapper)
            wrapper = rest
            if told:
                from trainrx.shell.folders import enter

                enter(state, told)
        for name, item in prefix.items():
            state.set(name, msgspec.structs.replace(item, exported=True))
        state.positional = tuple(arguments)
        context.left, context.functions = [], {} if remote else dict(functions)
        context.wrapper = (*outer, *wrapper)
        load()
        state.restore(kept)
        context.stop, context.left, context.functions = stop, left, functions
        context.wrapper = outer
        context.verdict = RAN


def _report_slips(context: Context, text: str, place: SourcePosition) -> None:
    """Report where a script within the script does not do what it was meant to."""
    if not _SLIP.search(text):
        return
    code = code_only(text, spans(text))
    for slip in (*blanks_after_backslashes(code), *comments_in_text(text)):
        context.record.add_defect(slip.name, place.line(slip.at), slip.message)


def _script_at(fields: Sequence[Field], start: int, *, wrapped: bool) -> int | None:
    """Find the word that names a script: behind `bash` (which stands before `start`) or alone."""
    if start:
        places = range(start, len(fields))
        return next((at for at in places if not fields[at].text.startswith("-")), None)
    if not wrapped:
        return 0
    places = range(1, len(fields))
    return next((at for at in places if fields[at].text.endswith(_SCRIPT_NAMES)), None)


def _host(fields: Sequence[Field]) -> tuple[str, Sequence[Field]]:
    """Give the host of an ssh command and the words behind it."""
    number = 0
    while number < len(fields) and fields[number].text.startswith("-"):
        number += 2 if _REMOTE_VALUE.fullmatch(fields[number].text) else 1
    rest = fields[number:]
    while len(rest) > 1 and rest[1].text.startswith("-"):
        rest = (rest[0], *rest[3 if _REMOTE_VALUE.fullmatch(rest[1].text) else 2 :])
    return (rest[0].text, rest[1:]) if rest else ("", ())
