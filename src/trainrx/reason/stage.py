"""A rule base with the engine that runs it."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from trainrx.model.facts import Fact
from trainrx.reason.base import Engine, EngineError, EngineRule, Inference
from trainrx.reason.rulebase import RuleBase
from trainrx.reason.select import EngineName, infer_safely, select_engine


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
