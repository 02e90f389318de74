"""Simple commands: assignments, words, builtins, functions, scripts within the script."""

from __future__ import annotations

import re
from collections.abc import Callable

from trainrx.parse.shell.builtins import Builtins
from trainrx.parse.shell.context import Context
from trainrx.parse.shell.limits import TooMuch
from trainrx.parse.shell.quotes import Lines
from trainrx.parse.shell.reader import commands, declared
from trainrx.parse.shell.record import Place
from trainrx.parse.shell.state import Field, Variable, word_lines
from trainrx.parse.shell.syntax import Assign, Node, Raw, Simple
from trainrx.parse.shell.unknown import known

_ARGUMENT = re.compile(r"--?[A-Za-z]|[–—−―－]|\+{0,2}[A-Za-z_]\w*(?:\.\w+)+=")
"""A flag or a Hydra override, which is never the name of a program."""
_SHELLS = frozenset({"bash", "sh", "zsh", "dash"})
_REMOTE = frozenset({"ssh", "pdsh"})
_COMMAND_OPTION = re.compile(r"-[a-z]*c")
_WHOLE_VARIABLE = re.compile(r'"?\$\{?(\w+)\}?"?', re.ASCII)
_DECLARE = frozenset({"export", "declare", "typeset", "local", "readonly"})
_MAX_CALLS = 12


