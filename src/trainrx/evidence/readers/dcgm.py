"""What NVIDIA's DCGM says of cards: `dcgmi diag`, `dcgmi health`, the text of its exporter.

Formats: docs.nvidia.com/datacenter/dcgm, dcgmi diag and health; NVIDIA/dcgm-exporter, where
DCGM_FI_DEV_XID_ERRORS is a gauge of the last Xid, which stays until the exporter restarts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trainrx.evidence.readers import Source
from trainrx.evidence.readers._printed import PrintedLine, passages
from trainrx.model.facts import Fact
from trainrx.model.ranks import Reading

DIAGNOSTIC, HEALTH, XID = b"| Diagnostic  ", b"Overall Health", b"DCGM_FI_DEV_XID_ERRORS{"
MARKS = (DIAGNOSTIC, HEALTH, XID)
ABOUT_CARDS = ("Hardware", "Integration", "Stress")
"""Parts of a diagnosis that test cards; the others look at how the machine was set up."""
_PART = re.compile(r"^[|+]-{3,9}\s+(?P<part>\w{1,20})\s+-{3,14}\+-")
_TEST = re.compile(r"^\|\s(?P<test>\w[\w /-]{0,24}?)\s*\|\sFail\b")
_HEALTH = re.compile(r"^\|\sOverall Health\s*\|\s(?P<health>Healthy|Warning|Failure)\b")
_LAST_XID = re.compile(r"^DCGM_FI_DEV_XID_ERRORS\{.{1,450}\}\s(?P<code>\d{1,4})(?:\.0)?(?:\s\d+)?$")


def read(data: bytes, source: Source) -> Reading:
    """Read which tests failed, and the last Xid of a card."""
    facts: list[Fact] = []
    for lines in passages(data, source, DIAGNOSTIC, most=200):
        facts += _failed(lines)
    for lines in passages(data, source, HEALTH, most=1):
        found = _HEALTH.match(lines[0].text)
        if found is not None and found["health"] == "Failure":
            facts.append(lines[0].says("gpu.diagnostic_failed", "health"))
    for lines in passages(data, source, XID, most=1):
        code = _LAST_XID.match(lines[0].text)
        if code is not None and int(code["code"]):
            facts.append(lines[0].says("gpu.last_xid", int(code["code"])))
    return Reading(facts=tuple(facts))


def _failed(lines: Sequence[PrintedLine]) -> Iterator[Fact]:
    part = ""
    for line in lines[1:]:
        if not line.text.startswith(("|", "+")):
            return
        if (named := _PART.match(line.text)) is not None:
            part = named["part"]
        elif part in ABOUT_CARDS and (test := _TEST.match(line.text)) is not None:
            yield line.says("gpu.diagnostic_failed", test["test"])
