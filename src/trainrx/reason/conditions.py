"""Conditions of `kb/` as engine rules that decide each of them: true, false or neither.

Every distinct part of a condition becomes a node. Rules conclude "node n is true" and "node n is
false" separately, each from what is known; a test of a missing fact matches neither, so what stays
undecided is unknown. That is Kleene's logic: `all` is false as soon as one part is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from trainrx.knowledge.conditions import packages_of, walk
from trainrx.model.errors import KnowledgeError
from trainrx.model.facts import Fact, Scalar
from trainrx.model.parts import Condition
from trainrx.reason.base import Check, EngineRule, Op, Pattern, RuleError, Template
from trainrx.reason.limits import MAX_PATTERNS, chunks
from trainrx.reason.rulebase import sorts_used
from trainrx.reason.rules import LOG_GIVEN, field_checks

ALWAYS = Fact(kind="always", how="given")
"""A fact that must be among the facts conditions are decided on."""
MAX_PARTS = 200
_PER_KIND = 25  # nodes per marker kind: two patterns each, below the limit of one kind
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


class Truth(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a condition holds (None: unknown), and the facts that decided it, as they came."""

    holds: bool | None
    facts: tuple[Fact, ...] = ()


class Combined(msgspec.Struct, frozen=True, kw_only=True):
    """Rules that combine single tests, and the conditions they decide."""

    rules: tuple[EngineRule, ...]
    roots: tuple[str, ...]


class CompiledConditions(msgspec.Struct, frozen=True, kw_only=True):
    """Rules that decide single tests, rules that combine them, and the node of each condition.

    There are several lists of each where one rule base could not hold them; a fact is read by the
    rules of one list only.
    """

    tests: tuple[tuple[EngineRule, ...], ...]
    combined: tuple[Combined, ...]
    roots: Mapping[str, Literal]


def compile_conditions(
    conditions: Mapping[str, Condition], observations: Collection[str] = ()
) -> CompiledConditions:
    """Translate conditions.

    A symptom is false when a log is at hand and holds no line that could be it; `observations`
    are symptoms only a user's note can show, so their absence from a log says nothing.

    Raises:
        KnowledgeError: a condition is malformed or too large; names its id.
    """
    table = _Table(observations)
    roots = {ident: table.root(ident, condition) for ident, condition in conditions.items()}
    try:
        sorts_used(rule for node in table.nodes for rule in node.rules)
    except RuleError as error:
        raise misfit(error) from error
    by_kind = sorted((n for n in table.nodes if not n.parts), key=lambda n: n.about)
    return CompiledConditions(
        tests=tuple(chunks(list(n.rules) for n in by_kind)),
        combined=tuple(_combined(table, roots)),
        roots=roots,
    )


def _combined(table: _Table, roots: Mapping[str, Literal]) -> Iterator[Combined]:
    groups = {
        ident: tuple(table.combining(node))
        for ident, (node, _) in roots.items()
        if table.nodes[node].parts
    }
    for rules in chunks(groups.values()):
        held = {rule.id for rule in rules}
        yield Combined(
            rules=rules,
            roots=tuple(i for i, group in groups.items() if held.issuperset(r.id for r in group)),
        )


def misfit(error: RuleError) -> KnowledgeError:
    """Turn what a rule base refused into an error that names the condition."""
    return KnowledgeError(error.rule.rpartition(": ")[0] or "conditions", "", error.message)


def version_tests(conditions: Iterable[Condition]) -> set[tuple[str, str]]:
    """List the (package, range) pairs whose truth the facts must give, see `version_kind`."""
    return {pair for condition in conditions for pair in packages_of(condition)}


def version_kind(package: str, versions: str) -> str:
    """Name the boolean fact that says whether a package's version lies in a range."""
    return f"version.{package} {versions}"


class _Node(msgspec.Struct, frozen=True, kw_only=True):
    """A single test (of the fact kind `about`) or, with parts, a combination."""

    rules: tuple[EngineRule, ...]
    about: str = ""
    parts: tuple[int, ...] = ()


class _Table:
    """All nodes, each distinct part once."""

    def __init__(self, observations: Collection[str]) -> None:
        self.observations = observations
        self.nodes: list[_Node] = []
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

    def combining(self, node: int) -> Iterator[EngineRule]:
        """Give the rules that combine single tests into a node, its parts first."""
        for part in self.nodes[node].parts:
            yield from self.combining(part)
        if self.nodes[node].parts:
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
            self._enter(key, _Node(rules=rules, about=_about(condition)))
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
    op = next(op for op in _OPPOSITE if getattr(condition, op) is not None)
    value = getattr(condition, op)
    return [(_value(kind, op, value),)], [(_value(kind, _OPPOSITE[op], value),)]


def _value(kind: str, op: Op, value: Scalar) -> Pattern:
    return Pattern(kind=kind, checks=(Check("value", op, value),))


def _about(condition: Condition) -> str:
    return condition.fact or condition.package or f"symptom.{condition.symptom}"


def marker(node: int, sign: bool) -> Fact:
    """Give the fact that says a node is true (or false)."""
    return Fact(kind=f"truth.{node // _PER_KIND}", fields=(("id", 2 * node + sign),), how="derived")


def literal(fact: Fact) -> Literal:
    """Read back what a marker says."""
    node, sign = divmod(int(fact.get("id") or 0), 2)
    return node, bool(sign)


def _reads(node: int, sign: bool) -> Pattern:
    fact = marker(node, sign)
    return Pattern(kind=fact.kind, checks=(Check("id", "eq", fact.get("id")),))


def _rule(ident: str, node: int, sign: bool, way: int, when: tuple[Pattern, ...]) -> EngineRule:
    """Make the rule that concludes a node's truth; its id names the first condition that asked."""
    fact = marker(node, sign)
    return EngineRule(
        id=f"{ident[:150]}: {node}{'+' if sign else '-'}{way}",
        when=when,
        derive=(Template(kind=fact.kind, fields=fact.fields),),
    )
