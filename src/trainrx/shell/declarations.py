"""Assignments: `name=value`, arrays, `export`, `declare`, `local`."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from trainrx.model.pattern import late
from trainrx.shell.context import Context
from trainrx.shell.reader import declared
from trainrx.shell.state import word_lines
from trainrx.shell.syntax import Assign, Raw, Simple, assignment
from trainrx.shell.unknown import known
from trainrx.shell.variables import Field, Variable, with_element, with_more

_LENT = late(r"(?P<quote>\"?)\$\{\w+:?[-=](?:\"\"|'')?\}(?P=quote)", re.ASCII)
"""`${X:-}`: nothing, unless something is given."""


class Declarations:
    """Sets variables in a context; `fields` expands the words of an array."""

    def __init__(self, context: Context, fields: Callable[[tuple[Raw, ...]], list[Field]]) -> None:
        self._context = context
        self._fields = fields

    def _line(self, at: int) -> int:
        return self._context.place.line(at)

    def assign(self, item: Assign, *, export: bool = False, assoc: bool = False) -> None:
        """Evaluate one assignment."""
        context = self._context
        state, line = context.state, self._line(item.at)
        old = state.variables.get(state.target(item.name))
        if old is not None and old.gone:
            old = None
        if item.key is not None:
            value = self._element(item, old, line)
        elif item.items is not None:
            value = self._array(item, old, line, assoc=assoc)
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
        key = expander.parameters.key(old, item.key or "")
        if key is None or (key.startswith("-") and not old.assoc and not old.values):
            mark = self._context.state.unknowns.mark("value", item.name)
            return Variable((Field(mark),), line, array=True)
        self._context.budget.spend(1 + len(old.values) // 4)
        return msgspec.structs.replace(with_element(old, key, field, append=item.append), line=line)

    def _array(self, item: Assign, old: Variable | None, line: int, *, assoc: bool) -> Variable:
        """Give the array after `name=( ... )`."""
        assoc = assoc or (old is not None and old.assoc)
        value = old if item.append and old is not None else Variable((), line, array=True)
        value = msgspec.structs.replace(value, array=True, line=line, lines=(), script="")
        if assoc and value.keys is None:
            value = msgspec.structs.replace(value, keys=(), assoc=True)
        loose: list[Field] = []
        for raw in item.items or ():
            pair = None
            if raw.text.startswith("["):
                pair = assignment(Raw("x" + raw.text, raw.at))
            if pair is None or pair.key is None:
                loose += self._fields((raw,))
                if not assoc:
                    value, loose = with_more(value, tuple(loose)), []
                continue
            expander = self._context.expander
            key = expander.parameters.key(value, pair.key)
            field = Field(expander.text(pair.value), self._line(raw.at))
            if key is None:
                mark = self._context.state.unknowns.mark("value", item.name)
                return Variable((Field(mark),), line, array=True)
            value = with_element(value, key, field, append=pair.append)
        return with_more(value, tuple(loose))

    def _text_value(self, item: Assign, held: Variable | None, line: int) -> Variable:
        """Give the variable after `name=value` or `name+=value`."""
        old = held if item.append else None
        expander = self._context.expander
        text = expander.text(item.value)
        lines = word_lines(item.value, line) if "\n" in item.value or old else ()
        script = ""
        if "\n" in item.value and item.value[0] in "\"'":
            script = expander.text(item.value, keep_joins=True)
        if script.count("\n") != item.value.count("\n"):
            script = ""
        if held is not None and held.array and old is None:
            return with_element(held, "0", Field(text, line))
        if old is None:
            lent = not text and _LENT.fullmatch(item.value) is not None
            return Variable((Field(text),), line, lines=lines, script=script, default=lent)
        before = old.lines or (old.line,) * len(old.text.split())
        if old.array:
            return with_element(old, "0", Field(text, line), append=True)
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
        if "n" in flags and command != "export":
            target = self._context.expander.text(item.value)
            if re.fullmatch(r"[A-Za-z_]\w*", target) and target != item.name:
                line = self._line(item.at)
                state.variables[item.name] = Variable((Field(target),), line, ref=target)
                return
        if self._context.locals and command in ("local", "declare", "typeset"):
            held = state.variables.get(item.name)
            if held is not None and held.ref:
                state.unset(item.name)
        self.assign(item, export=export, assoc="A" in flags)
        held = state.variables[item.name]
        if set(flags) & set("iluc") and not held.array:
            text = held.text
            count = self._context.count(text) if "i" in flags and known(text) else None
            if "i" in flags:
                text = str(count) if count is not None else state.unknowns.mark("value", item.name)
            elif known(text):
                text = text.lower() if "l" in flags else text.upper()
            state.variables[item.name] = msgspec.structs.replace(
                held, values=(Field(text, held.line),)
            )

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
            if set(flags) & set("Aa"):
                keys = () if "A" in flags else None
                state.set(left, Variable((), line, array=True, keys=keys, assoc="A" in flags))
            elif context.locals and command in ("local", "declare", "typeset"):
                # A new local variable is unset, whatever the caller's holds.
                state.unset(left)

    def _keep_local(self, declaration: str, name: str) -> None:
        scopes = self._context.locals
        if scopes and declaration in ("local", "declare", "typeset"):
            scopes[-1].setdefault(name, self._context.state.variables.get(name))
