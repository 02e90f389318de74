"""Rules for the rules of lint, and for the launches that stand beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from string import Formatter

from trainrx.entries.check_common import (
    KnownNames,
    condition_problems,
    date_problems,
    id_problems,
    range_problems,
    reference_problems,
    release_problems,
    text_problems,
    title_problems,
)
from trainrx.entries.problem import Problem, error
from trainrx.entries.sources import EntrySource
from trainrx.model.lint import LintRule
from trainrx.model.pattern import late

ENVIRONMENT = "env."
"""What a fact begins with that is a variable as the launch sees it."""
_FINDER = late(r"[a-z][a-z0-9_]*")
_KEYS = frozenset({"name", "script", "config", "versions", "gpu", "gpus", "nodes", "expect"})


class _WithVariables:
    """The names a condition of lint may test: those of all conditions, and variables."""

    def __init__(self, names: KnownNames) -> None:
        self._names = names

    def __getattr__(self, name: str) -> object:
        return getattr(self._names, name)

    def is_fact(self, name: str) -> bool:
        """Tell whether a fact of this name can exist."""
        return name.startswith(ENVIRONMENT) or self._names.is_fact(name)


def lint_problems(entry: LintRule, stem: str, names: KnownNames) -> Iterator[Problem]:
    """List what is wrong with a rule that lies in `rules/lint/<stem>.yaml`."""
    yield from id_problems(entry.id, stem, entry.aliases, names)
    yield from title_problems(entry.title)
    yield from text_problems(("message", entry.message), ("summary", entry.summary))
    yield from date_problems("updated", entry.updated, names.today)
    yield from release_problems(entry.since)
    yield from reference_problems(entry.references, names.today)
    if bool(entry.finder) == (entry.when is not None):
        yield error("finder", "needs exactly one of finder and when")
    if entry.finder and not _FINDER.fullmatch(entry.finder):
        yield error("finder", f"{entry.finder!r} is no module name")
    if entry.when is not None:
        known: KnownNames = _WithVariables(names)  # type: ignore[assignment]
        yield from condition_problems("when", entry.when, known)
    for package, spec in entry.versions.items():
        yield from range_problems(f"versions.{package}", spec)
    strange = _fields(entry.message.zh) - _fields(entry.message.en)
    if strange:
        said = ", ".join(sorted(strange))
        yield error("message.zh", f"holds the values {said}, which the English message does not")


def lint_case_problems(entry: LintRule, test: EntrySource | None) -> Iterator[Problem]:
    """Refuse a rule without launches beside it, or with launches of one side only."""
    if test is None:
        yield error("", f"has no test beside it ({entry.id}.test.yaml)")
        return
    listed = test.data.get("cases") if isinstance(test.data, dict) else None
    if not isinstance(listed, list):
        yield error("", "its test has no list of cases")
        return
    cases = [case for case in listed if isinstance(case, dict)]
    for case in cases:
        for key in sorted(set(case) - _KEYS):
            yield error("", f"its test has the key {key!r}; known are {', '.join(sorted(_KEYS))}")
    found = {bool(_count(case)) for case in cases}
    if found != {True, False}:
        yield error("", "its test needs a launch in which it is found and one in which it is not")


def _count(case: Mapping[str, object]) -> object:
    expect = case.get("expect")
    return expect.get("found", 0) if isinstance(expect, dict) else 0


def _fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}
