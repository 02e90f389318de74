"""Readings of cards and of processes that are printed again and again are curves.

Layouts of dcgmi dmon: test files of ahb-sjsu/agi-hpc (DCGM 3.3.5) and Intel's cpu-swe-benchmark; of
pmon: its output in public repositories; bits of slowdowns: nvml.h.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx import diagnose
from trainrx.evidence.readers import Source, card_processes, card_series, process_memory
from trainrx.model.curves import Curve
from trainrx.model.facts import Facts
from trainrx.model.ranks import Reading

HEADER = "timestamp, index, memory.used [MiB], memory.total [MiB], utilization.gpu [%]\n"
SOURCE = Source("gpu.csv")


def csv(used: list[tuple[int, int]], minutes: int = 1) -> str:
    rows = (
        f"2025/11/20 {10 + n * minutes // 60:02d}:{n * minutes % 60:02d}:10.123, {card}, "
        f"{mib} MiB, 81559 MiB, {98 - 60 * card} %\n"
        for n, both in enumerate(used)
        for card, mib in enumerate(both)
    )
    return HEADER + "".join(rows)


def curve(reading: Reading, quantity: str, number: int) -> Curve:
    return next(c for c in reading.curves if (c.quantity, c.number) == (quantity, number))


def test_a_csv_of_cards_gives_a_curve_for_each() -> None:
    found = card_series.read(csv([(40960, 20480), (41984, 20480)]).encode(), SOURCE)

    memory = curve(found, "memory", 0)
    assert (memory.values, memory.at, memory.lines) == ((40.0, 41.0), (0.0, 60.0), (2, 4))
    assert memory.by == "second"
    assert round(memory.limit or 0, 1) == 79.6
    assert curve(found, "utilisation", 1).values == (38.0, 38.0)


def test_dmon_gives_a_curve_for_each_card() -> None:
    text = (
        "#Time        gpu     sm    mem     fb   bar1\n"
        "#HH:MM:SS    Idx      %      %     MB     MB\n"
        " 10:00:00      0     98     40  40960      5\n"
        " 10:00:00      1      -      -  20480      5\n"
        " 10:00:05      0     97     41  41984      5\n"
        " 10:00:05      1      0      0  20480      5\n"
    )

    found = card_series.read(text.encode(), SOURCE)

    assert curve(found, "memory", 0).values == (40.0, 41.0)
    assert curve(found, "memory", 1).at == (0.0, 5.0)
    assert curve(found, "utilisation", 1).values == (0.0,)


def test_cards_without_numbers_are_counted_within_one_time() -> None:
    text = "timestamp, memory.used [MiB]\n" + "".join(
        f"2025/11/20 10:00:{second:02d}.000, {mib} MiB\n"
        for second in (0, 5)
        for mib in (1024, 2048)
    )

    found = card_series.read(text.encode(), SOURCE)

    assert curve(found, "memory", 1).values == (2.0, 2.0)


DCGM = """\
#Entity         GPUTL             FBTTL             FBUSD             DVCCTR
ID
GPU 0           10                81920             40960             N/A
GPU 1           30                81920             20480             N/A
GPU-I 7         -                 -                 99                N/A
#Entity         GPUTL             FBTTL             FBUSD             DVCCTR
ID
GPU 0           50                81920             41984             {}
GPU 1           70                81920             20480             0
"""


def test_dcgmi_gives_a_curve_for_each_card_and_none_for_a_slice_of_one() -> None:
    found = card_series.read(DCGM.format(1).encode(), SOURCE)

    memory = curve(found, "memory", 0)
    assert (memory.values, memory.limit) == ((40.0, 41.0), 80.0)
    assert curve(found, "utilisation", 1).values == (30.0, 70.0)
    assert len(found.curves) == 4
    assert found.facts == ()


QUERY = "index, clocks.current.sm [MHz], {}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (DCGM.format(64), "hw_thermal_slowdown"),
        (DCGM.format(4), None),
        (
            QUERY.format("clocks_throttle_reasons.active")
            + "0, 1980 MHz, 0x0000000000000000\n1, 345 MHz, 0x0000000000000088\n",
            "hw_power_brake_slowdown",
        ),
        (
            QUERY.format("clocks_event_reasons.active") + "0, 1980 MHz, 0x0000000000000004\n",
            None,
        ),
        (
            QUERY.format("clocks_event_reasons.sw_thermal_slowdown") + "0, 1200 MHz, Active\n",
            "sw_thermal_slowdown",
        ),
        (
            QUERY.format("clocks_event_reasons.sw_thermal_slowdown") + "0, 1980 MHz, Not Active\n",
            None,
        ),
    ],
)
def test_clocks_reduced_by_heat_or_power_are_said_and_wished_ones_are_not(
    text: str, expected: str | None
) -> None:
    found = card_series.read(text.encode(), SOURCE)

    assert Facts(found.facts).value("gpu.throttled") == expected


PMON = """\
# gpu         pid   type     sm    mem    enc    dec    jpg    ofa     fb   ccpm    command
# Idx           #    C/G      %      %      %      %      %      %     MB     MB    name
    0    2354247     C      -      -      -      -      -      -  30000      0    VLLM::EngineCo
    0    3588267     C     98     40      -      -      -      -  41000      0    python3.11
    0       1312     G      0      3      -      -      -      -     97      0    Xorg
    1    3588268   C+G     97     41      -      -      -      -  41000      0    python3.11
