"""AMD cards as `rocm-smi` shows them: its concise table.

Format: rocm.docs.amd.com/projects/rocm_smi_lib, `rocm-smi` without options.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from trainrx.evidence.readers import Source
from trainrx.evidence.readers._cards import IN_USE, Card, card_facts
from trainrx.evidence.readers._printed import PrintedLine, passages
from trainrx.model.facts import Fact
from trainrx.model.ranks import Reading

MARK = b"VRAM%"
MARKS = (MARK,)
LEAST_USED = 5
"""Per cent of a card's memory from which on a job has it: the driver takes some of it."""
_ROW = re.compile(r"^(?P<index>\d{1,3})\s.{10,200}?\s(?P<used>\d{1,3})%\s+(?P<load>\d{1,3})%\s*$")
_PARTS = re.compile(r"^(?:=|\s|Device|GPU)")


def read(data: bytes, source: Source) -> Reading:
    """Read how busy the cards are."""
    facts: list[Fact] = []
    for lines in passages(data, source, MARK, most=80):
        facts += card_facts(_cards(lines))
    return Reading(facts=tuple(facts))


def _cards(lines: Sequence[PrintedLine]) -> list[Card]:
    cards: list[Card] = []
    for line in lines[1:]:
        found = _ROW.match(line.text)
        if found is not None:
            used = IN_USE if int(found["used"]) >= LEAST_USED else 0.0
            index, load = int(found["index"]), int(found["load"])
            cards.append(Card(index=index, line=line, used=used, load=load))
        elif cards or (line.text and not _PARTS.match(line.text)):
            break
    return cards
