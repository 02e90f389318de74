"""Files of `torch.distributed.debug`: what other tools print, under a heading for each rank.

Format: torch/distributed/debug/_debug_handlers.py (2.10 and later): `stacks_<time>.txt` holds what
faulthandler prints, `pyspy_dump_<time>.txt` that of py-spy, `fr_trace_json` that of the recorder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from trainrx.evidence.readers import Reader, Source, format_of, joined, readers
from trainrx.model.ranks import Reading

MARKS: tuple[bytes, ...] = ()
HEADING = re.compile(rb"(?m)^=== Rank (\d{1,5}): [^\n]{0,200} ===\r?$")
SUMMARY = 4096
"""Bytes before the first heading that say how many ranks answered."""


def knows(head: bytes) -> bool:
    """Tell whether a content is of the debug server, or made in its manner."""
    found = HEADING.search(head)
    return found is not None and found.start() < SUMMARY


def read(data: bytes, source: Source) -> Reading:
    """Read each part by the format it is in, as what its rank left."""
    return joined(_parts(data, source))


def _parts(data: bytes, source: Source) -> Iterator[Reading]:
    heads = list(HEADING.finditer(data))
    ends = [*(found.start() for found in heads), len(data)][1:]
    for found, end in zip(heads, ends, strict=True):
        part = data[found.end() : end]
        line = source.line + data.count(b"\n", 0, found.end())
        rank = int(found[1])
        for reader in _readers_of(part):
            yield _of_rank(reader.read(part, Source(source.name, line)), rank)


def _readers_of(part: bytes) -> Iterator[Reader]:
    """Give the readers of a part: the one that knows it, else those whose marks are in it."""
    own = __name__.rpartition(".")[2]
    known = format_of(part.lstrip())
    if known and known != own:
        yield readers()[known]
    else:
        others = (one for name, one in readers().items() if name != own)
        yield from (one for one in others if any(mark in part for mark in one.MARKS))


def _of_rank(found: Reading, rank: int) -> Reading:
    stacks = tuple(msgspec.structs.replace(one, rank=rank) for one in found.stacks)
    calls = tuple(msgspec.structs.replace(one, rank=rank) for one in found.calls)
    return msgspec.structs.replace(found, stacks=stacks, calls=calls)
