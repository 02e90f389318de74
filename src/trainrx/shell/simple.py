"""Simple commands: assignments, words, functions, and what is left: programs."""

from __future__ import annotations

import re

import msgspec

from trainrx.model.pattern import late
from trainrx.shell.builtins import Builtins
from trainrx.shell.context import RAN, Context, Verdict
from trainrx.shell.declarations import Declarations
from trainrx.shell.limits import TooMuch
from trainrx.shell.record import ARGUMENT, Course
from trainrx.shell.scripts import COMMAND_OPTION, Scripts
from trainrx.shell.state import FOLDER
from trainrx.shell.syntax import Node, Raw, Simple
from trainrx.shell.values import Field, Variable

_WHOLE_VARIABLE = late(r'"?\$\{?(\w+)\}?"?', re.ASCII)
_DECLARE = frozenset({"export", "declare", "typeset", "local", "readonly"})
_MAX_CALLS = 12


class SimpleCommands:
    """Runs simple commands in a context."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._builtins = Builtins(context)
        self._scripts = Scripts(context)
        self._declarations = Declarations(context, self._fields)
        self._calls = 0

    def run(self, node: Simple) -> None:
        """Evaluate one simple command."""
        context = self._context
        context.budget.spend(4)
        context.line = context.place.line(node.at)
        if not node.words:
            for item in node.assigns:
                self._declarations.assign(item)
            self._within_streams(node, None, {})
            return
        if node.words[0].text in _DECLARE:
            self._declarations.declare(node)
            return
        prefix = {
            item.name: Variable((Field(context.expander.text(item.value)),), self._line(item.at))
            for item in node.assigns
            if item.items is None
        }
        fields = self._fields(node.words)
        if fields:
            self._within_streams(node, fields, prefix)

    def _within_streams(
        self, node: Simple, fields: list[Field] | None, prefix: dict[str, Variable]
    ) -> None:
        context = self._context
        outer = context.streams
        plain = not (node.redirects or node.here)
        if plain and fields is None:
            return
        inner = outer
        if not plain:
            from trainrx.shell import output

            inner = output.opened(context, node.redirects, node.here)
        context.streams = inner
        if fields is not None:
            self._dispatch(fields, node, prefix)
        context.streams = outer
        if fields is not None and [field.text for field in fields] == ["exec"]:
            context.streams = msgspec.structs.replace(inner, sink=outer.sink)
        elif not plain:
            output.close(context, inner, outer)

    def _line(self, at: int) -> int:
        return self._context.place.line(at)

    def _fields(self, words: tuple[Raw, ...]) -> list[Field]:
        fields: list[Field] = []
        for raw in words:
            inner = bool(fields) and (
                fields[0].text == "eval" or COMMAND_OPTION.fullmatch(fields[-1].text) is not None
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
        variable = self._context.state.variables.get(match[1]) if match else None
        if variable is None or variable.array:
            return False
        text = variable.script or variable.text
        if raw.text[0] != '"':
            # Without quotes the shell splits the text: a line end in it is only a blank.
            # The backslash of a line continued in single quotes is left, and escapes that blank.
            left = "\\\\ " if "\\\n" in variable.text else ""
            end = f" {left}\\\\\n" if variable.script else f" {left}"
            text = re.sub(r"[ \t]*\\\n[ \t]*", end, text)
            text = re.sub(r"[ \t]*(?<!\\)\n[ \t]*", " \\\\\n" if variable.script else " ", text)
        fields.append(Field(text, variable.line, bool(variable.script)))
        return True

    # Commands

    def _dispatch(self, fields: list[Field], node: Simple, prefix: dict[str, Variable]) -> None:
        context = self._context
        name = fields[0].text
        if ARGUMENT.match(name):
            context.record.broken_continuation(fields, context.place, node)
            return
        if name in ("exec", "command", "builtin") and len(fields) > 1:
            if not fields[1].text.startswith("-"):
                self._dispatch(fields[1:], node, prefix)
            return
        if name in context.functions:
            self._call(context.functions[name], fields[1:], prefix)
        elif name == "eval":
            text = " ".join(field.text for field in fields[1:])
            script = msgspec.structs.replace(fields[1], text=text) if len(fields) > 1 else Field("")
            self._scripts.inner(script)
        elif not self._builtins.run(fields, prefix) and not self._scripts.run(fields, prefix):
            if name == "tee" or context.streams.sink is not None:
                from trainrx.shell import output

                output.put(context, fields)
            if not context.streams.capture:
                self._add(fields, prefix)

    def _add(self, fields: list[Field], prefix: dict[str, Variable]) -> None:
        context = self._context
        course = Course(context.wrapper, context.is_unsure, context.host, context.streams.outputs)
        if FOLDER in context.state.variables:
            from trainrx.shell.folders import workdir

            course = msgspec.structs.replace(course, workdir=workdir(context.state))
        context.record.add_command(fields, prefix, course)

    def _call(self, body: Node, arguments: list[Field], prefix: dict[str, Variable]) -> None:
        context, state = self._context, self._context.state
        self._calls += 1
        if self._calls > _MAX_CALLS:
            raise TooMuch("functions call each other too deeply")
        kept, start = state.positional, len(context.left)
        context.locals.append({name: state.variables.get(name) for name in prefix})
        for name, item in prefix.items():
            state.set(name, msgspec.structs.replace(item, exported=True))
        state.positional = tuple(arguments)
        context.verdict = RAN
        context.run(body)
        self._returned(start)
        state.positional = kept
        for name, old in context.locals.pop().items():
            state.variables.pop(name, None)
            if old is not None:
                state.variables[name] = old
        self._calls -= 1

    def _returned(self, start: int) -> None:
        """End a call: what an undecided `return` left is one of its outcomes."""
        context = self._context
        early = [kept for stop, kept, _ in context.left[start:] if stop == "return"]
        context.left[start:] = [item for item in context.left[start:] if item[0] != "return"]
        if early and context.stop in ("", "return"):
            context.state.merge([*early, context.state.snapshot()])
        if context.stop != "return" or early:
            context.verdict = Verdict(None, assumed=not early)
        if context.stop == "return":
            context.stop = ""
