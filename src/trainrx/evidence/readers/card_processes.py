"""Processes on cards as `nvidia-smi pmon` prints them, again and again.

Format: man 1 nvidia-smi, pmon (-s um adds fb and ccpm, -o date and time).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trainrx.evidence.readers import Source
from trainrx.evidence.readers._cards import programs
from trainrx.evidence.readers._printed import PrintedLine, passages
from trainrx.model.ranks import Reading

MARKS = (b" pid   type ",)
COMPUTING = ("C", "C+G", "M+C", "M+C+G")
MOST_LINES = 4000
_NUMBER = re.compile(r"^[0-9]{1,10}$")
Seen = tuple[str, str, PrintedLine]


def read(data: bytes, source: Source) -> Reading:
    """Count the programs on a card, where most were there at one time."""
    rounds = [
        one for lines in passages(data, source, MARKS[0], MOST_LINES) for one in _rounds(lines)
    ]
    fullest = max(rounds, key=lambda one: len({(card, pid) for card, pid, _ in one}), default=[])
    return Reading(facts=tuple(programs(fullest)))


def _rounds(lines: Sequence[PrintedLine]) -> Iterator[list[Seen]]:
    """Give what was on the cards at a time, which is listed in order of cards and processes."""
    columns = lines[0].text.lstrip("# ").split()
    places = [columns.index(name) if name in columns else -1 for name in ("gpu", "pid", "type")]
    seen: list[Seen] = []
    last = (-1, -1)
    for line in lines[1:]:
        cells = line.text.split()
        if line.text.startswith("#") or min(places) < 0 or len(cells) < len(columns) - 1:
            continue
        card, pid, kind = (cells[place] for place in places)
        if not (_NUMBER.match(card) and _NUMBER.match(pid)):
            continue
        if (int(card), int(pid)) <= last:
            yield seen
            seen = []
        last = (int(card), int(pid))
        if kind in COMPUTING:
            seen.append((card, pid, line))
    yield seen
