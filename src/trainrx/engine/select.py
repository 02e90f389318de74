"""Which engine runs: durable_rules where it can, the reference engine where it cannot, said so."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from trainrx.engine.base import Engine, EngineError, Inference
from trainrx.engine.durable import DurableEngine
from trainrx.engine.reference import PyEngine
from trainrx.engine.rulebase import RuleBase
from trainrx.model.facts import Fact

Choice = Literal["auto", "reference"]


class SafeEngine:
    """An engine with a stand-in: when it fails during an inference, the reference engine runs.

    `note` then says what happened; the name tells which engine gave the answers.
    """

    def __init__(self, engine: Engine, base: RuleBase) -> None:
        self.engine = engine
        self.base = base
        self.note: str | None = None

    @property
    def name(self) -> str:
        """Say what runs, and why it is not the default when it is not."""
        return self.engine.name if self.note is None else f"reference ({self.note})"

    def infer(self, facts: Iterable[Fact]) -> Inference:
        """Apply the rules until nothing new follows.

        Raises:
            EngineError: the reference engine gave up, too: the facts exceed a limit.
        """
        given = tuple(facts)
        try:
            return self.engine.infer(given)
        except EngineError as error:
            inference = PyEngine(self.base).infer(given)
            self.note = str(error)
            return inference

    def close(self) -> None:
        """Release what the engine holds."""
        self.engine.close()


def select_engine(base: RuleBase, choice: Choice = "auto") -> tuple[Engine, str | None]:
    """Give the engine for a rule base, and why it is not the default when it is not."""
    if choice == "reference":
        return PyEngine(base), None
    try:
        return SafeEngine(DurableEngine(base), base), None
    except EngineError as error:
        engine = SafeEngine(PyEngine(base), base)
        engine.note = str(error)
        return engine, engine.note
