"""Rules for rules, those of lint too, and for the parameters and facts they speak of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from string import Formatter

from trainrx.entries.check_common import (
    KnownNames,
    condition_problems,
    head_problems,
    id_problems,
    question_problems,
    range_problems,
    reference_problems,
    release_problems,
    text_problems,
    title_problems,
)
from trainrx.entries.problem import Problem, error
from trainrx.entries.sources import EntrySource
from trainrx.knowledge.conditions import ARGUMENT, COUNT
from trainrx.model.knowledge import Action, FactEntry, Rule
from trainrx.model.lint import LintRule
from trainrx.model.parts import Param
from trainrx.model.pattern import late

DOTTED = late(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+")
MAX_VOTE = 5


def rule_problems(entry: Rule, stem: str, folder: str, names: KnownNames) -> Iterator[Problem]:
    """List what is wrong with a rule that lies in `<folder>/<stem>.yaml`."""
    yield from id_problems(entry.id, stem, (), names)
    if folder != entry.stage:
        yield error("stage", f"is {entry.stage!r}, the folder says {folder!r}")
    yield from title_problems(entry.title)
    yield from text_problems(("why", entry.why))
    yield from release_problems(entry.since)
    yield from reference_problems(entry.references, names.today)
    if not entry.when:
        yield error("when", "is empty: the rule would always hold")
    for index, clause in enumerate(entry.when):
        where = f"when[{index}]"
        if bool(clause.symptom) == bool(clause.fact):
            yield error(where, "needs exactly one of symptom and fact")
        if clause.symptom and clause.symptom not in names.symptoms:
            yield error(where, f"no symptom {clause.symptom!r}")
        if clause.fact and not names.is_fact(clause.fact):
            yield error(where, f"the fact {clause.fact!r} is neither in kb/params nor in kb/facts")
    if not entry.then:
        yield error("then", "is empty: the rule concludes nothing")
    known = {clause.as_ for clause in entry.when if clause.as_}
    for index, action in enumerate(entry.then):
        yield from _action(action, f"then[{index}]", known, names)


def _action(action: Action, where: str, known: set[str], names: KnownNames) -> Iterator[Problem]:
    told = (action.fact, action.suggest, action.explain, action.ask)
    if sum(part is not None for part in told) != 1:
        yield error(where, "needs exactly one of fact, suggest, explain, ask")
    if action.suggest is not None:
        yield from text_problems((f"{where}.suggest.why", action.suggest.why))
        if action.suggest.cause not in names.causes:
            yield error(f"{where}.suggest.cause", f"no cause {action.suggest.cause!r}")
        if not 0 < abs(action.suggest.weight) <= MAX_VOTE:
            yield error(f"{where}.suggest.weight", f"must lie in (0, {MAX_VOTE}] nats, or below 0")
    if action.fact is not None and not names.is_fact(action.fact.name):
        said = f"the fact {action.fact.name!r} is neither in kb/params nor in kb/facts"
        yield error(f"{where}.fact", said)
    for side in ("effect", "by") if action.explain is not None else ():
        told_id = str(getattr(action.explain, side))
        if told_id.startswith("$") and told_id[1:].partition(".")[0] not in known:
            yield error(f"{where}.explain.{side}", f"no clause is called {told_id[1:]!r}")
        elif not told_id.startswith("$") and told_id not in names.causes:
            yield error(f"{where}.explain.{side}", f"no cause {told_id!r}")
    if action.ask is not None and not names.is_fact(action.ask):
        yield error(f"{where}.ask", f"no fact {action.ask!r}")


def param_problems(entry: Param, stem: str) -> Iterator[Problem]:
    """List what is wrong with a parameter."""
    yield from _named(entry, stem)
    for framework, spellings in entry.spelled.items():
        for index, spelling in enumerate(spellings):
            where = f"spelled.{framework}[{index}]"
            if bool(spelling.arg) == bool(spelling.env):
                yield error(where, "needs exactly one of arg and env")
            yield from range_problems(f"{where}.versions", spelling.versions)


def fact_problems(entry: FactEntry, stem: str, names: KnownNames) -> Iterator[Problem]:
    """List what is wrong with a fact."""
    yield from _named(entry, stem)
    if entry.relation is None:
        return
    one = entry.relation.kind == "whole-above-one"
    if not entry.relation.left or bool(entry.relation.right) is one:
        wants = "one name on the left alone" if one else "names on both sides"
        yield error("relation", f"{entry.relation.kind} takes {wants}")
    for name in (*entry.relation.left, *entry.relation.right):
        if not name.startswith((ARGUMENT, COUNT)) and name not in {*names.facts, *names.params}:
            yield error("relation", f"no fact {name!r}")


def _named(entry: Param | FactEntry, stem: str) -> Iterator[Problem]:
    if entry.id != stem:
        yield error("id", f"is {entry.id!r}, the file name says {stem!r}")
    if not DOTTED.fullmatch(entry.id):
        yield error("id", "must be lower-case words joined by dots, such as train.micro_batch")
    yield from softened(title_problems(entry.title))
    yield from text_problems(("ask", entry.ask))
    yield from question_problems("question", entry.question)


def softened(found: Iterable[Problem]) -> Iterator[Problem]:
    """Say problems without failing: what is wrong harms no answer."""
    return (problem._replace(level="warning") for problem in found)


ENVIRONMENT = "env."
"""What a fact begins with that is a variable as the launch sees it."""
_FINDER = late(r"[a-z][a-z0-9_]*")
_KEYS = frozenset(
    {"name", "script", "config", "files", "binary", "versions", "gpu", "gpus", "nodes", "expect"}
)


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
    yield from head_problems(entry, stem, names)
    todo = (("todo", entry.todo),) if entry.todo is not None else ()
    yield from text_problems(("message", entry.message), *todo, ("summary", entry.summary))
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
