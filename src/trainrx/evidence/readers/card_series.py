"""Cards over time: `nvidia-smi --query-gpu=... --format=csv -l N`, `nvidia-smi dmon`, `dcgmi dmon`.

Formats: `nvidia-smi --help-query-gpu`; man 1 nvidia-smi, dmon (-o adds date and time);
docs.nvidia.com/datacenter/dcgm, dcgmi dmon, with the short names of its fields (dmon -l).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone

from trainrx.evidence.readers import Source
from trainrx.evidence.readers._cards import Card, Round, card_curves, card_facts
from trainrx.evidence.readers._printed import LONGEST, PrintedLine
from trainrx.evidence.values import gib
from trainrx.model.facts import MAX_QUOTE, Origin
from trainrx.model.ranks import Reading

MARKS = (
    b"memory.used",
    b"utilization.gpu",
    b"clocks_event_reasons.",
    b"clocks_throttle_reasons.",
    b"# gpu ",
    b"#Time ",
    b"#Date ",
    b"#Entity",
    b"# Entity",
)
DCGM = {"GPUTL": "sm", "FBUSD": "fb", "FBTTL": "memory.total", "DVCCTR": "clocks"}
"""Names of DCGM for columns that others print, too."""
SLOWDOWNS = {
    0x40: "hw_thermal_slowdown",
    0x80: "hw_power_brake_slowdown",
    0x20: "sw_thermal_slowdown",
    0x08: "hw_slowdown",
}
"""Reasons for reduced clocks that are no wish of the user, by their bits (nvml.h)."""
CLOCKS = ("clocks_event_reasons.", "clocks_throttle_reasons.")
_QUERIED = re.compile(r"(?:^|, )(?:timestamp|index|uuid|pci\.bus_id|memory\.|utilization\.|name,)")
_NUMBER = re.compile(r"-?\d{1,9}(?:\.\d{1,6})?")
DAY = 86_400.0
TOGETHER = 0.5
"""Seconds within which the cards of one round are read."""
Columns = tuple[str, ...]


def read(data: bytes, source: Source) -> Reading:
    """Read memory and use of each card over time, and how the cards are at last."""
    rounds = list(_rounds(data, source))
    if not rounds:
        return Reading()
    whole = [one for one in rounds if len(one.cards) == len(rounds[0].cards)]
    facts = card_facts(whole[-1].cards) if whole else ()
    return Reading(facts=tuple(facts), curves=tuple(card_curves(source.name, rounds)))


def _rounds(data: bytes, source: Source) -> Iterator[Round]:
    """Give what was read of all cards at a time, in order."""
    columns: Columns = ()
    csv = False
    seen: Round | None = None
    for number, raw in enumerate(data.split(b"\n"), source.line):
        if len(raw) > LONGEST or not (columns or any(mark in raw for mark in MARKS)):
            continue
        text = raw.decode("utf-8", "replace").strip()
        header = _header(text)
        if header:
            columns, csv = header, "," in text
            continue
        cells = text.split(",") if csv else text.split()
        if not columns or len(cells) != len(columns) or text.startswith("#"):
            continue
        row = dict(zip(columns, (cell.strip() for cell in cells), strict=True))
        if row.get("entity", "GPU") != "GPU":
            continue
        line = PrintedLine(text, Origin(source=source.name, line=number, text=text[:MAX_QUOTE]))
        at = _at(row)
        if seen is None or _begins(row, at, seen):
            if seen is not None:
                yield seen
            seen = Round(at=at, cards=[])
        card = _card(row, line, len(seen.cards))
        if card is not None:
            seen.cards.append(card)
    if seen is not None:
        yield seen


def _begins(row: Mapping[str, str], at: float | None, seen: Round) -> bool:
    """Tell whether a row is the first of its round: its card had its turn, or time went on."""
    index = _index(row)
    if index:
        return any(str(card.index) == index for card in seen.cards)
    return at is None or seen.at is None or at - seen.at > TOGETHER


def _index(row: Mapping[str, str]) -> str:
    return row.get("index", "") or row.get("gpu", "")


def _header(text: str) -> Columns:
    words = tuple(text.lstrip("# ").split())
    if text.startswith("#") and words[:1] == ("Entity",):
        return ("entity", "gpu", *(DCGM.get(name, name) for name in words[1:]))
    if text.startswith("#") and "gpu" in words:
        return () if "pid" in words else words
    if _QUERIED.search(text) and not _NUMBER.match(text):
        return tuple(name.strip().partition(" [")[0] for name in text.split(","))
    return ()


def _card(row: Mapping[str, str], line: PrintedLine, place: int) -> Card | None:
    """Read one row; cards without a number are counted from the start of their round."""
    used = row.get("memory.used", "") or row.get("fb", "")
    total = row.get("memory.total", "")
    load = _NUMBER.match(row.get("utilization.gpu", "") or row.get("sm", ""))
    taken = gib(used if used.endswith("B") else f"{used}MiB") if _NUMBER.match(used) else None
    index = _index(row) or str(place)
    throttled = _throttled(row)
    if (taken is None and load is None and throttled is None) or not index.isdecimal():
        return None
    return Card(
        index=int(index),
        line=line,
        used=taken,
        total=gib(total if total.endswith("B") else f"{total}MiB") if total else None,
        load=None if load is None else int(float(load[0])),
        throttled=throttled or "",
    )


def _throttled(row: Mapping[str, str]) -> str | None:
    """Give why the clocks of a card are reduced, "" where they are not; None: nothing says so."""
    said = {name: row[name] for name in row if name.startswith(CLOCKS)}
    single = {name.partition(".")[2]: value for name, value in said.items()}
    named = next((name for name in SLOWDOWNS.values() if single.get(name) == "Active"), "")
    bits = single.get("active", row.get("clocks", ""))
    if named or not re.fullmatch(r"0x[0-9A-Fa-f]{1,16}|[1-9]\d{0,8}|0", bits):
        return named if said else None
    return next((name for bit, name in SLOWDOWNS.items() if int(bits, 0) & bit), "")


def _at(row: Mapping[str, str]) -> float | None:
    """Give when a row was taken, in seconds; None where no column says it."""
    stamp = row.get("timestamp", "").replace("/", "-")
    try:
        return datetime.fromisoformat(stamp).replace(tzinfo=timezone.utc).timestamp()
    except ValueError:
        return _clock(row)


def _clock(row: Mapping[str, str]) -> float | None:
    clock, day = row.get("Time", "").split(":"), row.get("Date", "0")
    if len(clock) == 3 and all(part.isdecimal() for part in (*clock, day)):
        hours, minutes, seconds = map(int, clock)
        return int(day[-2:]) * DAY + hours * 3600 + minutes * 60 + seconds
    return None
