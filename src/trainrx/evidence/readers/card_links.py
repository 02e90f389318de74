"""How the cards of a machine are linked: the matrix of `nvidia-smi topo -m`.

Format: docs.nvidia.com/deploy/nvidia-smi, topo (its legend stands below each matrix).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trainrx.evidence.readers import Source
from trainrx.evidence.readers._printed import PrintedLine, passages
from trainrx.model.facts import Fact
from trainrx.model.ranks import Reading

MARK = b"CPU Affinity"
MARKS = (MARK,)
SLOWER = ("NV", "PIX", "PXB", "PHB", "NODE", "SYS")
"""Links, from cards bridged by NVLink to those on sockets of their own."""
_CARD = re.compile(r"GPU\d{1,3}")


def read(data: bytes, source: Source) -> Reading:
    """Read which link is the slowest between two cards, and whether all have NVLink."""
    facts: list[Fact] = []
    for lines in passages(data, source, MARK, most=80):
        facts += _matrix(lines)
    return Reading(facts=tuple(facts))


def _matrix(lines: Sequence[PrintedLine]) -> Iterator[Fact]:
    count = len(_CARD.findall(lines[0].text))
    links: list[tuple[int, str, PrintedLine]] = []
    for line in lines[1:]:
        cells = line.text.split()
        if not cells or not _CARD.fullmatch(cells[0]):
            break
        for cell in cells[1 : count + 1]:
            name = "NV" if re.fullmatch(r"NV\d{1,3}", cell) else cell
            if name in SLOWER:
                links.append((SLOWER.index(name), name, line))
    if links:
        _, name, line = max(links, key=lambda link: link[0])
        yield line.says("gpu.slowest_link", "NVLink" if name == "NV" else name)
