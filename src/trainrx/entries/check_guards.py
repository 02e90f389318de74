"""Rules for guards and for ranges of versions: what they add must fit the cause they name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from trainrx.entries.check_causes import MAX_WEIGHT, fix_problems
from trainrx.entries.check_common import (
    KnownNames,
    condition_problems,
    date_problems,
    head_problems,
    range_problems,
    reference_problems,
    text_problems,
    title_problems,
)
from trainrx.entries.check_owners import owner_problems
from trainrx.entries.check_signs import pattern_problems
from trainrx.entries.problem import Problem, error
from trainrx.model.knowledge import Cause
from trainrx.model.levers import Guard
from trainrx.model.packages import OsvRange, PackageEntry, RangeEntry, VersionRange
from trainrx.model.pattern import late


def guard_problems(entry: Guard, stem: str, folder: str, names: KnownNames) -> Iterator[Problem]:
    """List what is wrong with a guard that lies in `guards/<folder>/<stem>.yaml`."""
    yield from head_problems(entry, stem, names)
    if folder != entry.package:
        yield error("package", f"is {entry.package!r}, the folder says {folder!r}")
    yield from text_problems(("summary", entry.summary))
    for index, spec in enumerate(entry.versions):
        yield from range_problems(f"versions[{index}]", spec)
    yield from _shown(entry, names)
    if entry.when is not None:
        yield from condition_problems("when", entry.when, names)
        if entry.examples is None:
            yield error("examples", "a guard with when needs launches that violate and keep it")
    if entry.examples is not None:
        for key in ("violates", "keeps"):
            if not getattr(entry.examples, key):
                yield error(f"examples.{key}", "needs at least one launch")
    if entry.fixes or (entry.effect == "reject" and not entry.cause):
        yield from fix_problems(entry.fixes, entry.references, names, entry.id)
        yield from owner_problems(entry.fixes, names.params, package=entry.package)


def _shown(entry: Guard, names: KnownNames) -> Iterator[Problem]:
    if not entry.patterns and not entry.symptom and entry.when is None:
        yield error("patterns", "needs a message, a symptom that reads it, or when")
    if entry.patterns and entry.symptom:
        yield error("symptom", "stands beside patterns: one of the two reads the message")
    if entry.symptom and entry.symptom not in names.symptoms:
        yield error("symptom", f"no symptom {entry.symptom!r}")
    if entry.cause and entry.cause not in names.causes:
        yield error("cause", f"no cause {entry.cause!r}")
    if entry.patterns and entry.samples is None:
        yield error("samples", "patterns need samples")
    elif entry.samples is not None:
        yield from pattern_problems(entry.patterns, entry.samples)


def package_problems(
    entry: PackageEntry, stem: str, names: KnownNames, causes: Mapping[str, Cause]
) -> Iterator[Problem]:
    """List what is wrong with the ranges of a package."""
    if entry.package != stem:
        yield error("package", f"is {entry.package!r}, the file name says {stem!r}")
    yield from date_problems("updated", entry.updated, names.today)
    for index, known in enumerate(entry.ranges):
        if any(other.id == known.id for other in entry.ranges[:index]):
            yield error(f"ranges[{index}].id", f"{known.id!r} stands twice")
        ranged = RangeEntry(package=entry.package, range=known, updated=entry.updated)
        for _, key, message in affected_problems([ranged]):
            if not key.endswith((".references", ".updated")):
                yield error(key, message)
        yield from _range(known, f"ranges.{known.id}", names, causes.get(known.cause))


def _range(
    known: VersionRange, at: str, names: KnownNames, cause: Cause | None
) -> Iterator[Problem]:
    yield from title_problems(known.title, f"{at}.title")
    yield from text_problems((f"{at}.why", known.why), (f"{at}.cost", known.cost))
    yield from reference_problems(known.references, names.today, f"{at}.references")
    if not 0 < known.weight <= MAX_WEIGHT:
        yield error(f"{at}.weight", f"is {known.weight:g}, must lie in (0, {MAX_WEIGHT}] nats")
    if known.when is not None:
        yield from condition_problems(f"{at}.when", known.when, names)
    for name, spec in known.pins.items():
        yield from range_problems(f"{at}.pins.{name}", spec)
    if known.cause not in names.causes:
        yield error(f"{at}.cause", f"no cause {known.cause!r}")
    elif cause is not None:
        votes = (*cause.evidence.supports, *cause.evidence.contradicts)
        if known.id in {vote.id for vote in votes} | {fix.id for fix in cause.fixes}:
            yield error(f"{at}.id", f"the cause {cause.id} has a vote or fix of that id")


_SLUG = late(r"[a-z0-9]+(-[a-z0-9]+)*")


def affected_problems(ranges: Iterable[RangeEntry]) -> Iterator[tuple[str, str, str]]:
    """List what is wrong: file, key path, words. Texts, weights and conditions are the cause's."""
    for entry in ranges:
        for key, problem in _affected(entry):
            yield f"packages/{entry.package}.yaml", f"ranges.{entry.id}{key}", problem


def _affected(entry: RangeEntry) -> Iterator[tuple[str, str]]:
    known = entry.range
    if not _SLUG.fullmatch(known.id):
        yield "", "the id must be lower-case words joined by dashes"
    if not known.affected:
        yield ".affected", "names no release"
    if not known.references:
        yield ".references", "no source, no entry"
    if not re.fullmatch(r"20\d\d-\d\d-\d\d", entry.updated):
        yield ".updated", "is a date like 2026-11-21"
    for index, span in enumerate(known.affected):
        yield from ((f".affected[{index}]", problem) for problem in _span(span))
    if known.pin:
        yield from ((".pin", problem) for problem in _pin(known.pin, known.affected))


def _span(span: OsvRange) -> Iterator[str]:
    if span.fixed and span.last_affected:
        yield "has both an end and a last release"
    try:
        first = Version(span.introduced)
        ends = [Version(text) for text in (span.fixed, span.last_affected) if text]
    except InvalidVersion as error:
        yield f"{error}"
        return
    if any(end < first for end in ends) or (span.fixed and ends == [first]):
        yield f"holds no release: {span.spec}"


def _pin(pin: str, affected: Iterable[OsvRange]) -> Iterator[str]:
    """Refuse a cure that leaves an affected release in place."""
    try:
        allowed = SpecifierSet(pin)
    except InvalidSpecifier:
        yield f"{pin!r} is not a PEP 440 version range"
        return
    for span in affected:
        for text in {span.introduced, span.last_affected} - {"", "0"}:
            if allowed.contains(text, prereleases=True):
                yield f"{pin} lets {text} in, which is affected"
