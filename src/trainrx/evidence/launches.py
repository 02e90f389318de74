"""The command a framework prints of itself, so that a log alone tells how its job was launched."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trainrx.evidence.blocks import clean_blocks
from trainrx.evidence.matcher import decode
from trainrx.inputs.stream import chunks
from trainrx.model.facts import Origin
from trainrx.model.job import Input

RUN = re.compile(rb"run sh: `([^`]{1,65536})`")
"""ms-swift prints this before it starts the trainer or torchrun (swift/cli/main.py)."""
EARLY = 1 << 24
"""Bytes of a log in which it is looked for: it is printed at the start."""
MOST = 64


def embedded_launches(logs: Sequence[Input]) -> tuple[Origin, ...]:
    """Give the commands logs print of themselves; each `text` is a whole command line."""
    found: dict[str, Origin] = {}
    for item in logs:
        if item.kind == "log":
            for origin in _launches(item):
                found.setdefault(origin.text, origin)
    return tuple(found.values())[:MOST]


def _launches(item: Input) -> Iterator[Origin]:
    seen = 0
    for block in clean_blocks(chunks(item, lambda _: None, limit=EARLY)):
        for match in RUN.finditer(block.data):
            line = block.line + block.data.count(b"\n", 0, match.start())
            yield Origin(source=item.name, line=line, text=decode(match[1]))
        seen += block.size
        if seen >= EARLY:
            return
