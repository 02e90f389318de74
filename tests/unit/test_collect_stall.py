from __future__ import annotations

import pytest

from trainrx.collect.stall import StallRule, StallWatch

RULE = StallRule(factor=10, least=60, starting=600, talking=1000)


def stepping(count=20, pause=2.0, started=0.0):
    watch = StallWatch(started, RULE)
    for step in range(1, count + 1):
        watch.see(started + step * pause, "step", rank=step % 4)
    return watch, started + count * pause


def test_a_job_that_steps_does_not_stand_still():
    watch, last = stepping()

    assert watch.stall(last + 1) is None


def test_the_least_silence_counts_where_steps_are_short():
    watch, last = stepping(pause=2.0)

    found = watch.stall(last + 61)

    assert watch.stall(last + 60) is None
    assert found is not None
    assert (found.since, found.silent, found.allowed, found.usual) == (last, 61, 60, 2.0)


def test_ten_usual_steps_count_where_they_are_long():
    watch, last = stepping(pause=30.0)

    assert watch.stall(last + 300) is None
    assert watch.stall(last + 301) is not None


def test_one_long_pause_that_was_overcome_is_no_usual_step_and_may_come_again():
    watch, last = stepping(pause=2.0)
    watch.see(last + 200, "step")

    assert watch.usual == 2.0
    assert watch.stall(last + 200 + 399) is None
    assert watch.stall(last + 200 + 401) is not None


def test_a_start_may_take_longer_than_a_step():
    watch = StallWatch(100.0, RULE)

    assert watch.stall(700) is None
    assert watch.stall(701) is not None


def test_lines_without_a_step_are_life_for_a_while():
    watch, last = stepping()
    for second in range(0, 1100, 10):
        watch.see(last + second, "line")

    assert watch.stall(last + 1000) is None
    found = watch.stall(last + 1001)
    assert found is not None
    assert found.since == last


def test_what_the_job_says_of_its_pace_counts_before_two_steps_were_seen():
    watch = StallWatch(0.0, RULE)
    watch.expect(20.0)

    assert watch.stall(200) is None
    assert watch.stall(201) is not None


def test_the_ranks_that_fell_silent_first_are_named():
    watch, last = stepping()
    for rank in (0, 1, 2):
        watch.see(last + 30, "line", rank=rank)

    found = watch.stall(last + 200)

    assert found is not None
    assert found.last == (3,)


def test_a_job_that_is_over_does_not_stand_still_until_it_goes_on():
    watch, last = stepping()
    watch.end()

    assert watch.stall(last + 10_000) is None
    watch.resume()
    assert watch.stall(last + 10_000) is not None


@pytest.mark.parametrize("seconds", [0.0, -1.0, None])
def test_a_pace_that_says_nothing_is_not_taken(seconds):
    watch = StallWatch(0.0, RULE)
    watch.expect(seconds)

    assert watch.usual is None


def test_events_out_of_order_turn_no_clock_back():
    watch, last = stepping()
    watch.see(last - 30, "step", rank=1)

    found = watch.stall(last + 61)

    assert found is not None
    assert found.since == last