class SimpleCommands:
    """Runs simple commands in a context; `run` evaluates any other node."""

    def __init__(self, context: Context, run: Callable[[Node], None]) -> None:
        self._context = context
        self._run = run
        self._builtins = Builtins(context)
        self._calls = 0

    def run(self, node: Simple) -> None:
        """Evaluate one simple command."""
        context = self._context
        context.budget.spend(4)
        if not node.words:
            for item in node.assigns:
                self._assign(item)
            return
        if node.words[0].text in _DECLARE:
            self._declare(node)
            return
        prefix = {
            item.name: Variable((Field(context.expander.text(item.value)),), self._line(item.at))
            for item in node.assigns
            if item.items is None
        }
        fields = self._fields(node.words)
        if fields:
            self._dispatch(fields, node, prefix)

    def _line(self, at: int) -> int:
        return self._context.place.line(at)

    def _fields(self, words: tuple[Raw, ...]) -> list[Field]:
        fields: list[Field] = []
        for raw in words:
            inner = bool(fields) and (
                fields[0].text == "eval" or _COMMAND_OPTION.fullmatch(fields[-1].text) is not None
            )
            line = self._line(raw.at)
            ends = raw.text.count("\n")
            if inner and self._use_script(raw, fields):
                continue
            for item in self._context.expander.fields(raw.text, keep_joins=inner):
                rows = inner and 0 < ends == item.text.count("\n")
                fields.append(Field(item.text, item.line or line, rows))
        return fields

    def _use_script(self, raw: Raw, fields: list[Field]) -> bool:
        """Give `eval "$CMD"` the text of CMD with its line ends, so that words keep their lines."""
        match = _WHOLE_VARIABLE.fullmatch(raw.text)
        held = self._context.state.variables.get(match[1]) if match else None
        if held is None or held.array:
            return False
        text = held.script or held.text
        if raw.text[0] != '"':
            # Without quotes the shell splits the text: a line end in it is only a blank.
            text = re.sub(r"[ \t]*\\?\n", " \\\\\n" if held.script else " ", text)
        fields.append(Field(text, held.line, bool(held.script)))
        return True

    def _assign(self, item: Assign, *, export: bool = False) -> None:
        context = self._context
        state, line = context.state, self._line(item.at)
        old = state.variables.get(item.name) if item.append else None
        if item.indexed:
            mark = state.unknowns.mark("value", item.name)
            value = Variable((Field(mark),), line, array=True)
        elif item.items is not None:
            values = tuple(self._fields(item.items))
            value = Variable((old.values if old else ()) + values, line, array=True)
        else:
            value = self._text_value(item, old, line)
        state.set(item.name, value._replace(exported=export))
        if not state.variables[item.name].exported:
            context.record.add_plain(item.name, line)

    def _text_value(self, item: Assign, old: Variable | None, line: int) -> Variable:
        expander = self._context.expander
        text = expander.text(item.value)
        lines = word_lines(item.value, line) if "\n" in item.value or old else ()
        script = ""
        if "\n" in item.value and item.value[0] in "\"'":
            joined = expander.fields(item.value, keep_joins=True)
            script = "".join(field.text for field in joined)
        if script.count("\n") != item.value.count("\n"):
            script = ""
        if old is None:
            return Variable((Field(text),), line, lines=lines, script=script)
        before = old.lines or (old.line,) * len(old.text.split())
        values = (Field(old.text + text, old.line), *old.values[1:])
        return Variable(values, line, old.array, lines=before + lines)

    def _declare(self, node: Simple) -> None:
        """Evaluate export, declare, local and readonly."""
        context, state = self._context, self._context.state
        name, *words = node.words
        flags = "".join(raw.text[1:] for raw in words if raw.text.startswith("-"))
        export = name.text == "export" or "x" in flags
        for raw in words:
            if raw.text.startswith(("-", "+")):
                continue
            item = declared(raw, context.budget)
            if item is not None:
                self._keep_local(name.text, item.name)
                self._assign(item, export=export and "n" not in flags)
                continue
            for field in context.expander.fields(raw.text):
                line = self._line(raw.at)
                left, sign, right = field.text.partition("=")
                if not known(left) or not re.fullmatch(r"\w+", left):
                    context.record.hide_environment("exports what cannot be read here", line)
                elif sign:
                    state.set(left, Variable((Field(right),), line, exported=export))
                elif export and "f" not in flags:
                    state.export(left, line, on="n" not in flags)
                else:
                    self._keep_local(name.text, left)

    def _keep_local(self, declaration: str, name: str) -> None:
        scopes = self._context.locals
        if scopes and declaration in ("local", "declare", "typeset"):
            scopes[-1].setdefault(name, self._context.state.variables.get(name))

    def _dispatch(self, fields: list[Field], node: Simple, prefix: dict[str, Variable]) -> None:
        context = self._context
        name = fields[0].text
        if _ARGUMENT.match(name):
            context.record.broken_continuation(name, fields[0].line)
            return
        if name in ("exec", "command", "builtin") and len(fields) > 1:
            if not fields[1].text.startswith("-"):
                self._dispatch(fields[1:], node, prefix)
            return
        if name in context.functions:
            self._call(context.functions[name], fields[1:], prefix)
        elif name == "eval":
            text = " ".join(field.text for field in fields[1:])
            self._script(fields[1]._replace(text=text) if len(fields) > 1 else Field(""))
        elif not self._builtins.run(fields, node, prefix) and not self._inner(fields, node, prefix):
            self._other_script(fields)
            context.record.add_command(context.wrapper, fields, prefix)

    def _other_script(self, fields: list[Field]) -> None:
        """Say that a script run by this one was not read."""
        names = [field.text.rpartition("/")[2] for field in fields]
        at = next((at for at, name in enumerate(names) if name in _SHELLS), -1) + 1
        words = [field for field in fields[at:] if not field.text.startswith("-")]
        if words and words[0].text.endswith((".sh", ".bash")) and (at or words[0] is fields[0]):
            path = self._context.state.unknowns.show(words[0].text)[:200]
            reason = f"{path} is run from here; give that script as well"
            self._context.record.add_unread(reason, words[0].line)

    def _here_script(self, names: list[str], here: Raw | None) -> Field | None:
        """Give the script that `bash <<EOF` reads."""
        if here is None or not (names[0] in _REMOTE or (names[0] in _SHELLS and len(names) < 3)):
            return None
        text = self._context.expander.text(here.text)
        rows = text.count("\n") == here.text.count("\n")
        return Field(text, self._line(here.at), rows)

    def _inner(self, fields: list[Field], node: Simple, prefix: dict[str, Variable]) -> bool:
        """Evaluate the script of `bash -c`, `bash <<EOF` or ssh, in a shell of its own."""
        names = [field.text.rpartition("/")[2] for field in fields]
        body = self._here_script(names, node.here)
        if body is not None:
            self._child(body, [], prefix, remote=names[0] not in _SHELLS)
            return True
        if names[0] in _REMOTE and " " in fields[-1].text:
            self._child(fields[-1], [], {}, remote=True)
            return True
        for at, name in enumerate(names[:-2]):
            if name in _SHELLS and _COMMAND_OPTION.fullmatch(names[at + 1]):
                wrapper = self._context.wrapper
                self._context.wrapper = (*wrapper, *fields[:at])
                self._child(fields[at + 2], fields[at + 4 :], prefix, remote=False)
                self._context.wrapper = wrapper
                return True
        return False

    def _child(
        self, script: Field, arguments: list[Field], prefix: dict[str, Variable], *, remote: bool
    ) -> None:
        context, state = self._context, self._context.state
        kept, positional, stop = state.snapshot(), state.positional, context.stop
        state.variables = {
            name: item for name, item in kept.items() if item.exported and not remote
        }
        for name, item in prefix.items():
            state.set(name, item._replace(exported=True))
        state.positional = tuple(arguments)
        self._script(script)
        state.restore(kept)
        state.positional, context.stop = positional, stop

    def _script(self, script: Field) -> None:
        """Evaluate a script that is a word of this one."""
        context = self._context
        if len(script.text) < 2:
            return
        kept = context.place
        context.place = Place(Lines(script.text), script.line, fixed=not script.rows)
        for node in commands(script.text, context.budget):
            self._run(node)
        context.place = kept

    def _call(self, body: Node, arguments: list[Field], prefix: dict[str, Variable]) -> None:
        context, state = self._context, self._context.state
        self._calls += 1
        if self._calls > _MAX_CALLS:
            raise TooMuch("functions call each other too deeply")
        kept = state.positional
        context.locals.append({name: state.variables.get(name) for name in prefix})
        for name, item in prefix.items():
            state.set(name, item._replace(exported=True))
        state.positional = tuple(arguments)
        self._run(body)
        state.positional = kept
        for name, old in context.locals.pop().items():
            state.unset(name)
            if old is not None:
                state.variables[name] = old
        if context.stop == "return":
            context.stop = ""
        self._calls -= 1
