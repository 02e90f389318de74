"""Rules of `rules/` as engine rules."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

import msgspec

from trainrx.model.errors import KnowledgeError
from trainrx.model.facts import Scalar
from trainrx.model.knowledge import Action, FactClause, Rule
from trainrx.reason.base import (
    COMPARE,
    Check,
    Copy,
    EngineRule,
    Join,
    Op,
    Pattern,
    RuleError,
    Template,
    comparable,
)
from trainrx.reason.limits import MAX_PATTERNS

_REFERENCE = re.compile(r"\$([A-Za-z][\w-]*)\.([A-Za-z]\w*)")
_ALIAS = re.compile(r"\$([A-Za-z][\w-]*)")
LOG_GIVEN = Pattern(kind="log.given", checks=(Check("value", "eq", True),))
CLOCK = "clock"
"""The field that says which clock an `at` was read from; times of two clocks are not compared."""


class RuleNames(msgspec.Struct, frozen=True, kw_only=True):
    """The ids that rules may speak of."""

    symptoms: Collection[str]
    causes: Collection[str]
    facts: Collection[str]


def compile_rule(rule: Rule, names: RuleNames | None = None, path: str = "") -> EngineRule:
    """Translate a rule; with `names`, ids that do not exist are refused.

    Absence of a symptom holds only where a log is at hand; absence of a plain fact means that it
    is not known.

    Raises:
        KnowledgeError: the rule is malformed; names file and key path.
    """
    path = path or f"rules/{rule.stage}/{rule.id}.yaml"
    aliases = _aliases(rule, path)
    patterns: list[Pattern] = []
    joins: list[Join] = []
    for at, clause in enumerate(rule.when):
        where = f"when[{at}]"
        _check_clause(clause, names, path, where)
        alias = clause.as_ or f"#{at}"
        checks, compared = _tests(clause, path, where)
        patterns.append(_pattern(clause, alias, checks))
        joins += (_bound(join, alias, aliases, clause, (path, where)) for join in compared)
    if all(pattern.absent for pattern in patterns):
        raise KnowledgeError(path, "when", "needs a clause that is not absent")
    if any(clause.symptom and clause.absent for clause in rule.when):
        patterns.append(LOG_GIVEN)
    if len(patterns) > MAX_PATTERNS:
        raise KnowledgeError(path, "when", f"more than {MAX_PATTERNS} clauses")
    return EngineRule(
        id=rule.id,
        when=tuple(patterns),
        joins=tuple(joins),
        derive=tuple(_templates(rule, aliases, names, path)),
    )


def misfit(error: RuleError, rules: Mapping[str, Rule]) -> KnowledgeError:
    """Turn what a rule base refused into an error that names the rule's file."""
    rule = rules.get(error.rule)
    path = f"rules/{rule.stage}/{rule.id}.yaml" if rule is not None else error.rule or "rules"
    return KnowledgeError(path, "when", error.message)


def field_checks(
    tests: Mapping[str, Scalar | dict[str, Scalar]], extra_ops: Collection[str] = ()
) -> Iterator[tuple[str, Op, Scalar]]:
    """Give each test of an `if` as field, operator and constant.

    Raises:
        ValueError: an operator is unknown or a constant cannot be compared; the message says so.
    """
    for field, test in tests.items():
        for op, constant in (test if isinstance(test, dict) else {"eq": test}).items():
            if op not in COMPARE and op not in extra_ops:
                known = ", ".join((*COMPARE, *extra_ops))
                raise ValueError(f"{field}: no operator {op!r}, only {known}")
            if op == "known" and not isinstance(constant, bool):
                raise ValueError(f"{field}: known is true or false")
            if comparable(constant) is None:
                raise ValueError(f"{field}: {constant!r} cannot be compared")
            yield field, _OPS[op], constant


_OPS: Mapping[str, Op] = {
    "eq": "eq",
    "ne": "ne",
    "lt": "lt",
    "le": "le",
    "gt": "gt",
    "ge": "ge",
    "known": "known",
}


def _aliases(rule: Rule, path: str) -> dict[str, FactClause]:
    out: dict[str, FactClause] = {}
    for at, clause in enumerate(rule.when):
        if not clause.as_:
            continue
        if not _ALIAS.fullmatch(f"${clause.as_}"):
            raise KnowledgeError(path, f"when[{at}].as", f"{clause.as_!r} is not a plain word")
        if clause.as_ in out:
            raise KnowledgeError(path, f"when[{at}].as", f"{clause.as_!r} stands twice")
        out[clause.as_] = clause
    return out


