from __future__ import annotations

import msgspec
import pytest

from trainrx.collect.stall import Stall
from trainrx.collect.state import (
    CauseSeen,
    MemoryReading,
    OomForecast,
    RankState,
    WatchAlert,
    WatchState,
)
from trainrx.model.facts import Origin
from trainrx.model.result import SymptomSeen, Tool
from trainrx.render import render
from trainrx.render.document import View
from trainrx.render.formats.json import FOLDER, schemas
from trainrx.render.watch import line, sparkline
from trainrx.render.watch_words import duration

STATE = WatchState(
    outcome="training",
    at=1_700_000_000.0,
    tool=Tool(name="trainrx", version="0", kb="0", engine=""),
    step=120,
    total=1000,
    seconds_per_step=2.1,
    eta_seconds=1848.0,
    memory=tuple(MemoryReading(step=n, gib=10.0 * n) for n in range(1, 9)),
    memory_gib=80.0,
    capacity_gib=80.0,
    silent=1.2,
    ranks=tuple(
        RankState(
            rank=n, step=120 - 9 * (n == 3), behind=9 * (n == 3), silent=2.0, straggles=n == 3
        )
        for n in range(4)
    ),
    stragglers=(3,),
    forecast=OomForecast(step=310, low=270, high=350),
)
FAILED = msgspec.structs.replace(
    STATE,
    outcome="failed",
    eta_seconds=None,
    forecast=None,
    symptoms=(
        SymptomSeen(
            id="cuda-oom",
            title="CUDA ran out of memory",
            family="oom",
            count=4,
            evidence=(
                Origin(source="t.log", line=1, text="\x1b[2Jhf_abcdefghijklmnopqrstuvwxyz01"),
            ),
        ),
    ),
    cause=CauseSeen(
        id="long-sample",
        title="One sample is far longer",
        family="oom",
        verdict="likely",
        probability=0.82,
        fix="--max_length 4096",
    ),
    alerts=(WatchAlert(kind="failed", family="oom"),),
)


def shown(state, lang="en", width=80):
    return render(state, "text", View(lang, width))


def test_a_job_that_trains_is_shown_with_pace_memory_and_forecast():
    text = shown(STATE)

    assert text.startswith(
        "TRAINING  step 120 of 1000, 2.1 s a step, 31 min left, last line 1 s ago\n"
    )
    assert "80.0 of 80.0 GiB" in text
    assert "the card is full near step 310 (270 to 350)" in text
    assert "rank 3 stays behind" in text


def test_ranks_stand_below_each_other():
    rows = [row.split() for row in shown(STATE).splitlines()[-5:]]

    assert rows[0][:5] == ["Ranks", "rank", "step", "behind", "last"]
    assert [row[:3] for row in rows[1:]] == [
        ["0", "120", "0"],
        ["1", "120", "0"],
        ["2", "120", "0"],
        ["3", "111", "9"],
    ]


def test_of_many_ranks_those_furthest_behind_are_shown():
    many = tuple(RankState(rank=n, step=100 - n, behind=n) for n in range(64))

    text = shown(msgspec.structs.replace(STATE, ranks=many))

    assert "\n            63    37      63\n" in text
    assert "48 more, none of them further behind" in text


def test_a_failure_is_shown_with_its_cause_and_what_to_change():
    text = shown(FAILED)

    assert "FAILED" in text
    assert "CUDA ran out of memory (4 times)" in text
    assert "One sample is far longer (82 %) long-sample" in text
    assert "--max_length 4096" in text


def test_chinese_says_the_same():
    text = shown(FAILED, "zh")

    assert "已失败" in text
    assert "第 120/1000 步" in text
    assert "One sample is far longer（82 %）" in text


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_stall_says_for_how_long_and_who_fell_silent(lang):
    stall = Stall(since=0.0, silent=700.0, allowed=300.0, usual=2.0, last=(2, 3))
    state = msgspec.structs.replace(STATE, outcome="stalled", stall=stall, forecast=None)

    text = line(state, View(lang))

    assert ("12 min" in text) or ("12 分钟" in text)
    assert "rank 2-3" in text


def test_json_holds_no_secret_and_nothing_a_terminal_obeys():
    text = render(FAILED, "json", View("en"))

    found = msgspec.json.decode(text.encode(), type=WatchState)
    assert found.cause == FAILED.cause
    assert "\x1b" not in text
    assert "hf_abcdefghij" not in text


def test_the_schema_is_the_committed_one():
    name = "watch.schema.json"

    assert (FOLDER / name).read_text(encoding="utf-8") == schemas()[name]


def test_a_curve_reaches_the_top_where_the_card_is_full():
    assert sparkline(STATE.memory, 80.0, 8) == "▂▃▄▅▆▇██"
    assert sparkline(STATE.memory, 160.0, 8) == "▁▂▂▃▃▄▄▅"
    assert sparkline(STATE.memory, None, 4) == "▃▅▇█"
    assert sparkline((), 80.0, 8) == ""


@pytest.mark.parametrize(
    ("seconds", "en", "zh"),
    [
        (0.139, "0.14 s", "0.14 秒"),
        (75, "75 s", "75 秒"),
        (1848, "31 min", "31 分钟"),
        (9000, "2 h 30 min", "2 小时 30 分钟"),
        (200_000, "2 d 7 h", "2 天 7 小时"),
    ],
)
def test_times_are_written_in_two_units_at_most(seconds, en, zh):
    assert (duration(seconds, "en"), duration(seconds, "zh")) == (en, zh)
