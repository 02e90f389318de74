"""Refuse knowledge that is malformed, contradicts itself, or that nobody could believe.

Every file is judged by itself, so that one that is malformed hides nothing of the others.
"""

from __future__ import annotations

import datetime as dt
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from trainrx.entries.check_causes import (
    cause_problems,
    coinciding_causes,
    shared_fix_problems,
)
from trainrx.entries.check_common import KnownNames
from trainrx.entries.check_guards import guard_problems, package_problems
from trainrx.entries.check_languages import language_problems
from trainrx.entries.check_levers import lever_problems, retry_problems
from trainrx.entries.check_protocols import protocol_problems
from trainrx.entries.check_rules import (
    fact_problems,
    lint_case_problems,
    lint_problems,
    param_problems,
    rule_problems,
)
from trainrx.entries.check_signs import repeated_patterns, symptom_problems
from trainrx.entries.check_states import state_problems
from trainrx.entries.check_tests import case_problems, fired_problems, sibling_problems
from trainrx.entries.form import reformed
from trainrx.entries.problem import EntryProblem, Problem, error
from trainrx.entries.sources import TEST, EntrySource, kb_sources, rule_sources, sibling_sources
from trainrx.knowledge.guards import message
from trainrx.knowledge.places import shipped
from trainrx.knowledge.shorthand import shared_ids
from trainrx.model.errors import KnowledgeError
from trainrx.model.fixing import RetryRule
from trainrx.model.knowledge import Cause, FactEntry, Fix, Rule, Symptom
from trainrx.model.levers import Guard, Lever
from trainrx.model.lint import LintRule
from trainrx.model.packages import PackageEntry
from trainrx.model.parts import Param
from trainrx.model.protocols import Protocol
from trainrx.model.safety import SafetyRule
from trainrx.model.states import ThreadState


class Library(NamedTuple):
    """All files of the folders given: entries, and the tests beside them by their path."""

    entries: tuple[EntrySource, ...]
    tests: dict[Path, EntrySource]


def read_library(
    kb: Sequence[Path], rules: Sequence[Path], tests: type[msgspec.Struct] | None = None
) -> Library:
    """Read all files of some folders; `tests` is the record of a test file."""
    entries = [source for root in kb for source in kb_sources(root)]
    entries += (source for root in rules for source in rule_sources(root))
    tested = (root / name for root in kb for name in ("causes", "protocols"))
    beside = sibling_sources([*tested, *rules], tests)
    return Library(tuple(entries), {test.path: test for test in beside})


def check(library: Library, today: str, idents: Collection[str] = ()) -> list[EntryProblem]:
    """List what is wrong with the files, in the order of their paths.

    Args:
        library: the files; ids resolve among them.
        today: the day of the check, YYYY-MM-DD; no date may lie after it.
        idents: judge only these entries; without any, all.
    """
    names = names_of(library, today)
    causes = {r.id: r for s in library.entries for r in s.records if isinstance(r, Cause)}
    found: list[EntryProblem] = []
    for source in library.entries:
        if idents and source.ident not in idents:
            continue
        test = library.tests.get(source.path.with_name(f"{source.ident}{TEST}"))
        judged = (*_rules(source, names, causes), *_sibling(source, test))
        found += _findings(source, (*judged, *language_problems(source.data)))
    found += _states(library.entries, names)
    found += _clashes(library.entries)
    found += _unshared(library.entries)
    for source, problem in (
        *repeated_patterns(library.entries),
        *coinciding_causes(library.entries),
    ):
        found += _findings(source, [problem])
    beside = {source.path.with_name(f"{source.ident}{TEST}") for source in library.entries}
    for path, test in library.tests.items():
        of_lint = path.parent.name == "lint"
        judged = () if test.node is None or of_lint else tuple(case_problems(test, names))
        if path not in beside:
            judged = (*judged, error("", "tests no entry: there is none of that name beside it"))
        found += _findings(test, judged)
    asked = (one for one in set(found) if not idents or one.ident in idents)
    return sorted(asked, key=lambda f: (f.path, f.line, f.key, f.message))