def _check_clause(clause: FactClause, names: RuleNames | None, path: str, where: str) -> None:
    if (clause.symptom is None) == (clause.fact is None):
        raise KnowledgeError(path, where, "needs exactly one of symptom and fact")
    if names is not None and clause.symptom and clause.symptom not in names.symptoms:
        raise KnowledgeError(path, f"{where}.symptom", f"no symptom {clause.symptom!r}")
    if names is not None and clause.fact and clause.fact not in names.facts:
        raise KnowledgeError(path, f"{where}.fact", f"no fact {clause.fact!r}")


def _tests(clause: FactClause, path: str, where: str) -> tuple[tuple[Check, ...], list[Join]]:
    checks: list[Check] = []
    joins: list[Join] = []
    try:
        for field, op, constant in field_checks(clause.if_, ("known",)):
            reference = _REFERENCE.fullmatch(constant) if isinstance(constant, str) else None
            if op == "known":
                checks.append(Check(field, "known" if constant else "missing"))
            elif reference is None:
                checks.append(Check(field, op, constant))
            else:
                joins.append(_join(field, op, *reference.groups()))
    except ValueError as error:
        raise KnowledgeError(path, f"{where}.if", str(error)) from error
    return tuple(checks), joins


def _join(field: str, op: Op, right: str, right_field: str) -> Join:
    """Make a join whose left side is still to be named."""
    same = (CLOCK,) if "at" in (field, right_field) else ()
    return Join(left="", left_field=field, op=op, right=right, right_field=right_field, same=same)


def _bound(
    join: Join,
    alias: str,
    aliases: Mapping[str, FactClause],
    clause: FactClause,
    place: tuple[str, str],
) -> Join:
    path, where = place
    key = f"{where}.if.{join.left_field}"
    if clause.absent:
        raise KnowledgeError(path, key, "an absent clause cannot be compared with another")
    other = aliases.get(join.right)
    if other is None:
        raise KnowledgeError(path, key, f"no clause is called {join.right!r}")
    if other.absent:
        raise KnowledgeError(path, key, f"the clause {join.right!r} is absent, so has no fields")
    return msgspec.structs.replace(join, left=alias)


def _pattern(clause: FactClause, alias: str, checks: tuple[Check, ...]) -> Pattern:
    return Pattern(
        kind=f"symptom.{clause.symptom}" if clause.symptom else clause.fact or "",
        checks=checks,
        alias=alias,
        absent=clause.absent,
        lenient=clause.absent,
    )


def _templates(
    rule: Rule, aliases: Mapping[str, FactClause], names: RuleNames | None, path: str
) -> Iterator[Template]:
    for at, action in enumerate(rule.then):
        where = f"then[{at}]"
        _check_action(action, aliases, names, path, where)
        if action.fact is not None:
            value: Scalar | Copy = action.fact.value
            copied = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
            if copied is not None:
                if copied[1] not in aliases or aliases[copied[1]].absent:
                    raise KnowledgeError(path, f"{where}.fact.value", f"nothing is {value}")
                value = Copy(copied[1], copied[2])
            yield Template(kind=action.fact.name, fields=(("value", value),))


def _check_action(
    action: Action,
    aliases: Mapping[str, FactClause],
    names: RuleNames | None,
    path: str,
    where: str,
) -> None:
    said = [k for k in ("fact", "suggest", "explain", "ask") if getattr(action, k) is not None]
    if len(said) != 1:
        raise KnowledgeError(path, where, "needs exactly one of fact, suggest, explain, ask")
    if names is not None and action.fact is not None and action.fact.name not in names.facts:
        raise KnowledgeError(path, f"{where}.fact.name", f"no fact {action.fact.name!r}")
    if names is not None and action.suggest and action.suggest.cause not in names.causes:
        raise KnowledgeError(path, f"{where}.suggest.cause", f"no cause {action.suggest.cause!r}")
    if names is not None and action.ask is not None and action.ask not in names.facts:
        raise KnowledgeError(path, f"{where}.ask", f"no fact {action.ask!r}")
    if action.explain is None:
        return
    ends = {"effect": action.explain.effect, "by": action.explain.by}
    if len({end.startswith("$") for end in ends.values()}) != 1:
        raise KnowledgeError(path, f"{where}.explain", "mixes an alias with a cause")
    for key, end in ends.items():
        clause = aliases.get(end[1:])
        if end.startswith("$") and (clause is None or clause.absent or not clause.symptom):
            raise KnowledgeError(path, f"{where}.explain.{key}", f"{end} is no symptom seen here")
        if names is not None and not end.startswith("$") and end not in names.causes:
            raise KnowledgeError(path, f"{where}.explain.{key}", f"no cause {end!r}")
