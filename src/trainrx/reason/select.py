"""Which engine runs: durable_rules where it can, the reference engine where it cannot, said so."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from trainrx.model.facts import Fact
from trainrx.reason.base import Engine, EngineError, Inference
from trainrx.reason.durable import DurableEngine
from trainrx.reason.reference import PyEngine
from trainrx.reason.rulebase import RuleBase

EngineName = Literal["durable", "reference"]


def select_engine(base: RuleBase, choice: EngineName = "durable") -> tuple[Engine, str | None]:
    """Give the engine for a rule base, and why it is not the default when it is not."""
    if choice == "reference":
        return PyEngine(base), "as asked"
    try:
        return DurableEngine(base), None
    except EngineError as error:
        return PyEngine(base), str(error)


def infer_safely(
    engine: Engine, base: RuleBase, facts: Iterable[Fact]
) -> tuple[Inference, str | None]:
    """Infer; when the engine fails, let the reference engine do it, and say so.

    Raises:
        EngineError: the reference engine gave up, too: the facts exceed a limit.
    """
    given = tuple(facts)
    try:
        return engine.infer(given), None
    except EngineError as error:
        return PyEngine(base).infer(given), f"{engine.name} failed ({error}); reference engine used"
