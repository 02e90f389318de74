"""A script brought to what is wanted: edits are tried until one does that, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from trainrx.fix.patch.arguments import argument_edits
from trainrx.fix.patch.proof import DocumentMeaning, given, holds, proved, read
from trainrx.fix.patch.variables import variable_edits
from trainrx.fix.patch.wanted import OffsetEdit, Want, applied
from trainrx.model.job import RawLaunch

_MOST_TRIES = 60


def launch_number(reading: DocumentMeaning, launch: RawLaunch) -> int | None:
    """Find a launch among those of a script read again."""
    origin = launch.origin

    def alike(found: RawLaunch) -> tuple[bool, bool, int]:
        place = (found.origin.source, found.origin.line) == (origin.source, origin.line)
        mine = {(arg.name, arg.values) for arg in launch.args}
        shared = len(mine & {(arg.name, arg.values) for arg in found.args})
        return place, given(found.args) == given(launch.args), shared

    known = [n for n, found in enumerate(reading.launches) if _may_be(found, launch)]
    return max(known, key=lambda n: alike(reading.launches[n]), default=None)


def _may_be(found: RawLaunch, launch: RawLaunch) -> bool:
    """Tell whether a command of the script is that of a launch, or starts the program of one."""
    if (found.framework, found.command) == (launch.framework, launch.command):
        return True
    # of which framework a program of someone's own is, the program says and not its command
    return launch.program_read and found.program == launch.program != ""


def along_with(reading: DocumentMeaning, at: int) -> frozenset[int]:
    """Give the launches that are one with another: of one job, or of the same place in a loop."""
    own = reading.launches[at]
    return frozenset(
        n
        for n, item in enumerate(reading.launches)
        if item.job == own.job or item.origin == own.origin
    )


def mates(reading: DocumentMeaning, at: int) -> list[int]:
    """Give the launches that must not differ: the nodes of one job."""
    job = reading.launches[at].job
    return [n for n, item in enumerate(reading.launches) if item.job == job]


def brought(reading: DocumentMeaning, at: int, want: Want) -> DocumentMeaning | None:
    """Give the script with one thing as wanted; None when no edit does just that."""
    along = along_with(reading, at)
    for number in mates(reading, at):
        if holds(reading.launches[number], want):
            continue
        found = _first(reading, number, want, along)
        if found is None:
            return None
        reading = found
    return reading


def _first(
    reading: DocumentMeaning, at: int, want: Want, along: frozenset[int]
) -> DocumentMeaning | None:
    launch = reading.launches[at]
    candidates = variable_edits if want.kind == "env" else argument_edits
    for edits in islice(_once(candidates(reading, launch, want)), _MOST_TRIES):
        try:
            documents = applied(reading.documents, edits)
        except ValueError:
            continue
        if documents == reading.documents:
            continue
        after = read(documents, reading.source, reading)
        if proved(reading, after, at, want, along):
            return after
    return None


def _once(candidates: Iterator[tuple[OffsetEdit, ...]]) -> Iterator[tuple[OffsetEdit, ...]]:
    seen: set[tuple[OffsetEdit, ...]] = set()
    for item in candidates:
        if item not in seen:
            seen.add(item)
            yield item
