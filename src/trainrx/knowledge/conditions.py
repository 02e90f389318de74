"""What a condition speaks of, and whether it is well formed."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.model.parts import Condition

NUMERIC = ("lt", "le", "gt", "ge")
OPS = ("eq", "ne", *NUMERIC)
ARGUMENT = "arg."
"""What a fact begins with that is an argument under the framework's own name."""
COUNT = "count."
"""What a fact begins with that is how many items such an argument holds."""
FACT_TESTS = (*OPS, "one_of", "known")


def walk(condition: Condition) -> Iterator[tuple[Condition, str]]:
    """Give every node with what is wrong with it ("" when nothing is)."""
    yield condition, _problem(condition)
    for part in (*(condition.all or ()), *(condition.any or ())):
        yield from walk(part)
    if condition.not_ is not None:
        yield from walk(condition.not_)


def facts_of(condition: Condition) -> tuple[str, ...]:
    """List the plain facts a condition tests, in order, each once."""
    return tuple(dict.fromkeys(c.fact for c, _ in walk(condition) if c.fact))


def arguments_of(condition: Condition) -> tuple[str, ...]:
    """List the arguments a condition tests by the framework's own name, prefix included."""
    named = (
        ARGUMENT + name.removeprefix(COUNT) if name.startswith(COUNT) else name
        for name in facts_of(condition)
    )
    return tuple(dict.fromkeys(name for name in named if name.startswith(ARGUMENT)))


def symptoms_of(condition: Condition) -> tuple[str, ...]:
    """List the symptoms a condition tests, in order, each once."""
    return tuple(dict.fromkeys(c.symptom for c, _ in walk(condition) if c.symptom))


def packages_of(condition: Condition) -> tuple[tuple[str, str], ...]:
    """List the (package, range) pairs a condition tests, in order, each once."""
    pairs = ((c.package, c.versions or "") for c, _ in walk(condition) if c.package)
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
    if kinds[0] != "fact" and tests:
        return f"{tests[0]} belongs to a fact"
    if kinds[0] == "package" and node.versions is None:
        return f"{node.package}: needs versions"
    if node.if_ is not None and kinds[0] != "symptom":
        return "`if` belongs to a symptom"
    for field, test in (node.if_ or {}).items():
        if isinstance(test, dict) and not set(test) <= set(OPS):
            return f"if.{field}: knows only {', '.join(OPS)}"
    if kinds[0] in ("all", "any") and not getattr(node, kinds[0]):
        return f"{kinds[0]} is empty"
    return ""
