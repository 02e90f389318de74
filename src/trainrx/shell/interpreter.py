"""Evaluates a script without running anything: which commands would it start, with which words?"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from trainrx.shell.context import RAN, Context, Stop, Verdict, both, either
from trainrx.shell.limits import MAX_DEPTH, TooMuch
from trainrx.shell.simple import SimpleCommands
from trainrx.shell.streams import Feed, Sink
from trainrx.shell.syntax import (
    AndOr,
    Arithmetic,
    Block,
    CaseCommand,
    CountedLoop,
    For,
    Function,
    If,
    Loop,
    Node,
    Pipeline,
    Raw,
    Redirected,
    Simple,
    Subshell,
    Test,
)
from trainrx.shell.values import Snapshot, known

if TYPE_CHECKING:
    from trainrx.shell.conditions import Conditions
    from trainrx.shell.loops import Loops

_UNDECIDED = Verdict(None)


class Interpreter:
    """Walks through the commands of a script."""

    def __init__(self, context: Context) -> None:
        self._context = context
        context.run = self.run
        self._state = context.state
        self._simple = SimpleCommands(context)

    # most scripts have neither tests nor loops

    @cached_property
    def _conditions(self) -> Conditions:
        from trainrx.shell.conditions import Conditions

        return Conditions(self._state, self._context.expander)

    @cached_property
    def _loops(self) -> Loops:
        from trainrx.shell.loops import Loops

        return Loops(self._context, self._decide, self._perhaps)

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
            self._loops.over(node)
        elif isinstance(node, Loop):
            self._loops.until(node)
        elif isinstance(node, CountedLoop):
            self._loops.count(node)
        elif isinstance(node, CaseCommand):
            self._case(node)
        elif isinstance(node, Function):
            self._context.functions[node.name] = node.body
        elif isinstance(node, Subshell):
            self._apart(node.body)
        elif isinstance(node, Redirected):
            self._redirected(node)
        elif isinstance(node, Block):
            for item in node.body:
                self.run(item)
        else:
            self._decide(node)

    def _apart(self, node: Node) -> None:
        """Evaluate in a subshell: variables do not come back."""
        context = self._context
        kept, stop, left = self._state.snapshot(), context.stop, context.left
        context.left = []
        self.run(node)
        self._state.restore(kept)
        context.stop, context.left = stop, left

    def _redirected(self, node: Redirected) -> None:
        from trainrx.shell import output

        context = self._context
        outer = context.streams
        inner = output.opened(context, node.redirects, node.here)
        context.streams = inner
        self.run(node.body)
        context.streams = outer
        output.close(context, inner, outer)

    def _perhaps(self, node: Node | None, *, undecided: bool) -> Stop:
        """Evaluate what may not run at all; say whether it ends by leaving where it stands.

        An exit in it proves nothing about what follows.
        """
        context = self._context
        context.undecided += undecided
        if node is not None:
            self.run(node)
        context.undecided -= undecided
        stop, context.stop = context.stop, ""
        if stop not in ("", "exit"):
            context.left.append((stop, self._state.snapshot(), undecided))
        return stop

    # Conditions

    def _decide(self, node: Node) -> Verdict:
        """Evaluate a command and say whether it succeeds."""
        if isinstance(node, Test):
            return self._conditions.decide(node.words)
        if isinstance(node, Arithmetic):
            return self._arithmetic(node.text)
        if isinstance(node, AndOr):
            return self._and_or(node)
        if isinstance(node, Pipeline):
            return self._pipeline(node)
        if isinstance(node, Simple) and node.words and not node.assigns:
            name = node.words[0].text
            if name in ("[", "test"):
                last = len(node.words) - (name == "[")
                return self._conditions.decide_command(node.words[1:last])
            if name in ("true", ":", "false"):
                return Verdict(name != "false")
        if isinstance(node, Block) and node.body:
            for item in node.body[:-1]:
                self.run(item)
            return self._decide(node.body[-1])
        self._context.verdict = RAN
        self.run(node)
        verdict, self._context.verdict = self._context.verdict, RAN
        return verdict

    def _arithmetic(self, text: str) -> Verdict:
        value = self._context.count(text)
        assumed = value is None and "$#" in text and self._state.positional is None
        if assumed:
            # A script whose arguments are not known is taken as called without any.
            value = self._context.count(text.replace("$#", "0"))
        return _UNDECIDED if value is None else Verdict(value != 0, assumed)

    def _pipeline(self, node: Pipeline) -> Verdict:
        if len(node.parts) == 1:
            verdict = self._decide(node.parts[0])
            return verdict.negate() if node.negated else verdict
        from trainrx.shell import output

        context = self._context
        outer = context.streams
        feed = outer.stdin
        copies = [output.copies(context, part) for part in node.parts]
        for number, part in enumerate(node.parts):
            last = number == len(node.parts) - 1
            sink = outer.sink if last else Sink()
            if sink is not None and not last:
                sink.level = context.undecided
            outputs = [name for names in copies[number + 1 :] for name in names]
            names = tuple(dict.fromkeys((*outer.outputs, *outputs)))
            context.streams = msgspec.structs.replace(outer, sink=sink, stdin=feed, outputs=names)
            self._apart(part)
            feed = None
            if sink is not None and sink.certain and sink.touched and not last:
                text = sink.text
                line = sink.line if sink.rows else 0
                feed = Feed(text, line, text)
        context.streams = outer
        return RAN

    def _and_or(self, node: AndOr) -> Verdict:
        context = self._context
        self._state.lent.clear()
        verdict = self._decide(node.first)
        for sign, right in node.rest:
            wanted = sign == "&&"
            if context.stop:
                break
            if verdict.value is not None and verdict.value != wanted:
                continue
            if verdict.value is not None and not verdict.assumed:
                second = self._decide(right)
            else:
                second = self._second(right, verdict, wanted=wanted)
            verdict = both(verdict, second) if wanted else either(verdict, second)
        return verdict

    def _second(self, right: Node, verdict: Verdict, *, wanted: bool) -> Verdict:
        """Evaluate the right side of `&&` or `||` that may not run."""
        context = self._context
        # What follows a plain command with `&&` mostly runs.
        follows = wanted and verdict.assumed
        undecided = verdict.value is None and not follows
        kept, lent = self._state.snapshot(), set(self._state.lent)
        context.undecided += undecided
        second = self._decide(right)
        context.undecided -= undecided
        stop, context.stop = context.stop, ""
        if stop:
            if stop != "exit":
                context.left.append((stop, self._state.snapshot(), undecided))
            self._state.restore(kept)
            if stop == "exit":
                self._state.need(lent)
        elif undecided:
            self._state.merge([kept, self._state.snapshot()])
        return second

    # Branches

    def _if(self, node: If) -> None:
        outcomes: list[Snapshot] = []
        stops: list[Stop] = []
        assumed = undecided = False
        lent: set[str] = set()
        for condition, body in node.branches:
            self._state.lent.clear()
            verdict = self._decide(condition)
            lent |= self._state.lent
            if self._context.stop:
                return
            undecided = undecided or verdict.value is None
            assumed = assumed or verdict.assumed or undecided
            if verdict.value is False:
                continue
            base = self._state.snapshot()
            if not assumed:
                self.run(body)
                return
            stops.append(self._perhaps(body, undecided=undecided))
            if not stops[-1]:
                outcomes.append(self._state.snapshot())
            if verdict.value and not stops[-1]:
                break
            self._state.restore(base)
        else:
            if not assumed:
                if node.otherwise is not None:
                    self.run(node.otherwise)
                return
            stops.append(self._perhaps(node.otherwise, undecided=undecided))
            if not stops[-1]:
                outcomes.append(self._state.snapshot())
        self._join(outcomes, stops)
        if "exit" in stops and outcomes:
            self._state.need(lent)

    def _join(self, outcomes: list[Snapshot], stops: list[Stop]) -> None:
        """Go on with what the courses agree on; when all of them leave, so does this one."""
        if len(outcomes) == 1:
            self._state.restore(outcomes[0])
        elif outcomes:
            self._state.merge(outcomes)
        elif stops:
            self._context.stop = stops[-1]

    def _case(self, node: CaseCommand) -> None:
        value = self._context.expander.text(node.word.text)
        if known(value):
            for patterns, body in node.items:
                matched = [self._matches(raw, value) for raw in patterns]
                if True in matched:
                    self.run(body)
                    return
                if None in matched:
                    break
            else:
                return
        base = self._state.snapshot()
        outcomes: list[Snapshot] = []
        stops: list[Stop] = []
        for _, body in node.items:
            stops.append(self._perhaps(body, undecided=True))
            if not stops[-1]:
                outcomes.append(self._state.snapshot())
            self._state.restore(base)
        if not any(raw.text == "*" for patterns, _ in node.items for raw in patterns):
            outcomes.append(base)
        self._join(outcomes, stops)

    def _matches(self, raw: Raw, value: str) -> bool | None:
        pattern = self._context.expander.pattern(raw.text)
        if len(pattern) > 256 or not known(pattern) or _has_groups(raw.text):
            return None
        self._context.budget.spend(1 + len(pattern) * len(value) // 4)
        from trainrx.shell import glob

        return glob.matches(pattern, value)


def _has_groups(raw: str) -> bool:
    """Tell whether a pattern is an extended one, `@(a|b)`."""
    return any(sign + "(" in raw for sign in "@+?!*")