"""


def test_pmon_counts_programs_on_a_card_at_one_time_and_is_no_series_of_cards() -> None:
    later = PMON.splitlines(keepends=True)[2:]
    text = PMON + "".join(later).replace("2354247", "2354999")

    assert (
        Facts(card_processes.read(text.encode(), SOURCE).facts).value("gpu.processes_on_a_card")
        == 2
    )
    assert card_series.read(text.encode(), SOURCE) == Reading()


def test_pmon_of_idle_cards_counts_nothing() -> None:
    head = "".join(PMON.splitlines(keepends=True)[:2])

    found = card_processes.read((head + "    0          -     -      -\n" * 3).encode(), SOURCE)

    assert found == Reading()


def test_top_gives_the_memory_of_each_process_over_time() -> None:
    screens = "".join(
        f"top - 10:0{n}:00 up 3 days,  1 user,  load average: 9.1, 9.0, 8.9\n"
        "    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n"
        f"   4242 root      20   0  120.1g  {20 + n}.0g 512000 R 100.0   4.1 100:00.00 python\n"
        "      1 root      20   0   10000   2048    512 S   0.0   0.0   0:01.00 init\n\n"
        for n in range(3)
    )

    found = process_memory.read(screens.encode(), Source("top.txt"))

    assert [(c.number, c.values, c.at) for c in found.curves] == [
        (4242, (20.0, 21.0, 22.0), (0.0, 60.0, 120.0))
    ]


def test_ps_and_proc_status_give_it_too() -> None:
    ps = "".join(f"    PID   RSS COMMAND\n   4242 {n}000000 python train.py\n" for n in (2, 3))
    status = "".join(f"Name:\tpython\nPid:\t77\nVmRSS:\t{n}097152 kB\n" for n in (2, 3))

    found = process_memory.read((ps + status).encode(), Source("ps.txt"))

    assert [(c.number, len(c.values), c.by) for c in found.curves] == [
        (4242, 2, "reading"),
        (77, 2, "reading"),
    ]


def test_a_card_that_fills_up_is_told_with_when_it_is_full(tmp_path: Path) -> None:
    place = tmp_path / "gpu.csv"
    place.write_text(csv([(30000 + 300 * n, 20480) for n in range(120)]))

    found = diagnose(logs=[place]).facts

    assert found["series.memory_trend"] == "linear"
    assert found["series.rank_pattern"] == "first"
    assert found["series.least_used_card"] == 1
    assert 0.5 < float(str(found["series.memory_forecast_hours"])) < 1.5


@given(st.binary(max_size=300))
def test_no_bytes_raise(data: bytes) -> None:
    for start in (HEADER.encode(), b"# gpu sm fb\n", b"PID RSS\n", b""):
        card_series.read(start + data, SOURCE)
        process_memory.read(start + data, SOURCE)
