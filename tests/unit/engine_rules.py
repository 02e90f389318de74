"""Short forms for engine tests, and a run over both engines that must agree in everything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trainrx.model.facts import Fact, Origin, Scalar
from trainrx.reason.base import Check, Copy, EngineRule, Inference, Join, Pattern, Template
from trainrx.reason.durable import DurableEngine
from trainrx.reason.reference import PyEngine
from trainrx.reason.rulebase import RuleBase


def given(kind: str, source: str = "", /, **fields: Scalar) -> Fact:
    origins = (Origin(source=source),) if source else ()
    return Fact(kind=kind, fields=tuple(fields.items()), origins=origins)


def pattern(kind: str, *checks: tuple, alias: str = "", **rest: bool) -> Pattern:
    return Pattern(kind=kind, checks=tuple(Check(*c) for c in checks), alias=alias, **rest)


def absent(kind: str, *checks: tuple) -> Pattern:
    return pattern(kind, *checks, absent=True)


def concludes(kind: str, **fields: Scalar | Copy) -> Template:
    return Template(kind=kind, fields=tuple(fields.items()))


def rule(
    ident: str, *when: Pattern, joins: Sequence[Join] = (), derive: Sequence[Template] = ()
) -> EngineRule:
    return EngineRule(id=ident, when=when, joins=tuple(joins), derive=tuple(derive))


def join(left: str, op: str, right: str) -> Join:
    (one, field), (two, other) = left.split("."), right.split(".")
    return Join(left=one, left_field=field, op=op, right=two, right_field=other)


def both(rules: Sequence[EngineRule], facts: Iterable[Fact]) -> Inference:
    base = RuleBase(rules)
    facts = list(facts)
    durable = DurableEngine(base)
    one = durable.infer(facts)
    durable.close()
    assert repr(one) == repr(PyEngine(base).infer(facts))
    return one


def fired(inference: Inference) -> list[str]:
    return [firing.rule for firing in inference.firings]
