"""Evaluates a script without running anything: which commands would it start, with which words?"""

from __future__ import annotations

from trainrx.parse.shell import glob
from trainrx.parse.shell.conditions import Conditions, Verdict, both, either
from trainrx.parse.shell.context import Context
from trainrx.parse.shell.limits import MAX_DEPTH, MAX_ITERATIONS, TooMuch
from trainrx.parse.shell.simple import SimpleCommands
from trainrx.parse.shell.state import Field, Snapshot
from trainrx.parse.shell.syntax import (
    AndOr,
    Arithmetic,
    Block,
    Case,
    For,
    Function,
    If,
    Loop,
    Node,
    Pipeline,
    Simple,
    Subshell,
    Test,
)
from trainrx.parse.shell.unknown import known

_UNDECIDED = Verdict(None)
_RAN = Verdict(None, assumed=True)
"""A command was run: whether it succeeds is not known, but mostly it does."""


class Interpreter:
    """Walks through the commands of a script."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._state = context.state
        self._conditions = Conditions(context.state, context.expander)
        self._simple = SimpleCommands(context, self.run)

    def run(self, node: Node) -> None:
        """Evaluate one command.

        Raises:
            TooMuch: It is nested too deeply, or the budget is spent.
        """
        context = self._context
        if context.stop:
            return
        context.depth += 1
        if context.depth > MAX_DEPTH:
            raise TooMuch("commands are nested too deeply")
        context.budget.spend()
        self._evaluate(node)
        context.depth -= 1

    def _evaluate(self, node: Node) -> None:
        if isinstance(node, Simple):
            self._simple.run(node)
        elif isinstance(node, If):
            self._if(node)
        elif isinstance(node, For):
            self._for(node)
        elif isinstance(node, Loop):
            self._loop(node)
        elif isinstance(node, Case):
            self._case(node)
        elif isinstance(node, Function):
            self._context.functions[node.name] = node.body
        elif isinstance(node, Subshell):
            self._apart(node.body)
        elif isinstance(node, Block):
            for item in node.body:
                self.run(item)
        else:
            self._decide(node)

    def _apart(self, node: Node) -> None:
        """Evaluate in a subshell: variables do not come back."""
        kept, stop = self._state.snapshot(), self._context.stop
        self.run(node)
        self._state.restore(kept)
        self._context.stop = stop

    def _perhaps(self, node: Node | None) -> None:
        """Evaluate what may not run at all: an exit in it proves nothing."""
        self._context.doubt += 1
        if node is not None:
            self.run(node)
        self._context.doubt -= 1

    # Conditions

    def _decide(self, node: Node) -> Verdict:
        """Evaluate a command and say whether it succeeds."""
        if isinstance(node, Test):
            return self._conditions.decide(node.words)
        if isinstance(node, Arithmetic):
            value = self._context.count(node.text)
            return _UNDECIDED if value is None else Verdict(value != 0)
        if isinstance(node, AndOr):
            return self._and_or(node)
        if isinstance(node, Pipeline):
            return self._pipeline(node)
        if isinstance(node, Simple) and node.words and not node.assigns:
            name = node.words[0].text
            if name in ("[", "test"):
                last = len(node.words) - (name == "[")
                return self._conditions.decide(node.words[1:last])
            if name in ("true", ":", "false"):
                return Verdict(name != "false")
        if isinstance(node, Block) and node.body:
            for item in node.body[:-1]:
                self.run(item)
            return self._decide(node.body[-1])
        self.run(node)
        return _RAN

    def _pipeline(self, node: Pipeline) -> Verdict:
        if len(node.parts) == 1:
            verdict = self._decide(node.parts[0])
            return verdict.negate() if node.negated else verdict
        for part in node.parts:
            self._apart(part)
        return _RAN

    def _and_or(self, node: AndOr) -> Verdict:
        verdict = self._decide(node.first)
        for sign, right in node.rest:
            wanted = sign == "&&"
            if verdict.value is not None and verdict.value != wanted:
                continue
            self._context.doubt += verdict.value is None or verdict.assumed
            kept = self._state.snapshot()
            second = self._decide(right)
            if verdict.value is None and not (wanted and verdict.assumed):
                self._state.merge([kept, self._state.snapshot()])
            self._context.doubt -= verdict.value is None or verdict.assumed
            verdict = both(verdict, second) if wanted else either(verdict, second)
        return verdict

    # Compound commands

    def _if(self, node: If) -> None:
        outcomes: list[Snapshot] = []
        assumed = False
        for condition, body in node.branches:
            verdict = self._decide(condition)
            assumed = assumed or verdict.assumed or verdict.value is None
            if verdict.value is False:
                continue
            base = self._state.snapshot()
            self._perhaps(body) if assumed else self.run(body)
            if verdict.value:
                break
            outcomes.append(self._state.snapshot())
            self._state.restore(base)
        else:
            if node.otherwise is not None:
                self._perhaps(node.otherwise) if assumed else self.run(node.otherwise)
        if outcomes:
            self._state.merge([*outcomes, self._state.snapshot()])

    def _for(self, node: For) -> None:
        line = self._context.place.line(node.at)
        fields: list[Field] = []
        if node.words is None:
            mark = self._state.unknowns.mark("arg", "@")
            positional = self._state.positional
            fields = list(positional) if positional is not None else [Field(mark)]
        for raw in node.words or ():
            fields += self._context.expander.fields(raw.text)
        before = self._state.snapshot()
        for field in fields[:MAX_ITERATIONS]:
            self._state.set_text(node.name, field.text, line)
            self._perhaps(node.body)
        certain = len(fields) <= MAX_ITERATIONS and all(known(field.text) for field in fields)
        if not certain:
            self._state.merge([before, self._state.snapshot()], "loop")

    def _loop(self, node: Loop) -> None:
        if node.counter:
            mark = self._state.unknowns.mark("loop", node.counter)
            self._state.set_text(node.counter, mark, 0)
        before = self._state.snapshot()
        verdict = _UNDECIDED if node.condition is None else self._decide(node.condition)
        if verdict.value is not None and verdict.value == node.until and not verdict.assumed:
            return
        self._perhaps(node.body)
        self._state.merge([before, self._state.snapshot()], "loop")

    def _case(self, node: Case) -> None:
        value = self._context.expander.text(node.word.text)
        if known(value):
            for patterns, body in node.items:
                if any(self._matches(raw.text, value) for raw in patterns):
                    self.run(body)
                    return
            return
        base = self._state.snapshot()
        outcomes: list[Snapshot] = []
        for _, body in node.items:
            self._perhaps(body)
            outcomes.append(self._state.snapshot())
            self._state.restore(base)
        if not any(raw.text == "*" for patterns, _ in node.items for raw in patterns):
            outcomes.append(base)
        if outcomes:
            self._state.merge(outcomes)

    def _matches(self, raw: str, value: str) -> bool:
        pattern = self._context.expander.text(raw)
        if len(pattern) > 256:
            return False
        self._context.budget.spend(1 + len(pattern) * len(value) // 4)
        return glob.matches(pattern, value)
