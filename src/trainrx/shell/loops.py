"""Loops: round by round where their course is known."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from trainrx.model.pattern import late
from trainrx.shell import arithmetic
from trainrx.shell.context import Context, Stop, Verdict
from trainrx.shell.limits import MAX_ITERATIONS
from trainrx.shell.syntax import (
    AndOr,
    Block,
    CountedLoop,
    For,
    Loop,
    Node,
    Pipeline,
    Simple,
    Test,
)
from trainrx.shell.values import Field, Snapshot, UnknownValue, Variable, known

_ARGUMENT = late(r"\$[#@*1-9]|\$\{[#@*1-9]")
_MAX_ROUNDS = 4 * MAX_ITERATIONS
"""Rounds of a loop that counts or reads; more than one per node or per argument."""


class Loops:
    """Runs loops in a context."""

    def __init__(
        self,
        context: Context,
        decide: Callable[[Node], Verdict],
        perhaps: Callable[..., Stop],
    ) -> None:
        self._context = context
        self._state = context.state
        self._decide = decide
        self._perhaps = perhaps

    def over(self, node: For) -> None:
        """Run `for name in words`."""
        context = self._context
        line = context.place.line(node.at)
        fields: list[Field] = []
        if node.words is None:
            positional = self._state.positional
            mark = self._state.unknowns.mark("arg", "@")
            fields = list(positional) if positional is not None else [Field(mark)]
        for raw in node.words or ():
            fields += context.expander.fields(raw.text)
        if any(found.name == "@" for f in fields for found in self._within(f)):
            # Without arguments the loop does nothing.
            before = self._state.snapshot()
            self._state.set_text(node.name, fields[0].text, line)
            self._perhaps(node.body, undecided=True)
            self._keep_defaults(before)
            return
        start = len(context.left)
        before = self._state.snapshot()
        certain = len(fields) <= MAX_ITERATIONS and all(known(field.text) for field in fields)
        if len(fields) > MAX_ITERATIONS:
            reason = f"of the {len(fields)} rounds of this loop only {MAX_ITERATIONS} are read"
            context.record.add_unread(reason, line)
        for field in fields[:MAX_ITERATIONS]:
            self._state.set_text(node.name, field.text, field.line or line)
            if certain:
                context.run(node.body)
            else:
                self._perhaps(node.body, undecided=not known(field.text))
            if self._round_ends(start):
                break
        self._finish(start)
        if not certain:
            self._state.merge([before, self._state.snapshot()], "loop")

    def _within(self, field: Field) -> tuple[UnknownValue, ...]:
        return self._state.unknowns.within(field.text)

    def until(self, node: Loop) -> None:
        """Run `while` or `until`."""
        context = self._context
        start = len(context.left)
        first = self._state.snapshot()
        for number in range(_MAX_ROUNDS):
            kept = self._state.snapshot()
            verdict = self._decide(node.condition)
            if verdict.value is None or verdict.assumed:
                enters = verdict.value is None or verdict.value != node.until
                if enters or number or _reads_arguments(node.condition):
                    self._unsure(node.condition, node.body)
                break
            if verdict.value == node.until:
                break
            context.run(node.body)
            if self._round_ends(start) or context.left[start:]:
                break
            if self._state.variables == kept and context.streams.stdin is None:
                # Nothing changes: it goes on for ever, or until something outside happens.
                break
        else:
            self._state.merge([first, self._state.snapshot()], "loop")
        self._finish(start)

    def _unsure(self, condition: Block, body: Block) -> None:
        """Run a loop once that may run not at all, or more often."""
        before = self._state.snapshot()
        positional = self._state.positional
        # Those of the script, or of a function that is given all of them.
        any_ = positional is None or self._state.takes_any(positional)
        arguments = any_ and _reads_arguments(condition)
        self._perhaps(body, undecided=arguments)
        if arguments:
            self._keep_defaults(before)
        else:
            self._state.merge([before, self._state.snapshot()], "loop")

    def _keep_defaults(self, before: Snapshot) -> None:
        """Go back to what variables hold without arguments, and keep in mind that some may come.

        What was empty or not set at all, and gets the text of an argument, has no default.
        """
        after = self._state.variables
        self._state.restore(before)
        for name, new in after.items():
            old = before.get(name)
            if name == "@" or old is new:
                continue
            given = not known(new.text) and not self._state.unknowns.alternatives(new.text)
            if given and (old is None or (not old.array and old.text == "")):
                field = Field(self._state.unknowns.mark("arg", name), new.line)
                exported = old.exported if old is not None else new.exported
                self._state.variables[name] = Variable((field,), new.line, exported=exported)
            elif old is not None:
                self._state.variables[name] = msgspec.structs.replace(old, default=True)

    def count(self, node: CountedLoop) -> None:
        """Run `for ((first; condition; step))`."""
        context = self._context
        start = len(context.left)
        if node.first.strip():
            context.count(node.first)
        names = arithmetic.names(node.first)[:1]
        for number in range(_MAX_ROUNDS + 1):
            value = context.count(node.condition) if node.condition.strip() else 1
            if value == 0:
                break
            if value is None or number == _MAX_ROUNDS:
                for name in names:
                    mark = self._state.unknowns.mark("loop", name)
                    self._state.set_text(name, mark, context.line)
                before = self._state.snapshot()
                self._perhaps(node.body, undecided=False)
                self._state.merge([before, self._state.snapshot()], "loop")
                break
            context.run(node.body)
            if self._round_ends(start):
                break
            context.count(node.step)
        self._finish(start)

    def _round_ends(self, start: int) -> bool:
        """Take note of `continue`; tell whether the loop is left."""
        context = self._context
        if context.stop == "continue":
            context.stop = ""
        outcomes = self._take(start, "continue")
        if outcomes:
            self._state.merge([*outcomes, self._state.snapshot()])
        return bool(context.stop)

    def _finish(self, start: int) -> None:
        """End the loop: what `break` left is one of the outcomes."""
        context = self._context
        stopped = context.stop
        if stopped == "break":
            context.stop = ""
        outcomes = self._take(start, "break")
        if outcomes and stopped in ("", "break"):
            self._state.merge([*outcomes, self._state.snapshot()])

    def _take(self, start: int, kind: Stop) -> list[Snapshot]:
        context = self._context
        found = [snapshot for stop, snapshot, _ in context.left[start:] if stop == kind]
        if found:
            kept = [item for item in context.left[start:] if item[0] != kind]
            context.left[start:] = kept
        return found


def _reads_arguments(node: Node) -> bool:
    """Tell whether a condition looks at the arguments of the script."""
    if isinstance(node, Block):
        return any(map(_reads_arguments, node.body))
    if isinstance(node, Pipeline):
        return any(map(_reads_arguments, node.parts))
    if isinstance(node, AndOr):
        return any(map(_reads_arguments, (node.first, *(right for _, right in node.rest))))
    if isinstance(node, (Simple, Test)):
        first = node.words[0].text if node.words else ""
        return first == "getopts" or any(_ARGUMENT.search(raw.text) for raw in node.words)
    text = getattr(node, "text", "")
    return isinstance(text, str) and _ARGUMENT.search(text) is not None
