"""Assignments: `name=value`, arrays, `export`, `declare`, `local`."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from trainrx.model.pattern import late
from trainrx.shell.context import Context
from trainrx.shell.reader import declared
from trainrx.shell.state import word_lines
from trainrx.shell.syntax import Assign, Raw, Simple
from trainrx.shell.values import Field, Variable, known, with_element

_LENT = late(r"(?P<quote>\"?)\$\{\w+:?[-=](?:\"\"|'')?\}(?P=quote)", re.ASCII)
"""`${X:-}`: nothing, unless something is given."""
_KEYED = late(r"\[(?:[^\]]*$|.*\]\+?=)", re.DOTALL)
"""An element with its key: `[a]=1`."""


class Declarations:
    """Sets variables in a context; `fields` expands the words of an array."""

    def __init__(self, context: Context, fields: Callable[[tuple[Raw, ...]], list[Field]]) -> None:
        self._context = context
        self._fields = fields

    def _line(self, at: int) -> int:
        return self._context.place.line(at)

    def assign(self, item: Assign, *, export: bool = False) -> None:
        """Evaluate one assignment."""
        context = self._context
        state, line = context.state, self._line(item.at)
        old = state.variables.get(item.name)
        if old is not None and old.gone:
            old = None
        if old is not None and state.is_opaque(old):
            value = state.opaque(item.name, line)
        elif item.key is not None:
            value = self._element(item, old, line)
        elif item.items is not None:
            value = self._array(item, old, line)
        else:
            value = self._text_value(item, old, line)
        state.set(item.name, msgspec.structs.replace(value, exported=export))
        if not state.variables[item.name].exported:
            context.record.add_plain(item.name, line, context.place.column(item.at))

    def _element(self, item: Assign, old: Variable | None, line: int) -> Variable:
        """Give the array after `name[index]=value`."""
        expander = self._context.expander
        field = Field(expander.text(item.value), line)
        old = old or Variable((), line, array=True)
        index = expander.parameters.index(old, item.key or "")
        found = None if index is None else with_element(old, index, field, append=item.append)
        if found is None:
            return self._context.state.opaque(item.name, line)
        self._context.budget.spend(1 + len(old.values) // 4)
        return msgspec.structs.replace(found, line=line)

    def _array(self, item: Assign, old: Variable | None, line: int) -> Variable:
        """Give the array after `name=( ... )`."""
        if any(_KEYED.match(raw.text) for raw in item.items or ()):
            return self._context.state.opaque(item.name, line)
        base = old if item.append and old is not None else Variable((), line)
        values = base.values + tuple(self._fields(item.items or ()))
        return msgspec.structs.replace(
            base, values=values, array=True, line=line, lines=(), script=""
        )

    def _text_value(self, item: Assign, variable: Variable | None, line: int) -> Variable:
        """Give the variable after `name=value` or `name+=value`."""
        old = variable if item.append else None
        expander = self._context.expander
        text = expander.text(item.value)
        lines = word_lines(item.value, line) if "\n" in item.value or old else ()
        script = ""
        if "\n" in item.value and item.value[0] in "\"'":
            script = expander.text(item.value, keep_joins=True)
        if script.count("\n") != item.value.count("\n"):
            script = ""
        if variable is not None and variable.array:
            first = Field(text, line)
            return self._context.state.with_first(item.name, variable, first, append=item.append)
        if old is None:
            lent = not text and _LENT.fullmatch(item.value) is not None
            return Variable((Field(text),), line, lines=lines, script=script, default=lent)
        before = old.lines or (old.line,) * len(old.text.split())
        values = (Field(old.text + text, old.line),)
        return Variable(values, line, lines=before + lines)

    def declare(self, node: Simple) -> None:
        """Evaluate export, declare, local and readonly."""
        context = self._context
        name, *words = node.words
        options = [raw.text for raw in words if raw.text.startswith(("-", "+"))]
        flags = "".join(text[1:] for text in options if text.startswith("-"))
        for raw in words:
            if raw.text.startswith(("-", "+")):
                continue
            item = declared(raw, context.budget)
            if item is not None:
                self._keep_local(name.text, item.name)
                self._declared(item, name.text, flags)
                continue
            for field in context.expander.fields(raw.text):
                self._declare_field(field, name.text, flags, self._line(raw.at))

    def _declared(self, item: Assign, command: str, flags: str) -> None:
        state = self._context.state
        export = (command == "export" and "n" not in flags) or "x" in flags
        if "A" in flags or ("n" in flags and command != "export"):
            self._not_followed(item.name, flags, self._line(item.at), item.value)
            return
        self.assign(item, export=export)
        variable = state.variables[item.name]
        if set(flags) & set("iluc") and known(variable.text):
            mark = state.unknowns.mark("value", item.name)
            state.variables[item.name] = msgspec.structs.replace(variable, values=(Field(mark),))

    def _not_followed(self, name: str, flags: str, line: int, target: str = "") -> None:
        """Take an array with keys, or what a name stands for by reference, as unknown."""
        state = self._context.state
        state.set(name, state.opaque(name, line))
        if "n" in flags:
            self._context.record.add_unread("a name that stands for another is not followed", line)
            target = self._context.expander.text(target)
            if re.fullmatch(r"[A-Za-z_]\w*", target):
                state.set(target, state.opaque(target, line))

    def _declare_field(self, field: Field, command: str, flags: str, line: int) -> None:
        context, state = self._context, self._context.state
        export = command == "export" or "x" in flags
        left, sign, right = field.text.partition("=")
        if not known(left) or not re.fullmatch(r"\w+", left):
            context.record.hide_environment("exports what cannot be read here", line)
        elif sign:
            state.set(left, Variable((Field(right),), line, exported=export))
        elif export and "f" not in flags:
            state.export(left, line, on="n" not in flags)
        else:
            self._keep_local(command, left)
            if set(flags) & set("An"):
                self._not_followed(left, flags, line)
            elif "a" in flags:
                state.set(left, Variable((), line, array=True))
            elif context.locals and command in ("local", "declare", "typeset"):
                # A new local variable is unset, whatever the caller's holds.
                state.unset(left)

    def _keep_local(self, declaration: str, name: str) -> None:
        scopes = self._context.locals
        if scopes and declaration in ("local", "declare", "typeset"):
            scopes[-1].setdefault(name, self._context.state.variables.get(name))
