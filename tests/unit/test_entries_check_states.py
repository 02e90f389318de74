"""What `kb check` refuses of a state of threads."""

from __future__ import annotations

from pathlib import Path

import pytest
from knowledge_folders import said, write_files

FILE = "kb/states/waits-for-cache.yaml"
STATE = """\
schema: 1
id: waits-for-cache
title: {en: A rank waits for a cache, zh: rank 在等缓存}
says: {en: waits for a cache, zh: 在等缓存}
since: 0.1.0
updated: "2026-11-21"
role: waits-for-other
frames:
  - {function: fetch|lookup, file: cache\\.py}
samples:
  match:
    - 'fetch (cache.py:1) < main (train.py:2)'
    - 'idle: read (io.py:3) < lookup (cache.py:1) < main (train.py:2)'
  near_miss:
    - 'fetch (other.py:1) < main (train.py:2)'
    - 'clear (cache.py:1) < main (train.py:2)'
references:
  - {id: a, kind: doc, url: "https://example.org/x", says: It is so., checked: "2026-11-21"}
"""


def test_a_right_state_passes(tmp_path: Path) -> None:
    assert said(write_files(tmp_path, {FILE: STATE})) == []


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("role: waits-for-other", "role: waits", "role: is 'waits', must be one of"),
        ("zh: 在等缓存}\nsince", "zh: ''}\nsince", "says.zh: is empty"),
        ("fetch|lookup", "fetch(", "frames[0].function: is not a regex"),
        ("{function: fetch|lookup, file: cache\\.py}", "{op: barrier}", "matches every frame"),
        ("samples:", "over: [nothing]\nsamples:", "over: no other state 'nothing'"),
        ("'fetch (cache", "'flush (cache", "samples.match[0]: stands in None"),
        ("'clear (cache", "'fetch (cache", "samples.near_miss[1]: stands in waits-for-cache"),
    ],
)
def test_a_wrong_state_is_refused(tmp_path: Path, old: str, new: str, wrong: str) -> None:
    found = said(write_files(tmp_path, {FILE: STATE.replace(old, new)}))

    assert any(wrong in line for line in found)


def test_a_second_state_that_is_nearer_takes_a_sample(tmp_path: Path) -> None:
    other = STATE.replace("waits-for-cache", "reads-slowly").replace("fetch|lookup", "read")
    other = other.replace("cache\\.py", "io\\.py").replace("fetch (cache", "read (io")

    found = said(write_files(tmp_path, {FILE: STATE, "kb/states/reads-slowly.yaml": other}))

    assert [line for line in found if "waits-for-cache: samples.match[1]: stands in" in line]
