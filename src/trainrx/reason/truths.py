"""Conditions decided for one job."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from trainrx.model.facts import Fact
from trainrx.model.parts import Condition
from trainrx.reason.base import Inference, RuleError, identity
from trainrx.reason.conditions import (
    ALWAYS,
    Combined,
    Literal,
    Truth,
    compile_conditions,
    literal,
    marker,
    misfit,
)
from trainrx.reason.select import Choice
from trainrx.reason.sightings import alike_once
from trainrx.reason.stage import Stage, make_stage

MOST_COPIES = (4, 1)
"""How many indistinguishable facts are looked at: more give more evidence to show."""
MOST_EVIDENCE = 12

Decided = dict[Literal, tuple[Fact, ...]]
"""What is true of which node, and the facts that decided it."""


class Decider:
    """Conditions compiled once, for any number of jobs.

    Raises:
        KnowledgeError: a condition is malformed; names its id.
    """

    def __init__(
        self, conditions: Mapping[str, Condition], observations: Collection[str], choice: Choice
    ) -> None:
        compiled = compile_conditions(conditions, observations)
        self._roots = compiled.roots
        try:
            self._tests = [make_stage(rules, choice) for rules in compiled.tests]
            self._combined = [(c, make_stage(c.rules, choice)) for c in compiled.combined]
        except RuleError as error:
            raise misfit(error) from error

    @property
    def stages(self) -> tuple[Stage, ...]:
        """Give the engines in use."""
        return (*self._tests, *(stage for _, stage in self._combined))

    def decide(self, facts: Iterable[Fact], notes: list[str]) -> dict[str, Truth]:
        """Decide all conditions; what the facts are too many for stays unknown, and is noted."""
        known = tuple(facts)
        order = {identity(fact): at for at, fact in enumerate(known)}
        tested: Decided = {}
        for stage in self._tests:
            tested |= _tested(_infer(stage, (*known, ALWAYS), notes))
        decided = dict(tested)
        for part, stage in self._combined:
            inference = _infer(stage, (marker(*one) for one in tested), notes)
            decided |= self._roots_of(part, inference, tested)
        return {ident: _truth(root, decided, order) for ident, root in self._roots.items()}

    def _roots_of(self, part: Combined, inference: Inference, tested: Decided) -> Decided:
        index = {literal(fact): at for at, fact in enumerate(inference.facts)}
        out: Decided = {}
        for ident in part.roots:
            node = self._roots[ident][0]
            for one in ((node, True), (node, False)):
                if one in index:
                    leaves = (literal(leaf) for leaf in _leaves(inference, index[one]))
                    out[one] = tuple(fact for leaf in leaves for fact in tested[leaf])
        return out


def _infer(stage: Stage, facts: Iterable[Fact], notes: list[str]) -> Inference:
    """Infer on as many facts as the stage takes; when it takes none, nothing follows."""
    known = tuple(facts)
    for copies in MOST_COPIES:
        inference = stage.infer(alike_once(stage.base, known, copies), notes)
        if inference is not None:
            return inference
    notes.append("the facts were too many to decide some conditions")
    return Inference(facts=(), firings=(), support={})


def _tested(inference: Inference) -> Decided:
    out: Decided = {}
    for at, firings in inference.support.items():
        rests_on = dict.fromkeys(i for firing in firings for i in firing.facts)
        facts = (inference.facts[i] for i in rests_on)
        out[literal(inference.facts[at])] = tuple(f for f in facts if f.kind != ALWAYS.kind)
    return out


def _leaves(inference: Inference, index: int) -> list[Fact]:
    """Give the given facts that a derived one rests on."""
    pending, seen = [index], {index}
    out: list[Fact] = []
    while pending:
        at = pending.pop()
        firings = inference.support.get(at, ())
        if not firings:
            out.append(inference.facts[at])
        below = {i for firing in firings for i in firing.facts} - seen
        seen |= below
        pending += below
    return out


def _truth(root: Literal, decided: Decided, order: Mapping[tuple[object, ...], int]) -> Truth:
    node, sign = root
    yes, no = decided.get((node, sign)), decided.get((node, not sign))
    facts = yes if no is None else no if yes is None else None
    if facts is None:
        return Truth(holds=None)
    shown = sorted({identity(fact): fact for fact in facts}.items(), key=lambda kv: order[kv[0]])
    return Truth(holds=no is None, facts=tuple(fact for _, fact in shown[:MOST_EVIDENCE]))
