"""What rules concluded beyond the facts they derived."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from trainrx.model.facts import Fact
from trainrx.model.knowledge import Rule
from trainrx.model.text import Text
from trainrx.reason.base import EngineRule, Firing
from trainrx.reason.rulebase import positive


class Suggested(msgspec.Struct, frozen=True, kw_only=True):
    """A rule's vote for (weight > 0) or against a cause, in nats, and the facts it rests on.

    Votes of one `group` are correlated: only the strongest counts.
    """

    rule: str
    cause: str
    weight: float
    why: Text
    group: str
    facts: tuple[Fact, ...]


class Explained(msgspec.Struct, frozen=True, kw_only=True):
    """`effect` follows from `by`: ids of symptoms (then with the two sightings) or of causes."""

    rule: str
    effect: str
    by: str
    effect_fact: Fact | None = None
    by_fact: Fact | None = None


class FactQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that a rule wants to know."""

    rule: str
    what: str
    facts: tuple[Fact, ...]


def conclusions(
    rule: Rule, compiled: EngineRule, firing: Firing, facts: Sequence[Fact]
) -> Iterator[Suggested | Explained | FactQuestion]:
    """Read what a firing says beyond the facts it derived."""
    matched = tuple(facts[index] for index in firing.facts)
    by_alias = dict(zip((p.alias for p in positive(compiled)), matched, strict=True))
    # the log.given pattern that absence brings is no evidence
    shown = tuple(fact for alias, fact in by_alias.items() if alias)
    for action in rule.then:
        if action.suggest is not None:
            vote = action.suggest
            yield Suggested(
                rule=rule.id,
                cause=vote.cause,
                weight=vote.weight,
                why=vote.why,
                group=vote.group or f"rule:{rule.id}",
                facts=shown,
            )
        elif action.explain is not None:
            yield _explained(rule.id, action.explain.effect, action.explain.by, by_alias)
        elif action.ask is not None:
            yield FactQuestion(rule=rule.id, what=action.ask, facts=shown)


def _explained(rule: str, effect: str, by: str, by_alias: Mapping[str, Fact]) -> Explained:
    one, two = by_alias.get(effect[1:]), by_alias.get(by[1:])
    if not effect.startswith("$") or one is None or two is None:
        return Explained(rule=rule, effect=effect, by=by)
    return Explained(
        rule=rule,
        effect=one.kind.removeprefix("symptom."),
        by=two.kind.removeprefix("symptom."),
        effect_fact=one,
        by_fact=two,
    )
