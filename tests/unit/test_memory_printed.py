from __future__ import annotations

import pytest

from trainrx.memory.printed import GIB, MIB, Interval, asked_in, asked_of, printed, segment


@pytest.mark.parametrize(
    ("size", "line"),
    [
        (512, "2.00 MiB"),
        (MIB, "2.00 MiB"),
        (MIB + 1, "20.00 MiB"),
        (10 * MIB - 1, "20.00 MiB"),
        (10 * MIB, "10.00 MiB"),
        (10 * MIB + 1, "12.00 MiB"),
        (1_000_000_000, "954.00 MiB"),
        (GIB, "1024.00 MiB"),
        (GIB + 1, "1.00 GiB"),
        (16384 * 151936 * 4, "9.27 GiB"),
    ],
)
def test_a_request_is_printed_as_the_segment_it_takes(size: int, line: str) -> None:
    assert printed(segment(size)) == line


@pytest.mark.parametrize(("size", "line"), [(512, "512 bytes"), (1536, "1.50 KiB")])
def test_small_amounts_are_printed_in_small_units(size: int, line: str) -> None:
    assert printed(size) == line


def test_a_figure_below_a_gib_leaves_one_step_open() -> None:
    assert asked_in("Tried to allocate 954.00 MiB. GPU 0 has") == Interval(
        low=952 * MIB + 1, high=954 * MIB
    )


def test_a_figure_above_a_gib_leaves_what_rounds_to_it() -> None:
    asked = asked_in("CUDA out of memory. Tried to allocate 9.27 GiB (GPU 0; 79.15 GiB total")

    assert asked is not None
    # 4,744 to 4,748 steps of 2 MiB are printed as 9.27 GiB
    assert asked.low == 4743 * 2 * MIB + 1
    assert asked.high == 4748 * 2 * MIB


def test_a_figure_without_decimals_leaves_more_open() -> None:
    exact, rough = (asked_in(f"Tried to allocate {text}") for text in ("49.00 GiB", "49 GiB"))

    assert exact is not None
    assert rough is not None
    assert rough.nats > 50 * exact.nats


def test_twenty_mib_stand_for_anything_from_one_mib() -> None:
    assert asked_in("Tried to allocate 20.00 MiB") == Interval(low=MIB + 1, high=20 * MIB)


def test_two_mib_say_nothing() -> None:
    assert asked_in("Tried to allocate 2.00 MiB") is None


def test_a_figure_no_segment_has_is_what_was_asked_for() -> None:
    asked = asked_in("Tried to allocate 953.67 MiB")

    assert asked is not None
    assert asked.low < 1_000_000_000 < asked.high
    assert asked.high - asked.low < 20_000


def test_a_number_is_taken_for_two_printed_decimals() -> None:
    assert asked_of(9.27) == asked_in("Tried to allocate 9.27 GiB")
    assert asked_of(round(954 / 1024, 6)) == asked_in("Tried to allocate 954.00 MiB")


@pytest.mark.parametrize("gib", [0.0, -1.0, float("nan"), float("inf"), 1e300])
def test_a_number_nobody_asks_for_is_refused(gib: float) -> None:
    assert asked_of(gib) is None


@pytest.mark.parametrize(
    "line", ["", "Tried to allocate", "Tried to allocate lots", "Tried to allocate 2.00"]
)
def test_a_line_without_a_figure_is_refused(line: str) -> None:
    assert asked_in(line) is None
