"""Conditions of `kb/` as engine rules that decide each of them: true, false or neither.

Every distinct part of a condition becomes a node. Rules conclude "node n is true" and "node n is
false" separately, each from what is known; a test of a missing fact matches neither, so what stays
undecided is unknown. That is Kleene's logic: `all` is false as soon as one part is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from trainrx.engine.base import Check, EngineRule, Inference, Op, Pattern, RuleError, Template
from trainrx.engine.limits import MAX_PATTERNS, chunks
from trainrx.engine.rulebase import sorts_used
from trainrx.engine.rules import LOG_GIVEN, field_checks
from trainrx.kb.conditions import packages_of, walk
from trainrx.model.errors import KnowledgeError
from trainrx.model.facts import Fact, Scalar
from trainrx.model.knowledge import Condition

ALWAYS = Fact(kind="always", how="given")
"""A fact that must be among the facts conditions are decided on."""
MAX_PARTS = 200
_OPPOSITE: Mapping[Op, Op] = {
    "eq": "ne",
    "ne": "eq",
    "lt": "ge",
    "ge": "lt",
    "le": "gt",
    "gt": "le",
}

Literal = tuple[int, bool]
"""A node, or (False) its negation."""


class CompiledConditions(msgspec.Struct, frozen=True, kw_only=True):
    """Rules that decide some conditions, and which node each of them is."""

    rules: tuple[EngineRule, ...]
    roots: Mapping[str, Literal]


class Truth(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a condition holds (None: unknown), and the facts that decided it."""

    holds: bool | None
    facts: tuple[Fact, ...] = ()


def compile_conditions(
    conditions: Mapping[str, Condition], observations: Collection[str] = ()
) -> tuple[CompiledConditions, ...]:
    """Translate conditions; more than one result where one rule base could not hold them.

    A symptom is false when a log is at hand and holds no line that could be it; `observations`
    are symptoms only a user's note can show, so their absence from a log says nothing.

    Raises:
        KnowledgeError: a condition is malformed or too large; names its id.
    """
    table = _Table(observations)
    roots = {ident: table.root(ident, condition) for ident, condition in conditions.items()}
    groups = {ident: tuple(table.rules_of(node)) for ident, (node, _) in roots.items()}
    try:
        sorts_used(rule for group in groups.values() for rule in group)
    except RuleError as error:
        raise misfit(error) from error
    out: list[CompiledConditions] = []
    for rules in chunks(groups.values()):
        held = {rule.id for rule in rules}
        mine = {
            ident: root for ident, root in roots.items() if held.issuperset(_ids(groups[ident]))
        }
        out.append(CompiledConditions(rules=rules, roots=mine))
    return tuple(out)


def misfit(error: RuleError) -> KnowledgeError:
    """Turn what a rule base refused into an error that names the condition."""
    return KnowledgeError(error.rule.rpartition(": ")[0] or "conditions", "", error.message)


def version_tests(conditions: Iterable[Condition]) -> set[tuple[str, str]]:
    """List the (package, range) pairs whose truth the facts must give, see `version_kind`."""
    return {pair for condition in conditions for pair in packages_of(condition)}


def version_kind(package: str, versions: str) -> str:
    """Name the boolean fact that says whether a package's version lies in a range."""
    return f"version.{package} {versions}"


def read_truths(compiled: CompiledConditions, inference: Inference) -> dict[str, Truth]:
    """Say of each condition whether it holds, with the facts that decided it."""
    markers = {fact.kind: index for index, fact in enumerate(inference.facts)}
    out: dict[str, Truth] = {}
    for ident, (node, sign) in compiled.roots.items():
        yes, no = markers.get(_marker(node, sign)), markers.get(_marker(node, not sign))
        out[ident] = Truth(holds=None)
        if yes is not None and no is None:
            out[ident] = Truth(holds=True, facts=tuple(_leaves(inference, yes)))
        elif no is not None and yes is None:
            out[ident] = Truth(holds=False, facts=tuple(_leaves(inference, no)))
    return out


def _leaves(inference: Inference, index: int) -> Iterator[Fact]:
    """Give the facts from outside that a marker rests on."""
    pending, seen = [index], {index}
    while pending:
        for firing in inference.support.get(pending.pop(), ()):
            for below in firing.facts:
                fact = inference.facts[below]
                if below in seen:
                    continue
                seen.add(below)
                if fact.kind.startswith("truth."):
                    pending.append(below)
                elif fact.kind != ALWAYS.kind:
                    yield fact


def _ids(rules: Iterable[EngineRule]) -> set[str]:
    return {rule.id for rule in rules}


class _Node(msgspec.Struct, frozen=True, kw_only=True):
    rules: tuple[EngineRule, ...]
    parts: tuple[int, ...] = ()


