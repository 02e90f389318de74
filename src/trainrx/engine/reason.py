"""Facts in; derived facts, votes, explanations, questions and the truth of conditions out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import msgspec

from trainrx.engine.base import (
    Engine,
    EngineError,
    EngineRule,
    Firing,
    Inference,
    RuleError,
    identity,
)
from trainrx.engine.conclusions import Asked, Explained, Suggested, conclusions
from trainrx.engine.conditions import (
    ALWAYS,
    CompiledConditions,
    Truth,
    compile_conditions,
    read_truths,
)
from trainrx.engine.conditions import misfit as condition_misfit
from trainrx.engine.limits import chunks
from trainrx.engine.rulebase import RuleBase
from trainrx.engine.rules import Names, compile_rule
from trainrx.engine.rules import misfit as rule_misfit
from trainrx.engine.select import Choice, infer_safely, select_engine
from trainrx.engine.sightings import alike_once, spread
from trainrx.model.facts import Fact, Facts, Origin
from trainrx.model.knowledge import Condition, Rule

MOST_SIGHTINGS = (24, 8, 3, 1)
"""How many facts of one kind the rules see: the next when a rule base refuses that many."""
MOST_COPIES = (4, 1)
"""How many indistinguishable facts conditions are decided on: more give more evidence to show."""
MOST_EVIDENCE = 12


class Applied(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that held, and the facts it held on."""

    rule: str
    facts: tuple[Fact, ...]


class Reasoning(msgspec.Struct, frozen=True, kw_only=True):
    """All that followed from the facts.

    `truths` has every condition by its id. `facts` are the given ones and, with the origins they
    rest on, the derived ones. `notes` says where an engine stood in for another, or what was left
    out.
    """

    facts: Facts
    truths: Mapping[str, Truth]
    suggestions: tuple[Suggested, ...]
    explanations: tuple[Explained, ...]
    asks: tuple[Asked, ...]
    firings: tuple[Applied, ...]
    engine_name: str
    notes: tuple[str, ...]


def reason(
    facts: Iterable[Fact],
    rules: Iterable[Rule],
    conditions: Mapping[str, Condition],
    *,
    engine: Choice = "auto",
    observations: Collection[str] = (),
) -> Reasoning:
    """Apply rules, then decide conditions, once; see `Reasoner` for many jobs.

    Raises:
        KnowledgeError: a rule or condition is malformed; names it.
    """
    reasoner = Reasoner(rules, conditions, engine=engine, observations=observations)
    try:
        return reasoner.reason(facts)
    finally:
        reasoner.close()


class _Stage(msgspec.Struct, frozen=True, kw_only=True):
    base: RuleBase
    engine: Engine


class Reasoner:
    """Rules and conditions compiled once, for any number of jobs; usable from several threads.

    Rules that derive facts run first, then the others, then conditions. `observations` are the
    symptoms that only a user's note can show; `names` the ids that rules may speak of.

    Raises:
        KnowledgeError: a rule or condition is malformed; names it.
    """

    def __init__(
        self,
        rules: Iterable[Rule],
        conditions: Mapping[str, Condition],
        *,
        engine: Choice = "auto",
        observations: Collection[str] = (),
        names: Names | None = None,
    ) -> None:
        self._choice: Choice = engine
        self._why_not: str | None = None
        self._rules = {rule.id: rule for rule in rules}
        self._compiled = {i: compile_rule(rule, names) for i, rule in self._rules.items()}
        deriving = tuple(rule for rule in self._compiled.values() if rule.derive)
        others = chunks([rule] for rule in self._compiled.values() if not rule.derive)
        try:
            self._deriving = [self._stage(group) for group in (deriving,) if group]
            self._others = [self._stage(group) for group in others]
        except RuleError as error:
            raise rule_misfit(error, self._rules) from error
        try:
            parts = compile_conditions(conditions, observations)
            self._conditions = [(part, self._stage(part.rules)) for part in parts]
        except RuleError as error:
            raise condition_misfit(error) from error

    def reason(self, facts: Iterable[Fact]) -> Reasoning:
        """Apply the rules, then decide the conditions. The order of facts changes nothing."""
        run = _Run(self._rules, self._compiled)
        known = Facts(facts)
        for stage in self._deriving:
            known.add(*run.apply(stage, known))
        for stage in self._others:
            run.apply(stage, known)
        truths: dict[str, Truth] = {}
        for part, stage in self._conditions:
            truths |= run.decide(part, stage, known)
        return Reasoning(
            facts=known,
            truths=truths,
            suggestions=tuple(run.suggestions),
            explanations=tuple(run.explanations),
            asks=tuple(run.asks),
            firings=tuple(run.firings),
            engine_name=self._engine_name(),
            notes=tuple(dict.fromkeys(run.notes)),
        )

    def close(self) -> None:
        """Release the engines."""
        for stage in self._stages():
            stage.engine.close()

    def _stage(self, rules: Iterable[EngineRule]) -> _Stage:
        base = RuleBase(tuple(rules))
        engine, why_not = select_engine(base, self._choice)
        self._why_not = self._why_not or why_not
        return _Stage(base=base, engine=engine)

    def _stages(self) -> list[_Stage]:
        return [*self._deriving, *self._others, *(stage for _, stage in self._conditions)]

    def _engine_name(self) -> str:
        names = " and ".join(sorted({stage.engine.name for stage in self._stages()})) or "none"
        return names if self._why_not is None else f"{names} ({self._why_not})"


