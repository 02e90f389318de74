"""The command a framework prints of itself, so that a log alone tells how its job was launched."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from trainrx.evidence.blocks import LogBlock, beginnings
from trainrx.evidence.matcher import decode
from trainrx.model.facts import Origin
from trainrx.model.job import Input

RUN = re.compile(rb"run sh: `([^`]{1,65536})`")
"""ms-swift prints this before it starts the trainer or torchrun (swift/cli/main.py)."""
MOST = 64


def embedded_launches(logs: Sequence[Input]) -> tuple[Origin, ...]:
    """Give the commands logs print of themselves; each `text` is a whole command line."""
    found: dict[str, Origin] = {}
    for item, blocks in beginnings(logs):
        for origin in _launches(item.name, blocks):
            found.setdefault(origin.text, origin)
    return tuple(found.values())[:MOST]


def _launches(source: str, blocks: Iterable[LogBlock]) -> Iterator[Origin]:
    for block in blocks:
        for match in RUN.finditer(block.data):
            line = block.line + block.data.count(b"\n", 0, match.start())
            yield Origin(source=source, line=line, text=decode(match[1]))