class _Table:
    """All nodes, each distinct part once, numbered from 1."""

    def __init__(self, observations: Collection[str]) -> None:
        self.observations = observations
        self.nodes: list[_Node] = [_Node(rules=())]
        self.known: dict[object, int] = {}

    def root(self, ident: str, condition: Condition) -> Literal:
        """Enter one condition.

        Raises:
            KnowledgeError: it is malformed.
        """
        for number, (_, problem) in enumerate(walk(condition)):
            if number >= MAX_PARTS:
                raise KnowledgeError(ident, "", f"more than {MAX_PARTS} parts: split the condition")
            if problem:
                raise KnowledgeError(ident, "", problem)
        try:
            return self._literal(ident, condition)
        except ValueError as error:
            raise KnowledgeError(ident, "", str(error)) from error

    def rules_of(self, node: int) -> Iterator[EngineRule]:
        """Give the rules that decide a node, its parts first."""
        for part in self.nodes[node].parts:
            yield from self.rules_of(part)
        yield from self.nodes[node].rules

    def _literal(self, ident: str, condition: Condition) -> Literal:
        if condition.not_ is not None:
            node, sign = self._literal(ident, condition.not_)
            return node, not sign
        if condition.all is not None:
            return self._all(ident, [self._literal(ident, part) for part in condition.all])
        if condition.any is not None:
            # any = not all not
            parts = [self._literal(ident, part) for part in condition.any]
            node, sign = self._all(ident, [(node, not sign) for node, sign in parts])
            return node, not sign
        key = msgspec.json.encode(msgspec.structs.replace(condition, seen=True))
        if key not in self.known:
            number = len(self.nodes)
            yes, no = self._atom(condition)
            rules = (
                *(_rule(ident, number, True, i, when) for i, when in enumerate(yes)),
                *(_rule(ident, number, False, i, when) for i, when in enumerate(no)),
            )
            self._enter(key, _Node(rules=rules))
        return self.known[key], condition.seen

    def _all(self, ident: str, parts: list[Literal]) -> Literal:
        parts = sorted(set(parts))
        while len(parts) > MAX_PATTERNS:
            parts = [self._all(ident, parts[:MAX_PATTERNS]), *parts[MAX_PATTERNS:]]
        if len(parts) == 1:
            return parts[0]
        key = tuple(parts)
        if key not in self.known:
            number = len(self.nodes)
            whole = tuple(_reads(node, sign) for node, sign in parts)
            rules = [_rule(ident, number, True, 0, whole)]
            for at, (node, sign) in enumerate(parts):
                rules.append(_rule(ident, number, False, at, (_reads(node, not sign),)))
            self._enter(key, _Node(rules=tuple(rules), parts=tuple(node for node, _ in parts)))
        return self.known[key], True

    def _enter(self, key: object, node: _Node) -> None:
        self.known[key] = len(self.nodes)
        self.nodes.append(node)

    def _atom(self, condition: Condition) -> tuple[_Ways, _Ways]:
        """Give the ways in which a single test is true, and in which it is false."""
        if condition.symptom is not None:
            return self._symptom(condition.symptom, condition.if_ or {})
        if condition.package is not None:
            kind = version_kind(condition.package, condition.versions or "")
            return [(_value(kind, "eq", True),)], [(_value(kind, "eq", False),)]
        return _fact(condition)

    def _symptom(
        self, symptom: str, tests: Mapping[str, Scalar | dict[str, Scalar]]
    ) -> tuple[_Ways, _Ways]:
        checks = tuple(Check(*test) for test in field_checks(tests))
        kind = f"symptom.{symptom}"
        seen = Pattern(kind=kind, checks=checks)
        # a sighting whose tested field is not known might be the one
        never = Pattern(kind=kind, checks=checks, absent=True, lenient=True)
        return [(seen,)], [] if symptom in self.observations else [(LOG_GIVEN, never)]


_Ways = list[tuple[Pattern, ...]]


def _fact(condition: Condition) -> tuple[_Ways, _Ways]:
    kind = condition.fact or ""
    if condition.known is not None:
        some = Pattern(kind=kind, checks=(Check("value", "known"),))
        there: _Ways = [(some,)]
        not_there: _Ways = [(Pattern(kind=ALWAYS.kind), msgspec.structs.replace(some, absent=True))]
        return (there, not_there) if condition.known else (not_there, there)
    if condition.one_of is not None:
        none_of = tuple(Check("value", "ne", value) for value in condition.one_of)
        any_of: _Ways = [(_value(kind, "eq", value),) for value in condition.one_of]
        return any_of, [(Pattern(kind=kind, checks=none_of),)]
    for op in _OPPOSITE:
        value = getattr(condition, op)
        if value is not None:
            return [(_value(kind, op, value),)], [(_value(kind, _OPPOSITE[op], value),)]
    raise ValueError(f"{kind}: has no test")


def _value(kind: str, op: Op, value: Scalar) -> Pattern:
    return Pattern(kind=kind, checks=(Check("value", op, value),))


def _marker(node: int, sign: bool) -> str:
    """Name the fact that says a node is true (or false).

    Each has a kind of its own: no rule then sees combinations of them.
    """
    return f"truth.{node}{'+' if sign else '-'}"


def _reads(node: int, sign: bool) -> Pattern:
    return Pattern(kind=_marker(node, sign))


def _rule(ident: str, node: int, sign: bool, way: int, when: tuple[Pattern, ...]) -> EngineRule:
    """Make the rule that concludes a node's truth; its id names the first condition that asked."""
    marker = _marker(node, sign)
    return EngineRule(
        id=f"{ident[:150]}: {marker}.{way}", when=when, derive=(Template(kind=marker),)
    )
