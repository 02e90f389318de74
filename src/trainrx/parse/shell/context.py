"""What the evaluator of one script carries along."""

from __future__ import annotations

from typing import Literal

from trainrx.parse.shell import arithmetic, substitute
from trainrx.parse.shell.expand import Expander
from trainrx.parse.shell.limits import Budget
from trainrx.parse.shell.reader import commands
from trainrx.parse.shell.record import Place, Record
from trainrx.parse.shell.state import Field, State, Variable
from trainrx.parse.shell.syntax import Node, Pipeline, Simple
from trainrx.parse.shell.unknown import Unknown, known


class Context:
    """Variables, functions, the place in the file, and how sure it is that we get there.

    `doubt` above 0: what runs now may not run at all, so an `exit` proves nothing. `wrapper`: the
    words in front of `bash -c`, kept for the commands inside.
    """

    def __init__(self, state: State, record: Record, place: Place) -> None:
        self.state = state
        self.record = record
        self.place = place
        self.expander = Expander(state, self.substitute, self.arithmetic)
        self.functions: dict[str, Node] = {}
        self.locals: list[dict[str, Variable | None]] = []
        self.wrapper: tuple[Field, ...] = ()
        self.doubt = 0
        self.depth = 0
        self.stop: Literal["", "return", "exit"] = ""

    @property
    def budget(self) -> Budget:
        """Give the work that is left."""
        return self.state.budget

    def count(self, expression: str) -> int | None:
        """Evaluate arithmetic, None when the result is not known."""
        text = self.expander.dollars(expression)
        if not known(text):
            return None
        self.budget.spend(1 + len(text))
        return arithmetic.evaluate(text, self.state.known_value, self._write)

    def arithmetic(self, expression: str) -> str:
        """Expand `$((expression))`."""
        value = self.count(expression)
        if value is not None:
            return str(value)
        shown = self.state.unknowns.show(f"$(({expression}))")[:80]
        root = self._root(expression)
        if root is not None:
            return self.state.unknowns.derived(root, shown)
        return self.state.unknowns.mark("value", shown, shown)

    def _write(self, name: str, value: int | None) -> None:
        unknown = self.state.unknowns.mark("value", name)
        old = self.state.variables.get(name)
        line = old.line if old else self.place.first
        self.state.set_text(name, unknown if value is None else str(value), line)

    def _root(self, expression: str) -> Unknown | None:
        """Find the unknown variable an expression rests on."""
        unknowns = self.state.unknowns
        found = list(unknowns.within(self.expander.dollars(expression)))
        for name in arithmetic.names(expression):
            held = self.state.variables.get(name)
            found += unknowns.within(unknowns.variable(name) if held is None else held.text)
        return found[0] if found else None

    def substitute(self, body: str) -> str:
        """Expand `$(body)`."""
        shown = self.state.unknowns.show(f"$({body.strip()})")[:80]
        stages = self._stages(body)
        text = " ".join(field for stage in stages for field in stage)
        if not known(text):
            return self.state.unknowns.derived(self.state.unknowns.within(text)[0], shown)
        result = substitute.output(stages)
        if result is None:
            return self.state.unknowns.mark("command", shown, shown)
        return result

    def _stages(self, body: str) -> list[list[str]]:
        """Give the words of each command of a pipeline; nothing when it is not plain commands."""
        found = list(commands(body, self.budget))
        if len(found) != 1:
            return []
        node = found[0]
        parts = node.parts if isinstance(node, Pipeline) else (node,)
        stages: list[list[str]] = []
        for part in parts:
            if not isinstance(part, Simple) or part.assigns or not part.words:
                return []
            words = [field.text for raw in part.words for field in self.expander.fields(raw.text)]
            if not words:
                return []
            stages.append(words)
        return stages
