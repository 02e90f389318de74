"""What a condition speaks of, and whether it is well formed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from trainrx.model.errors import KnowledgeError
from trainrx.model.facts import Scalar, finite
from trainrx.model.parts import Condition

if TYPE_CHECKING:
    from trainrx.model.knowledge import Cause, Symptom  # lint does without

NUMERIC = ("lt", "le", "gt", "ge")
OPS = ("eq", "ne", *NUMERIC)
ARGUMENT = "arg."
"""What a fact begins with that is an argument under the framework's own name."""
COUNT = "count."
"""What a fact begins with that is how many items such an argument holds."""
FACT_TESTS = (*OPS, "one_of", "known")


def walk(condition: Condition) -> Iterator[tuple[Condition, str]]:
    """Give every node with what is wrong with it ("" when nothing is)."""
    yield from ((part, _problem(part)) for part in parts_of(condition))


def parts_of(condition: Condition) -> Iterator[Condition]:
    """Give a condition and all those within it."""
    pending = [condition]
    while pending:
        part = pending.pop()
        yield part
        if part.not_ is not None:
            pending.append(part.not_)
        pending += reversed((*(part.all or ()), *(part.any or ())))


def conditions_of(cause: Cause) -> Iterator[tuple[str, Condition]]:
    """Give every condition a cause holds, by its name."""
    for vote in cause.evidence.supports:
        yield f"{cause.id}/for/{vote.id}", vote.when
    for vote in cause.evidence.contradicts:
        yield f"{cause.id}/against/{vote.id}", vote.when
    for index, case in enumerate(cause.priors):
        yield f"{cause.id}/prior/{index}", case.when
    if cause.requires is not None:
        yield f"{cause.id}/requires", cause.requires
    for fix in cause.fixes:
        if fix.only_if is not None:
            yield f"{cause.id}/fix/{fix.id}", fix.only_if


def tests_of(symptom: Symptom) -> Iterator[tuple[str, Condition]]:
    """Give the tests of fields that say when a symptom is an echo, as conditions."""
    for echo in symptom.echo_of:
        name = f"{symptom.id}/echo_of"
        yield name, Condition(symptom=symptom.id, if_=echo.if_)
        yield from ((name, Condition(symptom=by, if_=echo.by_if)) for by in echo.by)


def refuse_malformed(conditions: Iterable[tuple[str, Condition]]) -> None:
    """Look whether conditions can be decided side by side, as one job may ask any of them.

    Raises:
        KnowledgeError: one is malformed, or tests something as another type than one before;
            names it.
    """
    types: dict[str, str] = {}
    for name, condition in conditions:
        for node, problem in walk(condition):
            if problem:
                raise KnowledgeError(name, "", problem)
            for tested, op, value in _constants(node):
                if op == "known":
                    continue
                known = types.setdefault(tested, _type(value))
                if known != _type(value):
                    said = f"{tested} used with two types: {known} and {_type(value)}"
                    raise KnowledgeError(name, "", said)


def facts_of(condition: Condition) -> tuple[str, ...]:
    """List the plain facts a condition tests, in order, each once."""
    return tuple(dict.fromkeys(c.fact for c in parts_of(condition) if c.fact))


def arguments_of(condition: Condition) -> tuple[str, ...]:
    """List the arguments a condition tests by the framework's own name, prefix included."""
    named = (
        ARGUMENT + name.removeprefix(COUNT) if name.startswith(COUNT) else name
        for name in facts_of(condition)
    )
    return tuple(dict.fromkeys(name for name in named if name.startswith(ARGUMENT)))


def symptoms_of(condition: Condition) -> tuple[str, ...]:
    """List the symptoms a condition tests, in order, each once."""
    return tuple(dict.fromkeys(c.symptom for c in parts_of(condition) if c.symptom))


def packages_of(condition: Condition) -> tuple[tuple[str, str], ...]:
    """List the (package, range) pairs a condition tests, in order, each once."""
    pairs = ((c.package, c.versions or "") for c in parts_of(condition) if c.package)
    return tuple(dict.fromkeys(pairs))


def _problem(node: Condition) -> str:
    kinds = [
        name
        for name in ("fact", "symptom", "package", "all", "any", "not_")
        if getattr(node, name) is not None
    ]
    if len(kinds) != 1:
        return "needs exactly one of fact, symptom, package, all, any, not"
    tests = [op for op in FACT_TESTS if getattr(node, op) is not None]
    if kinds[0] == "fact" and len(tests) != 1:
        return f"{node.fact}: needs exactly one test of {', '.join(FACT_TESTS)}"
    if kinds[0] == "package" and node.known is not None:
        tests.remove("known")
    if kinds[0] != "fact" and tests:
        return f"{tests[0]} belongs to a fact"
    if kinds[0] == "package" and node.versions is None:
        return f"{node.package}: needs versions"
    if node.if_ is not None and kinds[0] != "symptom":
        return "`if` belongs to a symptom"
    for field, test in (node.if_ or {}).items():
        if isinstance(test, dict) and not set(test) <= {*OPS, "known"}:
            return f"if.{field}: knows only {', '.join(OPS)}, known"
    if kinds[0] in ("all", "any") and not getattr(node, kinds[0]):
        return f"{kinds[0]} is empty"
    return _unusable(node)


def _unusable(node: Condition) -> str:
    """Say which constant of a test nothing can be compared with."""
    for tested, op, value in _constants(node):
        if not finite(value):
            return f"{tested}: {value!r} cannot be compared"
        if op == "known" and value not in (True, False):
            return f"{tested}: known is true or false, not {value!r}"
        if op in NUMERIC and _type(value) != "number":
            return f"{tested}: operator {op} needs a number, not {value!r}"
    return ""


def _constants(node: Condition) -> Iterator[tuple[str, str, Scalar]]:
    """Give what a test compares, how and with which constants."""
    for value in node.one_of or ():
        yield node.fact or "", "eq", value
    for op in OPS:
        if (wanted := getattr(node, op)) is not None:
            yield node.fact or "", op, wanted
    for field, test in (node.if_ or {}).items():
        for op, value in (test if isinstance(test, dict) else {"eq": test}).items():
            yield f"symptom.{node.symptom}.{field}", op, value


def _type(value: Scalar) -> str:
    if isinstance(value, bool):
        return "switch"
    return "text" if isinstance(value, str) else "number"
