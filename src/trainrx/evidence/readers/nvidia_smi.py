"""Cards as nvidia-smi shows them: its table, and `-q`.

Format: docs.nvidia.com/deploy/nvidia-smi. Names, sizes and the driver are read where versions are.
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

TABLE, QUERY = b"Volatile Uncorr. ECC", b"NVSMI LOG"
MARKS = (TABLE, QUERY)
_CARD = re.compile(
    r"^\|\s{1,8}(?P<index>\d{1,3})\s{1,4}\S.{0,60}?\|\s{1,4}[0-9A-Fa-f]{8}:[0-9A-Fa-f:.]{6,12}\s.{0,20}\|"
    r"\s{1,30}(?P<ecc>\S{1,12})\s{0,8}\|?$"
)
_LOAD = re.compile(
    r"^\|.{1,60}\|\s{0,12}(?P<used>\d{1,9} ?MiB) ?/\s{0,8}\d{1,9} ?MiB\s{0,4}\|"
    r"\s{0,12}(?P<load>\d{1,3})%"
)
_PROCESS = re.compile(
    r"^\|\s{1,8}(?P<index>\d{1,3})\s{1,8}(?:\S{1,6}\s{1,8}\S{1,6}\s{1,10})?(?P<pid>\d{1,10})\s{1,10}"
    r"(?:M\+)?C(?:\+G)?\s{1,10}\S"
)
_KEY = re.compile(r"^(?P<margin> {0,40})(?P<key>[A-Z][\w ./()-]{1,60}?)\s*:\s*(?P<value>.{1,80})$")
WAITING = {
    "Remapped Rows": ("Pending", "Remapping Failure Occurred"),
    "Retired Pages": ("Pending", "Pending Page Blacklist"),
}
"""What says Yes where memory waits for a reset of the card to be replaced, or cannot be."""
RECOVERIES = ("Reset", "Reboot", "Drain P2P", "Drain and Reset")
_COUNT = re.compile(r"^\d{1,9}$")
_NUMBER = re.compile(r"\d{1,9}")


def read(data: bytes, source: Source) -> Reading:
    """Read how busy the cards are, and what errors they count."""
    facts: list[Fact] = []
    rounds: list[Round] = []
    for lines in passages(data, source, TABLE, most=400):
        rounds.append(Round(cards=_of_table(lines)))
        facts += [*card_facts(rounds[-1].cards), *programs(_processes(lines))]
    for lines in passages(data, source, QUERY, most=4000):
        facts += card_facts(_of_query(lines))
    return Reading(facts=tuple(facts), curves=tuple(card_curves(source.name, rounds[::-1])))


def _of_table(lines: Sequence[PrintedLine]) -> list[Card]:
    cards: list[Card] = []
    for line in lines[1:]:
        if "Processes:" in line.text or "NVIDIA-SMI" in line.text:
            break
        if (named := _CARD.match(line.text)) is not None:
            ecc = named["ecc"]
            cards.append(
                Card(
                    index=int(named["index"]),
                    line=line,
                    uncorrected=int(ecc) if _COUNT.match(ecc) else None,
                    broken=ecc == "ERR!",
                )
            )
        elif cards and (shown := _LOAD.match(line.text)) is not None:
            cards[-1].used, cards[-1].load = gib(shown["used"]), int(shown["load"])
            cards[-1].line = line if not cards[-1].uncorrected else cards[-1].line
        elif cards and "ERR!" in line.text:
            cards[-1].broken = True
    return cards


def _processes(lines: Sequence[PrintedLine]) -> Iterator[tuple[str, str, PrintedLine]]:
    for line in lines[1:]:
        if "NVIDIA-SMI" in line.text:
            return
        if (found := _PROCESS.match(line.text)) is not None:
            yield found["index"], found["pid"], line


def _of_query(lines: Sequence[PrintedLine]) -> list[Card]:
    cards: list[Card] = []
    above: list[tuple[int, str]] = []
    for line in lines[1:]:
        if line.text.startswith("GPU ") and ":" in line.text:
            cards.append(Card(index=len(cards), line=line))
            above = []
        elif "NVSMI LOG" in line.text:
            break
        elif cards:
            margin = len(line.text) - len(line.text.lstrip())
            above = [item for item in above if item[0] < margin]
            found = _KEY.match(line.text)
            if found is None:
                above.append((margin, line.text.strip()))
            else:
                _told(cards[-1], line, [name for _, name in above], found["key"], found["value"])
    return cards


def _told(card: Card, line: PrintedLine, above: Sequence[str], key: str, value: str) -> None:
    section = above[0] if above else ""
    count = int(value) if _COUNT.match(value) else None
    if section == "FB Memory Usage" and key == "Used":
        card.used = gib(value)
    elif section == "Utilization" and key == "Gpu" and (found := _NUMBER.match(value)):
        card.load = int(found[0])
    elif section == "ECC Errors" and above[1:2] == ["Volatile"] and "Uncorrectable" in key:
        card.uncorrected = (card.uncorrected or 0) + (count or 0)
        card.line = line if count else card.line
    elif section in WAITING and key in WAITING[section]:
        card.waits_for_reset = card.waits_for_reset or value == "Yes"
        card.line = line if value == "Yes" else card.line
    elif _recovery(section, key, value):
        card.recovery, card.line = _recovery(section, key, value), line


def _recovery(section: str, key: str, value: str) -> str:
    """Give what the driver asks for to recover a card; "" where it asks for nothing."""
    if not section and key == "GPU Recovery Action":
        return value if value in RECOVERIES else ""
    return "Reset" if (section, key, value) == ("GPU Reset Status", "Reset Required", "Yes") else ""
