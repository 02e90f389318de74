"""Facts in; derived facts, votes, explanations and questions out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from trainrx.knowledge.store import Knowledge
from trainrx.model.facts import Fact, Facts, Origin, identity
from trainrx.model.knowledge import Rule
from trainrx.reason.base import EngineRule, Firing, Inference, RuleError, comparable
from trainrx.reason.conclusions import Explained, FactQuestion, Suggested, conclusions
from trainrx.reason.conditions import Situation
from trainrx.reason.limits import chunks
from trainrx.reason.rules import RuleNames, compile_rule, misfit
from trainrx.reason.stage import EngineName, Stage, make_stage

MOST_SIGHTINGS = (24, 8, 3, 1)
"""How many facts of one kind the rules see: the next when a rule base refuses that many."""


class Applied(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that held, and the facts it held on."""

    rule: str
    facts: tuple[Fact, ...]


class Reasoning(msgspec.Struct, frozen=True, kw_only=True):
    """All that followed from the facts.

    The facts of `situation` are the given ones and, with the origins they rest on, the derived
    ones. `notes` says where an engine stood in for another, or what was left out.
    """

    situation: Situation
    suggestions: tuple[Suggested, ...]
    explanations: tuple[Explained, ...]
    asks: tuple[FactQuestion, ...]
    firings: tuple[Applied, ...]
    engine_name: str
    notes: tuple[str, ...]

    @property
    def facts(self) -> Facts:
        """Give what is known."""
        return self.situation.facts


class Reasoner:
    """Rules compiled once, for any number of jobs; usable from several threads.

    Rules that derive facts run first, then the others. `names` are the ids that rules may speak of.

    Raises:
        KnowledgeError: a rule is malformed; names it.
    """

    def __init__(
        self, rules: Iterable[Rule], engine: EngineName = "durable", names: RuleNames | None = None
    ) -> None:
        self._rules = {rule.id: rule for rule in rules}
        self._compiled = {i: compile_rule(rule, names) for i, rule in self._rules.items()}
        deriving = tuple(rule for rule in self._compiled.values() if rule.derive)
        others = chunks(rule for rule in self._compiled.values() if not rule.derive)
        try:
            self._deriving = [make_stage(group, engine) for group in (deriving,) if group]
            self._others = [make_stage(group, engine) for group in others]
        except RuleError as error:
            raise misfit(error, self._rules) from error

    def reason(self, situation: Situation) -> Reasoning:
        """Apply the rules. The order of facts changes nothing."""
        run = _Run(self._rules, self._compiled)
        known = Facts(situation.facts)
        for stage in self._deriving:
            known.add(*run.apply(stage, known))
        for stage in self._others:
            run.apply(stage, known)
        return Reasoning(
            situation=situation._replace(facts=known),
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

    def _stages(self) -> tuple[Stage, ...]:
        return (*self._deriving, *self._others)

    def _engine_name(self) -> str:
        stages = self._stages()
        names = " and ".join(sorted({stage.engine.name for stage in stages})) or "none"
        why_not = next((stage.why_not for stage in stages if stage.why_not), None)
        return names if why_not is None else f"{names} ({why_not})"


def reasoner_of(knowledge: Knowledge, engine: EngineName) -> Reasoner:
    """Compile the rules of some knowledge.

    Raises:
        KnowledgeError: a rule is malformed; names it.
    """
    return Reasoner(knowledge.rules.values(), engine)


class _Run:
    """One job on its way through the stages, and what came of it."""

    def __init__(self, rules: Mapping[str, Rule], compiled: Mapping[str, EngineRule]) -> None:
        self.rules = rules
        self.compiled = compiled
        self.suggestions: list[Suggested] = []
        self.explanations: list[Explained] = []
        self.asks: list[FactQuestion] = []
        self.firings: list[Applied] = []
        self.notes: list[str] = []

    def apply(self, stage: Stage, facts: Facts) -> tuple[Fact, ...]:
        """Run rules; keep what they say and give the facts they derive."""
        for most in MOST_SIGHTINGS:
            seen, left_out = spread(facts, most)
            inference = stage.infer(seen, self.notes)
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


def spread(facts: Iterable[Fact], most: int) -> tuple[list[Fact], int]:
    """Keep at most `most` facts of each kind, and say how many were left out.

    The earliest of every rank stay first, then the second of every rank, and so on: who was first
    and which ranks are concerned is what rules ask about.
    """
    by_kind: dict[str, list[Fact]] = defaultdict(list)
    for fact in sorted(facts, key=_time):
        by_kind[fact.kind].append(fact)
    kept: list[Fact] = []
    left_out = 0
    for of_kind in by_kind.values():
        kept += of_kind if len(of_kind) <= most else _by_turns(of_kind)[:most]
        left_out += max(0, len(of_kind) - most)
    return kept, left_out


def _by_turns(facts: Sequence[Fact]) -> list[Fact]:
    turn: dict[object, int] = defaultdict(int)
    order: list[tuple[int, int]] = []
    for at, fact in enumerate(facts):
        rank = repr(fact.get("rank"))
        order.append((turn[rank], at))
        turn[rank] += 1
    return [facts[at] for _, at in sorted(order)]


def _time(fact: Fact) -> tuple[object, ...]:
    at = comparable(fact.get("at"))
    number = at if isinstance(at, (int, float)) else float("inf")
    return (number, *identity(fact))