class _Run:
    """One job on its way through the stages, and what came of it."""

    def __init__(self, rules: Mapping[str, Rule], compiled: Mapping[str, EngineRule]) -> None:
        self.rules = rules
        self.compiled = compiled
        self.suggestions: list[Suggested] = []
        self.explanations: list[Explained] = []
        self.asks: list[Asked] = []
        self.firings: list[Applied] = []
        self.notes: list[str] = []

    def apply(self, stage: _Stage, facts: Facts) -> tuple[Fact, ...]:
        """Run rules; keep what they say and give the facts they derive."""
        for most in MOST_SIGHTINGS:
            seen, left_out = spread(facts, most)
            inference = self._infer(stage, seen)
            if inference is not None:
                break
        else:
            self.notes.append("the facts were too many to apply the rules to")
            return ()
        if left_out:
            self.notes.append(f"rules saw at most {most} sightings of each symptom")
        for firing in inference.firings:
            self._keep(firing, inference.facts)
        return tuple(_with_origins(inference, index) for index in inference.support)

    def decide(self, part: CompiledConditions, stage: _Stage, facts: Facts) -> Mapping[str, Truth]:
        """Decide conditions; their evidence comes in the order of the facts."""
        for copies in MOST_COPIES:
            inference = self._infer(stage, alike_once(stage.base, [*facts, ALWAYS], copies))
            if inference is not None:
                rank = {identity(fact): at for at, fact in enumerate(facts)}
                truths = read_truths(part, inference)
                return {ident: _shown(truth, rank) for ident, truth in truths.items()}
        self.notes.append("the facts were too many to decide some conditions")
        return {ident: Truth(holds=None) for ident in part.roots}

    def _infer(self, stage: _Stage, facts: Iterable[Fact]) -> Inference | None:
        try:
            inference, note = infer_safely(stage.engine, stage.base, facts)
        except EngineError:
            return None
        if note is not None:
            self.notes.append(note)
        return inference

    def _keep(self, firing: Firing, facts: tuple[Fact, ...]) -> None:
        self.firings.append(
            Applied(rule=firing.rule, facts=tuple(facts[index] for index in firing.facts))
        )
        for said in conclusions(self.rules[firing.rule], self.compiled[firing.rule], firing, facts):
            if isinstance(said, Suggested):
                self.suggestions.append(said)
            elif isinstance(said, Explained):
                self.explanations.append(said)
            else:
                self.asks.append(said)


def _with_origins(inference: Inference, index: int) -> Fact:
    """Give a derived fact the places that what it rests on was read from."""
    origins: dict[Origin, None] = {}
    pending, seen = [index], {index}
    while pending:
        at = pending.pop()
        origins.update(dict.fromkeys(inference.facts[at].origins))
        below = {i for firing in inference.support.get(at, ()) for i in firing.facts} - seen
        seen |= below
        pending += sorted(below, reverse=True)
    return msgspec.structs.replace(inference.facts[index], origins=tuple(origins))


def _shown(truth: Truth, rank: Mapping[tuple[object, ...], int]) -> Truth:
    order = sorted(truth.facts, key=lambda fact: rank.get(identity(fact), 0))
    return Truth(holds=truth.holds, facts=tuple(order[:MOST_EVIDENCE]))