def names_of(library: Library, today: str) -> KnownNames:
    """Collect what entries may refer to; a malformed file still lends its name."""
    records = [record for source in library.entries for record in source.records]
    guards = [record for record in records if isinstance(record, Guard)]
    causes = [record for record in records if isinstance(record, Cause)]
    unread = [source for source in library.entries if not source.records]
    explained = Counter(ident for cause in causes for ident in set(cause.explains))
    explained.update(message(guard) for guard in guards if guard.effect == "reject")
    named = [r for r in records if isinstance(r, (Cause, Symptom, Guard))]
    return KnownNames(
        symptoms=frozenset(r.id for r in records if isinstance(r, Symptom))
        | {guard.id for guard in guards if guard.patterns}
        | {source.ident for source in unread},
        causes=frozenset(cause.id for cause in causes)
        | {guard.id for guard in guards if is_cause(guard)}
        | {source.ident for source in unread},
        params={r.id: r for r in records if isinstance(r, Param)},
        facts={r.id: r for r in records if isinstance(r, FactEntry)},
        shared=explained,
        confused=frozenset(
            (cause.id, other) for cause in causes for other in cause.confusable_with
        ),
        aliases=Counter(alias for record in named for alias in record.aliases),
        today=today,
        safety=tuple(r for r in records if isinstance(r, SafetyRule)),
    )


def _rules(source: EntrySource, names: KnownNames, causes: dict[str, Cause]) -> Iterator[Problem]:
    stem, folder = source.ident, source.path.parent.name
    for index, record in enumerate(source.records):
        if isinstance(record, Symptom):
            yield from symptom_problems(record, stem, folder, names)
        elif isinstance(record, Cause):
            yield from cause_problems(record, stem, folder, names)
        elif isinstance(record, Guard):
            yield from guard_problems(record, stem, folder, names)
        elif isinstance(record, PackageEntry):
            yield from package_problems(record, stem, names, causes)
        elif isinstance(record, (Lever, Protocol, Fix)):
            yield from _advice(record, stem, names)
        elif isinstance(record, Param):
            yield from param_problems(record, stem)
        elif isinstance(record, FactEntry):
            yield from fact_problems(record, stem, names)
        elif isinstance(record, Rule):
            yield from rule_problems(record, stem, folder, names)
        elif isinstance(record, LintRule):
            yield from lint_problems(record, stem, names)
        elif isinstance(record, RetryRule):
            yield from retry_problems(record, f"[{index}]", names)


def _advice(record: Lever | Protocol | Fix, stem: str, names: KnownNames) -> Iterator[Problem]:
    if isinstance(record, Lever):
        yield from lever_problems(record, stem, names)
    elif isinstance(record, Protocol):
        yield from protocol_problems(record, stem, names)
    else:
        yield from shared_fix_problems(record, stem, names)


def _states(entries: Sequence[EntrySource], names: KnownNames) -> Iterator[EntryProblem]:
    """Judge states side by side: which one a stack is in depends on all of them."""
    states = [(s, r) for s in entries for r in s.records if isinstance(r, ThreadState)]
    known = tuple(record for _, record in states)
    for source, record in states:
        yield from _findings(source, state_problems(record, source.ident, known, names))


def _sibling(source: EntrySource, test: EntrySource | None) -> Iterator[Problem]:
    for record in source.records:
        if isinstance(record, LintRule):
            yield from lint_case_problems(record, test)
        elif isinstance(record, Rule):
            yield from fired_problems(source, test)
        elif isinstance(record, (Cause, Protocol)):
            yield from sibling_problems(source, test, may_be_unknown=isinstance(record, Cause))


def _findings(source: EntrySource, judged: Iterable[Problem]) -> Iterator[EntryProblem]:
    counted = (problem for problem in judged if source.counts(problem))
    for problem in (*source.problems, *counted):
        line = source.line(problem)
        yield EntryProblem(shown(source.path), line, source.ident, *problem)


def _clashes(entries: Sequence[EntrySource]) -> Iterator[EntryProblem]:
    """Refuse an id that two files of one folder claim; a folder of one's own may replace it."""
    seen: dict[tuple[Path, str, str], Path] = {}
    for source in entries:
        for record in source.records:
            for kind, ident in _claims(record):
                first = seen.setdefault((source.root, kind, ident), source.path)
                if first != source.path:
                    said = f"the {kind} {ident!r} is in {shown(first)} already"
                    yield EntryProblem(shown(source.path), 1, source.ident, "id", said)


def _unshared(entries: Sequence[EntrySource]) -> Iterator[EntryProblem]:
    """Refuse a shared fix that fewer than two entries refer to."""
    uses = Counter(ident for source in entries for ident in shared_ids(source.data))
    for source in entries:
        if any(isinstance(record, Fix) for record in source.records) and uses[source.ident] < 2:
            text = "fewer than two entries refer to it: write it there"
            yield EntryProblem(shown(source.path), 1, source.ident, "id", text)


