"""What memory snapshots say: which request failed, what holds the card, what grew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from trainrx.evidence.frames import site_of
from trainrx.evidence.matcher import Compiled, compile_patterns
from trainrx.model.facts import Fact, Origin, fact
from trainrx.model.job import Hit, SymptomHits
from trainrx.model.knowledge import Symptom
from trainrx.model.ranks import FailedAllocation, MemorySnapshot, StackFrame

RAN_OUT = "cuda-oom"
"""The symptom of a card that runs out of memory."""
LEAST_GROWTH = 0.25
"""GiB that one place holds more from which on it counts as grown."""
NAMED = 3
"""Frames that are named, the innermost first."""

Sites = Sequence[tuple[Compiled, str]]


def snapshot_facts(
    snapshots: Sequence[MemorySnapshot], symptoms: Mapping[str, Symptom]
) -> Iterator[Fact]:
    """Derive `snapshot.*`, and `oom.*` where a request failed."""
    if not snapshots:
        return
    frames = tuple(one for one in symptoms.values() if one.role == "frame")
    sites = tuple((one, frames[one.symptom].site) for one in compile_patterns(frames))
    one = _leading(snapshots)
    if one.reserved_gib > 0:
        share = round(one.unused_gib / one.reserved_gib, 4)
        yield fact("snapshot.unused_share", share, one.origin, how="derived")
    if one.failed is not None:
        yield from _failed_facts(one, one.failed, sites)
    if one.holders:
        largest = one.holders[0]
        cited = _cited(one, f"{largest.gib:.2f} GiB in {largest.blocks} blocks", largest.frames)
        yield fact("snapshot.largest_gib", largest.gib, cited)
        yield fact("snapshot.largest_place", place_text(largest.frames[0]), cited)
        if site := _site(largest.frames, sites):
            yield fact("snapshot.largest_site", site, cited, how="derived")
    yield from _grown_facts(one, snapshots)


def snapshot_symptom(snapshots: Sequence[MemorySnapshot]) -> SymptomHits | None:
    """Give the sighting of a card that ran out of memory, where a snapshot was taken at that."""
    found = [one for one in snapshots if one.failed is not None]
    hits = tuple(
        Hit(symptom=RAN_OUT, source=cited.source, line=1, text=cited.text, rank=one.rank)
        for one in found
        if one.failed is not None
        for cited in [one.failed.origin]
    )
    ranks = tuple(sorted({one.rank for one in found if one.rank is not None}))
    return SymptomHits(symptom=RAN_OUT, count=len(hits), hits=hits, ranks=ranks) if hits else None


def place_text(frame: StackFrame) -> str:
    """Say where a frame stands: its function, the end of its path and its line."""
    return f"{frame.function} ({'/'.join(frame.file.split('/')[-2:])}:{frame.line})"


def _leading(snapshots: Iterable[MemorySnapshot]) -> MemorySnapshot:
    """Pick the one that was taken when a request failed, else the fullest, else the last."""
    return max(snapshots, key=lambda one: (one.failed is not None, one.allocated_gib, one.at or 0))


def _failed_facts(one: MemorySnapshot, failed: FailedAllocation, sites: Sites) -> Iterator[Fact]:
    yield fact("oom.asked_gib", failed.asked_gib, failed.origin)
    yield fact("oom.allocated_gib", one.allocated_gib, one.origin)
    yield fact("oom.reserved_unused_gib", one.unused_gib, one.origin)
    if failed.free_gib is not None:
        yield fact("oom.free_gib", failed.free_gib, failed.origin)
        # others on the card are not seen: it has at least what this process has and what is free
        least = one.reserved_gib + failed.free_gib
        if least > 0:
            share = round(one.unused_gib / least, 4)
            yield fact("oom.reserved_unused_share", share, one.origin, how="derived")
    if site := _site(failed.frames, sites):
        yield fact("oom.site", site, failed.origin, how="derived")


def _site(frames: Iterable[StackFrame], sites: Sites) -> str:
    """Name the part of the training that frames are of, which a traceback would show as well."""
    lines = (f'  File "{one.file}", line {one.line}, in {one.function}' for one in frames)
    return site_of(lines, sites)


def _grown_facts(last: MemorySnapshot, snapshots: Sequence[MemorySnapshot]) -> Iterator[Fact]:
    """Say what holds more in the last of several snapshots of one card than in the first."""
    own = [one for one in snapshots if (one.rank, one.device) == (last.rank, last.device)]
    timed = all(one.at is not None for one in own)
    ordered = sorted(own, key=lambda one: one.at or 0.0 if timed else one.allocated_gib)
    if len(ordered) < 2:
        return
    first, end = ordered[0], ordered[-1]
    before = {_key(held.frames): held.gib for held in first.holders}
    more = [(held.gib - before.get(_key(held.frames), 0.0), held) for held in end.holders]
    grown, most = max(more, key=lambda item: item[0], default=(0.0, None))
    if most is None or grown < LEAST_GROWTH or end.allocated_gib <= first.allocated_gib:
        return
    cited = _cited(end, f"{grown:.2f} GiB more than in {first.origin.source}", most.frames)
    yield fact("snapshot.grown_gib", round(grown, 4), cited, how="derived")
    yield fact("snapshot.grown_place", place_text(most.frames[0]), cited, how="derived")


def _key(frames: Iterable[StackFrame]) -> tuple[tuple[str, str, int | None], ...]:
    return tuple((one.function, one.file, one.line) for one in frames)


def _cited(one: MemorySnapshot, said: str, frames: Sequence[StackFrame]) -> Origin:
    where = " < ".join(place_text(frame) for frame in frames[:NAMED])
    return Origin(source=one.origin.source, text=f"{said}: {where}"[:200])
