"""A rule base with the engine that runs it: durable_rules where it can, else the reference one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from trainrx.model.facts import Fact
from trainrx.reason.base import Engine, EngineError, EngineRule, Inference
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


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    """A rule base, its engine, and why this is not the default engine when it is not."""

    base: RuleBase
    engine: Engine
    why_not: str | None

    def infer(self, facts: Iterable[Fact], notes: list[str]) -> Inference | None:
        """Infer, noting a fallback; None when no engine takes that many facts."""
        try:
            inference, note = infer_safely(self.engine, self.base, facts)
        except EngineError:
            return None
        if note is not None:
            notes.append(note)
        return inference


def make_stage(rules: Iterable[EngineRule], choice: EngineName) -> Stage:
    """Build the engine for some rules.

    Raises:
        RuleError: a rule is outside what engines handle.
    """
    base = RuleBase(tuple(rules))
    engine, why_not = select_engine(base, choice)
    return Stage(base=base, engine=engine, why_not=why_not)
