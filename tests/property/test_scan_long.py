"""No input makes the scan slow: time grows with the bytes, not with what they are."""

from __future__ import annotations

import time

import pytest

from trainrx.evidence.detector import Detector
from trainrx.model.job import Input
from trainrx.model.knowledge import LinePattern, Samples, Symptom
from trainrx.model.text import Text

SIZE = 1_500_000
PLAIN = "the quick brown fox 12 jumps over\n"
HOSTILE = {
    "one needle after another": "Tried to allocate ",
    "numbers": "1/",
    "escapes": "\x1b[",
    "carriage returns": "\r",
    "line ends": "\n",
    "colons": "a: ",
    "metrics on one line": "{'loss': 1.0}",
    "bars on one line": " 1%|#| 1/60 [00:42<41:47, 2.5s/it]",
    "frames": '  File "a.py", line 1, in f\n',
    "stamps": "2025-11-20 10:10:10 ",
    "blanks": " ",
    "brackets": "[",
}


def detector() -> Detector:
    patterns = (
        LinePattern(needle="Tried", regex=r"Tried to allocate (?P<asked>[\d.]+ [KMGT]iB)"),
        LinePattern(needle=": ", regex=r"a: [^:]{0,40}: .{0,200}no such text"),
    )
    symptom = Symptom(
        schema=1,
        id="s",
        role="failure",
        family="oom",
        title=Text(en="", zh=""),
        since="0.1.0",
        updated="2026-11-21",
        patterns=patterns,
        samples=Samples(match=(), near_miss=()),
    )
    return Detector([symptom], engine="needles")


def seconds(text: str) -> float:
    log = Input(kind="log", name="t.log", text=text)
    start = time.process_time()
    detector().detect([log])
    return time.process_time() - start


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_log_takes_time_in_proportion_to_its_size(piece: str) -> None:
    text = piece * (SIZE // len(piece))

    # a quadratic step over 1.5 MB takes minutes; the bound is loose for slow machines
    assert seconds(text) < 20 * seconds(PLAIN * (SIZE // len(PLAIN))) + 5
