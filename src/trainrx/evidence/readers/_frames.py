"""What the dumps of stacks have in common: whose they are, and frames as Python prints them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from trainrx.evidence.lines import bare, speaker
from trainrx.evidence.readers import Source
from trainrx.model.facts import Origin
from trainrx.model.ranks import StackFrame, ThreadStack

HEADING = re.compile(
    r"^[=#*>-]{1,8} ?\[?[Rr]ank[ :=_-]?(\d{1,5})\b[^(\"]{0,120}$"
    r"|^\[?[Rr]ank[ :=_-]?(\d{1,5})\]?:?\s{0,4}$|^RANK=(\d{1,5})\s{0,4}$"
)
PYTHON_FRAME = re.compile(
    r"^\s{1,8}(?:\((?P<kind>Python|C)\) )?File \"(?P<file>[^\"\n]{1,500})\","
    r" line (?P<line>\d{1,7}),? in (?P<function>[^\s(]{1,300})(?: \(inlined\))?"
    r"(?: \((?P<library>[^)\n]{1,300})\))?"
)
OUTER = ("_bootstrap", "_bootstrap_inner", "thread_run", "clone", "clone3", "start_thread")
"""What the stacks of threads begin with that are not the first one of their process."""


class DumpLine(NamedTuple):
    """A line without what is in front of it: who printed it, and where it stands."""

    who: str
    text: str
    origin: Origin


def lines(data: bytes, source: Source) -> Iterator[DumpLine]:
    """Give the lines of a dump."""
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), source.line):
        yield dump_line(line, source.name, number)


def dump_line(line: str, source: str, number: int) -> DumpLine:
    """Take off a line what is in front of it."""
    text = line.rstrip("\r")
    who = speaker(text)
    plain = bare(text) if who else text
    return DumpLine(who, plain, origin(source, number, plain.strip()))


def heading_rank(line: str) -> int | None:
    """Give the rank that a heading names (`=== Rank 3: host ===`, `RANK=3`), or None."""
    if "ank" not in line and "RANK" not in line:
        return None
    found = HEADING.match(line)
    return None if found is None else int(found[found.lastindex or 1])


def python_frame(line: DumpLine) -> StackFrame | None:
    """Read a frame as Python prints it, or a tool in its manner."""
    found = PYTHON_FRAME.match(line.text) if "File " in line.text else None
    if found is None:
        return None
    native = found["kind"] == "C"
    return StackFrame(
        function=found["function"],
        file=(found["library"] or found["file"]) if native else found["file"],
        line=None if native else int(found["line"]),
        origin=line.origin,
    )


def is_first_thread(frames: Sequence[StackFrame]) -> bool:
    """Tell whether a stack, the innermost frame first, is of the first thread of a process."""
    own = [frame for frame in frames if frame.line is not None] or frames
    return bool(own) and own[-1].function.rpartition(".")[2] not in OUTER


def of_processes(stacks: Iterable[ThreadStack]) -> Iterator[ThreadStack]:
    """Give threads the process that their first thread names, which is printed last."""
    others: list[ThreadStack] = []
    for stack in stacks:
        others.append(stack)
        if stack.is_main:
            yield from (msgspec.structs.replace(one, pid=stack.pid) for one in others)
            others = []
    yield from others


def origin(source: str, line: int | None, text: str) -> Origin:
    """Say where a line stands."""
    return Origin(source=source, line=line, text=text[:200])
