"""`kb/packages/`: ranges of versions as votes and fixes of causes, and what releases need.

A range says of which cause it is evidence; what a person reads of a cause then holds all that is
known of versions, while each version stands once, in the file of its package.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from trainrx.knowledge.places import data_folder
from trainrx.model.errors import KnowledgeError
from trainrx.model.facts import Scalar
from trainrx.model.knowledge import Cause, Evidence, EvidenceSet, Fix, PackageChange
from trainrx.model.packages import ModelNeed, Need, PackageEntry, RangeEntry, Releases
from trainrx.model.parts import Condition, Param, Reference
from trainrx.model.text import Text

R = TypeVar("R", Need, Releases, ModelNeed)
FOLDER = "packages"
GROUP = "known-versions"
TORCH = "torch"
BY_LINE = "-by-its-line"
INSTALL = Text(en="Install {what}", zh="安装 {what}")
COST = Text(
    en="Packages built against the old version may have to follow; run pip check afterwards.",
    zh="依赖旧版本编译的包可能需要一并更换，装完后请运行 pip check。",
)


class Requirements(NamedTuple):
    """What releases need of each other, which releases there are, and what models need."""

    needs: Mapping[str, tuple[Need, ...]]
    releases: Mapping[str, tuple[str, ...]]
    models: tuple[ModelNeed, ...]


def range_entries(packages: Iterable[tuple[Path, PackageEntry]]) -> dict[str, RangeEntry]:
    """Give all ranges by id.

    Raises:
        KnowledgeError: a file is not named like its package, or an id stands twice.
    """
    out: dict[str, RangeEntry] = {}
    for path, entry in packages:
        if entry.package != path.stem:
            said = f"is {entry.package!r}, the file name says {path.stem!r}"
            raise KnowledgeError(str(path), "package", said)
        for item in entry.ranges:
            if item.id in out:
                raise KnowledgeError(str(path), f"ranges.{item.id}", "stands twice")
            out[item.id] = RangeEntry(package=entry.package, range=item, updated=entry.updated)
    return out


def add_ranges(causes: Mapping[str, Cause], ranges: Mapping[str, RangeEntry]) -> dict[str, Cause]:
    """Give causes, as they stand in their files, with the votes and fixes that ranges add.

    Raises:
        KnowledgeError: a cause is not there, or holds a vote or fix of the same id.
    """
    for entry in ranges.values():
        where, own = f"packages/{entry.package}.yaml", f"ranges.{entry.id}"
        cause = causes.get(entry.range.cause)
        if cause is None:
            raise KnowledgeError(where, f"{own}.cause", f"no cause {entry.range.cause!r}")
        evidence = cause.evidence
        votes = {vote.id for vote in (*evidence.supports, *evidence.contradicts)}
        if entry.id in votes | {fix.id for fix in cause.fixes}:
            raise KnowledgeError(where, own, f"the cause {cause.id} has a vote or fix of that id")
    return with_ranges(causes, ranges)


def with_ranges(causes: Mapping[str, Cause], ranges: Mapping[str, RangeEntry]) -> dict[str, Cause]:
    """Give the causes with the votes and fixes that ranges add; one of the same id is replaced.

    Of several ranges of a cause the fix of the weightiest comes first.
    """
    out = dict(causes)
    for entry in sorted(ranges.values(), key=lambda entry: entry.range.weight):
        cause = out.get(entry.range.cause)
        if cause is not None:
            out[cause.id] = _with_range(cause, entry)
    return out


def _with_range(cause: Cause, entry: RangeEntry) -> Cause:
    known, own = entry.range, entry.id
    when = range_condition(entry)
    references = tuple(
        msgspec.structs.replace(ref, id=_reference_id(own, ref)) for ref in known.references
    )
    source = references[0].id if references else ""
    vote = Evidence(
        id=own,
        weight=known.weight,
        when=when,
        why=known.why,
        ref=source,
        group=known.group or GROUP,
    )
    changes = entry.pins
    fix = Fix(
        id=own,
        title=_install(changes),
        safety="safe",
        cost=known.cost or COST,
        packages=changes,
        only_if=when,
        ref=source,
    )
    supports = [item for item in cause.evidence.supports if item.id != own]
    by_line = _by_line(entry, fix)
    named = {own} | {item.id for item in by_line}
    fixes = [item for item in cause.fixes if item.id not in named]
    first = next((i for i, item in enumerate(fixes) if item.only_if is None), len(fixes))
    fixes[first:first] = by_line
    kept = [item for item in cause.references if not item.id.startswith(f"{own}/")]
    return msgspec.structs.replace(
        cause,
        evidence=EvidenceSet(supports=(*supports, vote), contradicts=cause.evidence.contradicts),
        fixes=_placed(fix, fixes),
        references=(*kept, *references),
    )


def range_votes(cause: Cause) -> frozenset[str]:
    """Name the votes of a cause that come from ranges of versions."""
    votes = cause.evidence.supports
    return frozenset(vote.id for vote in votes if vote.ref.startswith(f"{vote.id}/"))


def _placed(fix: Fix, others: list[Fix]) -> tuple[Fix, ...]:
    """Put the change of a release first: it is at fault. A new torch comes last, it costs most."""
    if not fix.packages:
        return tuple(others)
    if not _is_costly(fix):
        return (fix, *others)
    last = len(others)
    while last and _is_costly(others[last - 1]):
        last -= 1
    return (*others[:last], fix, *others[last:])


def _is_costly(fix: Fix) -> bool:
    return any(change.name == TORCH for change in fix.packages)


def _by_line(entry: RangeEntry, fix: Fix) -> list[Fix]:
    """Offer the fix of a range by the line that only its releases print, whatever is installed.

    Where the version is known, that decides, and goes first, as do remedies with a condition of
    their own.
    """
    line = entry.range.when
    if line is None or line.symptom is None or line.if_ is None or not fix.packages:
        return []
    unknown = tuple(
        Condition(package=entry.package, versions=span.spec, known=False)
        for span in entry.range.affected
    )
    only_if = Condition(all=(line, *unknown))
    return [msgspec.structs.replace(fix, id=f"{fix.id}{BY_LINE}", only_if=only_if)]


def range_condition(entry: RangeEntry) -> Condition:
    """Say when a range speaks: an affected release is installed, and `when` holds."""
    spans = tuple(
        Condition(package=entry.package, versions=span.spec) for span in entry.range.affected
    )
    affected = spans[0] if len(spans) == 1 else Condition(any=spans)
    if entry.range.when is None:
        return affected
    return Condition(all=(affected, entry.range.when))


def _install(changes: Iterable[PackageChange]) -> Text:
    what = ", ".join(f"{item.name}{item.spec}" for item in changes)
    return Text(en=INSTALL.en.format(what=what), zh=INSTALL.zh.format(what=what))


def _reference_id(own: str, ref: Reference) -> str:
    return f"{own}/{ref.id}"


def needed_package(param: Param, value: Scalar | None) -> str:
    """Name the package a value of a parameter needs; "" where it needs none."""
    said = str(value).lower() if isinstance(value, bool) else str(value)
    return "" if value is None else param.needs.get(said, "")


@lru_cache(maxsize=4)
def read_requirements(root: Path | None = None) -> Requirements:
    """Read what releases need; only a job of which versions are known has use for it.

    Args:
        root: folder of the files; the shipped one when None.

    Raises:
        KnowledgeError: a file is malformed.
    """
    folder = root or Path(data_folder("requires"))
    needs: dict[str, list[Need]] = {}
    for need in _read(folder / "requires.jsonl", Need):
        needs.setdefault(need.package, []).append(need)
    listed = _read(folder / "releases.jsonl", Releases)
    return Requirements(
        needs={package: tuple(found) for package, found in needs.items()},
        releases={item.package: item.releases for item in listed},
        models=_read(folder / "models.jsonl", ModelNeed),
    )


def _read(path: Path, kind: type[R]) -> tuple[R, ...]:
    if not path.is_file():
        return ()
    try:
        return tuple(msgspec.json.Decoder(kind).decode_lines(path.read_bytes()))
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise KnowledgeError(str(path), "", str(error)) from error
