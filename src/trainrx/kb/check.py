"""Refuse knowledge that is malformed, contradicts itself, or that nobody could believe."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from trainrx.kb.check_packages import range_problems
from trainrx.kb.conditions import ARGUMENT, facts_of, packages_of, symptoms_of, walk
from trainrx.kb.load import complete, load, read_folders
from trainrx.kb.regexes import regex_problems
from trainrx.kb.store import Knowledge, shipped
from trainrx.model.errors import KnowledgeError
from trainrx.model.guards import Guard
from trainrx.model.knowledge import (
    Amount,
    Cause,
    Condition,
    Param,
    Reference,
    Rule,
    Symptom,
)
from trainrx.model.text import Text

Problem = tuple[str, str, str]
"""Entry id, key path, what is wrong."""

SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
CHINESE = re.compile(r"[\u4e00-\u9fff]")


def check(knowledge: Knowledge, known: Knowledge | None = None) -> list[Problem]:
    """List what is wrong with entries; ids resolve against `known` (default: themselves)."""
    names = known or knowledge
    found: list[Problem] = []
    for symptom in knowledge.symptoms.values():
        found += ((symptom.id, *rest) for rest in _symptom(symptom, names))
    for cause in knowledge.causes.values():
        found += ((cause.id, *rest) for rest in _cause(cause, names))
    for guard in knowledge.guards.values():
        found += ((guard.id, *rest) for rest in _guard(guard, names))
    found += range_problems(knowledge.ranges.values())
    for param in knowledge.params.values():
        found += ((param.id, *rest) for rest in _param(param))
    for rule in knowledge.rules.values():
        found += ((rule.id, *rest) for rest in _rule(rule, names))
    return found


def missing_tests(kb: Path, rules: Path) -> list[Problem]:
    """List causes and rules that lack their sibling `.test.yaml`."""
    return [
        (path.stem, "", f"has no test beside it ({path.stem}.test.yaml)")
        for root in (kb / "causes", rules)
        for path in sorted(root.rglob("*.yaml"))
        if not path.name.endswith(".test.yaml") and not path.with_suffix(".test.yaml").exists()
    ]


def _symptom(entry: Symptom, names: Knowledge) -> Iterator[tuple[str, str]]:
    yield from _slug(entry.id)
    yield from _texts(("title", entry.title), ("summary", entry.summary))
    if entry.role == "failure" and entry.family is None:
        yield "family", "a failure needs one"
    if entry.role == "phase" and not entry.phase:
        yield "phase", "role phase needs one"
    if entry.role == "frame" and not entry.site:
        yield "site", "role frame needs one"
    groups: set[str] = set()
    for index, pattern in enumerate(entry.patterns):
        # a note is a sentence, not a log: there a short needle costs nothing
        for problem in regex_problems(pattern, short=entry.role == "observation"):
            yield f"patterns[{index}]", problem
        try:
            groups |= set(re.compile(pattern.regex).groupindex)
        except re.error:
            return
    for name, value in entry.facts.items():
        if isinstance(value, str) and value.startswith("$") and value[1:] not in groups:
            yield f"facts.{name}", f"no pattern captures {value[1:]!r}"
        if not _is_fact(name, names):
            yield f"facts.{name}", "is neither in kb/params nor in kb/facts"
    for group in entry.types:
        if group not in groups:
            yield f"types.{group}", "no pattern captures it"
    yield from _samples(entry)
    if entry.role in ("failure", "echo"):
        yield from _references(entry.references)


def _samples(entry: Symptom) -> Iterator[tuple[str, str]]:
    if len(entry.samples.match) < 2 or len(entry.samples.near_miss) < 2:
        yield "samples", "needs at least 2 lines that match and 2 near misses"
    for index, line in enumerate(entry.samples.match):
        if not any(_hits(p.needle, p.regex, line) for p in entry.patterns):
            yield f"samples.match[{index}]", f"is not matched: {line[:80]!r}"
    for index, line in enumerate(entry.samples.near_miss):
        if any(_hits(p.needle, p.regex, line) for p in entry.patterns):
            yield f"samples.near_miss[{index}]", f"is matched: {line[:80]!r}"


def _hits(needle: str, regex: str, line: str) -> bool:
    ignore_case = regex.startswith("(?i)")
    there = needle.lower() in line.lower() if ignore_case else needle in line
    return there and re.search(regex, line) is not None


def _cause(entry: Cause, names: Knowledge) -> Iterator[tuple[str, str]]:
    yield from _slug(entry.id)
    yield from _texts(("title", entry.title), ("summary", entry.summary))
    yield from _references(entry.references)
    if not 0 < entry.prior <= 0.6:
        yield "prior", "must lie in (0, 0.6]"
    for ident in entry.explains:
        if ident not in names.symptoms:
            yield "explains", f"no symptom {ident!r}"
    for ident in entry.confusable_with:
        if ident not in names.causes and ident not in names.symptoms:
            yield "confusable_with", f"no cause {ident!r}"
    for package, spec in entry.applies_to.items():
        yield from _range(f"applies_to.{package}", spec)
    yield from _evidence(entry, names)
    yield from _fixes(entry, names)


def _evidence(entry: Cause, names: Knowledge) -> Iterator[tuple[str, str]]:
    refs = {ref.id for ref in entry.references}
    votes = (*entry.evidence.supports, *entry.evidence.contradicts)
    if len({vote.id for vote in votes}) != len(votes):
        yield "evidence", "an id stands twice"
    if not entry.evidence.supports:
        yield "evidence.supports", "nothing speaks for it"
    for vote in votes:
        where = f"evidence.{vote.id}"
        yield from _texts((f"{where}.why", vote.why))
        if not 0 < vote.weight <= 5:
            yield f"{where}.weight", "must lie in (0, 5]"
        if vote.ref and vote.ref not in refs:
            yield f"{where}.ref", f"no reference {vote.ref!r}"
        yield from _condition(f"{where}.when", vote.when, names)
    for index, case in enumerate(entry.priors):
        yield from _condition(f"priors[{index}].when", case.when, names)
    if entry.requires is not None:
        yield from _condition("requires", entry.requires, names)


def _fixes(entry: Cause, names: Knowledge) -> Iterator[tuple[str, str]]:
    if not entry.fixes:
        yield "fixes", "there is none"
    if len({fix.id for fix in entry.fixes}) != len(entry.fixes):
        yield "fixes", "an id stands twice"
    refs = {ref.id for ref in entry.references}
    for fix in entry.fixes:
        where = f"fixes.{fix.id}"
        yield from _texts((f"{where}.title", fix.title), (f"{where}.cost", fix.cost))
        yield from _texts((f"{where}.steps", fix.steps))
        if fix.ref and fix.ref not in refs:
            yield f"{where}.ref", f"no reference {fix.ref!r}"
        changes = (fix.set, fix.unset, fix.respell, fix.packages, fix.measures)
        if not any((*changes, fix.steps, fix.commands)):
            yield where, "changes nothing"
        for name in (*fix.set, *fix.unset):
            if name not in names.params and not name.startswith(ARGUMENT):
                yield f"{where}.set", f"no parameter {name!r} in kb/params"
        for amount in fix.set.values():
            if isinstance(amount, Amount) and amount.fact and not _is_fact(amount.fact, names):
                yield f"{where}.set", f"no fact {amount.fact!r}"
        for package in fix.packages:
            yield from _range(f"{where}.packages.{package.name}", package.spec)
        if fix.only_if is not None:
            yield from _condition(f"{where}.only_if", fix.only_if, names)


def _guard(entry: Guard, names: Knowledge) -> Iterator[tuple[str, str]]:
    yield from _slug(entry.id)
    yield from _texts(("title", entry.title), ("summary", entry.summary))
    yield from _references(entry.references)
    for index, spec in enumerate(entry.versions):
        yield from _range(f"versions[{index}]", spec)
    if not entry.patterns and not entry.symptom and entry.when is None:
        yield "patterns", "needs a message, a symptom that reads it, or when: nothing would show it"
    if entry.patterns and entry.symptom:
        yield "symptom", "stands beside patterns: one of the two reads the message"
    if entry.symptom and entry.symptom not in names.symptoms:
        yield "symptom", f"no symptom {entry.symptom!r}"
    if entry.effect == "reject" and not entry.cause and not entry.fixes:
        yield "fixes", "there is none"
    if entry.when is not None:
        yield from _condition("when", entry.when, names)
        if entry.examples is None:
            yield "examples", "a guard with when needs launches that violate it and that keep it"
    if entry.examples is not None and not (entry.examples.violates and entry.examples.keeps):
        yield "examples", "needs at least one of each"


def _condition(where: str, condition: Condition, names: Knowledge) -> Iterator[tuple[str, str]]:
    for part, problem in walk(condition):
        if problem:
            yield where, problem
        elif part is None:
            continue
    for name in facts_of(condition):
        if not _is_fact(name, names):
            yield where, f"the fact {name!r} is neither in kb/params nor in kb/facts"
    for name in symptoms_of(condition):
        if name not in names.symptoms:
            yield where, f"no symptom {name!r}"
    for _, spec in packages_of(condition):
        yield from _range(where, spec)


def _param(entry: Param) -> Iterator[tuple[str, str]]:
    yield from _texts(("title", entry.title), ("ask", entry.ask))
    for framework, spellings in entry.spelled.items():
        for index, spelling in enumerate(spellings):
            where = f"spelled.{framework}[{index}]"
            if bool(spelling.arg) == bool(spelling.env):
                yield where, "needs exactly one of arg and env"
            yield from _range(f"{where}.versions", spelling.versions)


def _rule(entry: Rule, names: Knowledge) -> Iterator[tuple[str, str]]:
    yield from _slug(entry.id)
    yield from _texts(("title", entry.title), ("why", entry.why))
    for index, clause in enumerate(entry.when):
        where = f"when[{index}]"
        if bool(clause.symptom) == bool(clause.fact):
            yield where, "needs exactly one of symptom and fact"
        if clause.symptom and clause.symptom not in names.symptoms:
            yield where, f"no symptom {clause.symptom!r}"
        if clause.fact and not _is_fact(clause.fact, names):
            yield where, f"the fact {clause.fact!r} is neither in kb/params nor in kb/facts"
    for index, action in enumerate(entry.then):
        where = f"then[{index}]"
        if action.suggest and action.suggest.cause not in names.causes:
            yield where, f"no cause {action.suggest.cause!r}"
        if action.fact and not _is_fact(action.fact.name, names):
            yield where, f"the fact {action.fact.name!r} is neither in kb/params nor in kb/facts"


def _is_fact(name: str, names: Knowledge) -> bool:
    if name.startswith(ARGUMENT):
        return True
    stem = name.removeprefix("changed.").removeprefix("moved.").removeprefix("good.")
    return stem in names.params or stem in names.facts or name.startswith("log.version.")


def _slug(ident: str) -> Iterator[tuple[str, str]]:
    if not SLUG.fullmatch(ident):
        yield "id", "must be lower-case words joined by dashes"


def _texts(*texts: tuple[str, Text | None]) -> Iterator[tuple[str, str]]:
    for where, text in texts:
        if text is None:
            continue
        if not text.en.strip() or not text.zh.strip():
            yield where, "needs words in both languages"
        elif CHINESE.search(text.en):
            yield where, "the English text holds Chinese"
        elif not CHINESE.search(text.zh) and re.search(r"[a-z]{3,} [a-z]{3,}", text.zh):
            yield where, "the Chinese text is English"


def _references(references: Sequence[Reference]) -> Iterator[tuple[str, str]]:
    if not references:
        yield "references", "no source, no entry"
    for ref in references:
        if ref.kind != "run" and not ref.url.startswith("https://"):
            yield f"references.{ref.id}", "needs a URL"
        if ref.checked and not re.fullmatch(r"20\d\d-\d\d-\d\d", ref.checked):
            yield f"references.{ref.id}", "checked is the date it was last read, like 2026-11-21"


def _range(where: str, spec: str) -> Iterator[tuple[str, str]]:
    try:
        SpecifierSet(spec)
    except InvalidSpecifier:
        yield where, f"{spec!r} is not a PEP 440 version range"


def main(say: Callable[[str], object] = print, kb: Sequence[Path] = ()) -> int:
    """Check the shipped knowledge and the given folders; give the exit status."""
    own_kb, own_rules = shipped()
    try:
        known = load(kb)
        found = check(complete(read_folders((own_kb, *kb), (own_rules,))), known)
    except KnowledgeError as error:
        say(str(error))
        return 1
    found += missing_tests(own_kb, own_rules)
    for ident, key, message in found:
        say(f"{ident}: {key + ': ' if key else ''}{message}")
    say(
        f"{len(known.symptoms)} symptoms, {len(known.causes)} causes, {len(known.params)} "
        f"parameters, {len(known.rules)} rules, {len(known.ranges)} version ranges: "
        f"{len(found)} problems"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
