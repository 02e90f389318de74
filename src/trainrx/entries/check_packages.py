"""What is wrong with `kb/packages/`, beyond what the cause of a range shows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from trainrx.model.packages import OsvRange, RangeEntry
from trainrx.model.pattern import late

_SLUG = late(r"[a-z0-9]+(-[a-z0-9]+)*")


def range_problems(ranges: Iterable[RangeEntry]) -> Iterator[tuple[str, str, str]]:
    """List what is wrong: file, key path, words. Texts, weights and conditions are the cause's."""
    for entry in ranges:
        for key, problem in _range(entry):
            yield f"packages/{entry.package}.yaml", f"ranges.{entry.id}{key}", problem


def _range(entry: RangeEntry) -> Iterator[tuple[str, str]]:
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
