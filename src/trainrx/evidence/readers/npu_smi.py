"""Ascend NPUs as `npu-smi info` shows them.

Format: support.huawei.com, npu-smi, `npu-smi info`: two lines a chip, then the processes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trainrx.evidence.readers import Source
from trainrx.evidence.readers._cards import Card, Round, card_curves, card_facts, programs
from trainrx.evidence.readers._printed import PrintedLine, passages
from trainrx.evidence.values import gib
from trainrx.model.facts import Fact
from trainrx.model.ranks import Reading

MARK = b"Hugepages-Usage"
MARKS = (MARK,)
HEALTHY = ("OK", "Warning")
_NAMED = re.compile(r"^\|\s(?P<index>\d{1,3})\s+\w[\w-]{1,20}\s*\|\s(?P<health>[A-Za-z]{2,10})\s")
_LOAD = re.compile(
    r"^\|\s\d{1,3}\s.{0,40}?\|\s[0-9A-Fa-f:.]{7,14}\s*\|\s(?P<load>\d{1,3})\s.{0,60}?"
    r"(?P<used>\d{1,7})\s*/\s*(?P<total>[1-9]\d{2,7})\s*\|$"
)
_PROCESS = re.compile(
    r"^\|\s(?P<index>\d{1,3})\s+(?P<chip>\d{1,2})\s*\|\s(?P<pid>\d{1,10})\s*\|\s\S.{0,60}\|\s\d+\s*\|$"
)


def read(data: bytes, source: Source) -> Reading:
    """Read how busy the chips are, and which of them are not well."""
    facts: list[Fact] = []
    rounds: list[Round] = []
    for lines in passages(data, source, MARK, most=200):
        rounds.append(Round(cards=_chips(lines)))
        facts += [*card_facts(rounds[-1].cards), *programs(_processes(lines))]
    return Reading(facts=tuple(facts), curves=tuple(card_curves(source.name, rounds[::-1])))


def _chips(lines: Sequence[PrintedLine]) -> list[Card]:
    chips: list[Card] = []
    for line in lines[1:]:
        if "Process id" in line.text or MARK.decode() in line.text:
            break
        if (named := _NAMED.match(line.text)) is not None:
            broken = named["health"] not in HEALTHY
            chips.append(Card(index=int(named["index"]), line=line, broken=broken))
        elif chips and (shown := _LOAD.match(line.text)) is not None:
            chips[-1].used, chips[-1].load = gib(f"{shown['used']}MB"), int(shown["load"])
            chips[-1].line = chips[-1].line if chips[-1].broken else line
    return chips


def _processes(lines: Sequence[PrintedLine]) -> Iterator[tuple[str, str, PrintedLine]]:
    for line in lines[1:]:
        if MARK.decode() in line.text:
            return
        if (found := _PROCESS.match(line.text)) is not None:
            yield f"{found['index']}.{found['chip']}", found["pid"], line