def _claims(record: object) -> Iterator[tuple[str, str]]:
    if isinstance(record, Symptom) or (isinstance(record, Guard) and record.patterns):
        yield "symptom", record.id
    if isinstance(record, Cause) or (isinstance(record, Guard) and is_cause(record)):
        yield "cause", record.id
    elif isinstance(record, ThreadState):
        yield "state", record.id
    elif isinstance(record, (Rule, LintRule)):
        yield "rule", record.id
    elif isinstance(record, (Param, FactEntry)):
        yield "fact", record.id
    elif isinstance(record, PackageEntry):
        yield from (("version range", known.id) for known in record.ranges)


def is_cause(guard: Guard) -> bool:
    """Tell whether a guard is a cause of its own."""
    return guard.effect == "reject" and not guard.cause


def shown(path: Path) -> str:
    """Write a path from here, where it lies below."""
    told = os.path.relpath(path)
    return str(path) if told.startswith("..") else told


def main(
    say: Callable[[str], object] = print,
    kb: Sequence[Path] = (),
    rules: Sequence[Path] = (),
    *,
    today: dt.date,
    tests: type[msgspec.Struct] | None = None,
    idents: Sequence[str] = (),
    warnings: bool = False,
) -> int:
    """Check the shipped knowledge and the given folders; give the exit status.

    Args:
        say: takes the lines of the answer.
        kb: folders of further entries.
        rules: folders of further rules.
        today: the day no date may lie after.
        tests: record of a test file.
        idents: say only what is wrong with these entries, warnings included.
        warnings: say warnings of all entries too.
    """
    gone = [folder for folder in (*kb, *rules) if not folder.is_dir()]
    for folder in gone:
        say(f"{folder}: is not a folder")
    if gone:
        return 2
    own_kb, own_rules = shipped()
    library = read_library(_each(own_kb, *kb), _each(own_rules, *rules), tests)
    found = check(library, today.isoformat(), idents)
    found += _unformed((*_each(own_kb, *kb), *_each(own_rules, *rules)), idents)
    known = {source.ident for source in library.entries}
    unknown = [ident for ident in idents if ident not in known]
    for ident in unknown:
        say(f"no file {ident}.yaml in {', '.join(shown(folder) for folder in (own_kb, *kb))}")
    for finding in found:
        if warnings or idents or finding.level == "error":
            say(str(finding))
    say(summary(library, found, hidden=not (warnings or idents)))
    return 1 if unknown or any(finding.level == "error" for finding in found) else 0


def _unformed(roots: Iterable[Path], idents: Collection[str]) -> Iterator[EntryProblem]:
    """Name the files that `kb format` would write; what cannot be read is said elsewhere."""
    files = (path for root in roots for path in root.rglob("*.yaml"))
    asked = (path for path in files if not idents or _ident(path) in idents)
    with suppress(KnowledgeError):
        for path, _ in reformed(sorted(asked)):
            said = f"is not in its one form: diagnose kb format {shown(path)}"
            yield EntryProblem(shown(path), 1, _ident(path), "", said)


def _ident(path: Path) -> str:
    return path.name.removesuffix(TEST).removesuffix(".yaml")


def _each(*folders: Path) -> list[Path]:
    """Give each folder once, however it is written."""
    return list({folder.resolve(): folder for folder in folders}.values())


def summary(library: Library, found: Sequence[EntryProblem], *, hidden: bool) -> str:
    """Say in one line how much was checked and what came of it."""
    kinds = Counter(type(record) for source in library.entries for record in source.records)
    ranges = sum(
        len(record.ranges)
        for source in library.entries
        for record in source.records
        if isinstance(record, PackageEntry)
    )
    errors = sum(finding.level == "error" for finding in found)
    return (
        f"{kinds[Symptom]} symptoms, {kinds[Cause]} causes, {kinds[Guard]} guards, "
        f"{kinds[Param]} parameters, {kinds[FactEntry]} facts, {kinds[Rule]} rules, "
        f"{kinds[LintRule]} lint rules, {kinds[Protocol]} protocols, {kinds[ThreadState]} states, "
        f"{ranges} version ranges, {len(library.tests)} tests: "
        f"{errors} problem{'' if errors == 1 else 's'}, "
        f"{len(found) - errors} warning{'' if len(found) - errors == 1 else 's'}"
        + (" (--warnings shows them)" if hidden and errors < len(found) else "")
    )
