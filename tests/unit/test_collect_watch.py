from __future__ import annotations

import pytest
from log_signatures import OOM_LINE, cuda_oom, signature

from trainrx.collect.follow import NewBytes
from trainrx.collect.stall import StallRule
from trainrx.collect.watch import LOOKS, Watch, WatchSettings
from trainrx.evidence.detector import Detector
from trainrx.model.result import Tool

TOOL = Tool(name="trainrx", version="0", kb="0", engine="")
RULE = StallRule(factor=10, least=60, starting=600, talking=1000)
DONE = signature("done", ("train_runtime", "train_runtime"), role="success")
OOM = OOM_LINE.format(gpu=0) + "\n"


def step(number, memory=40.0, loss="1.5", total=100):
    return (
        f"{{'loss': {loss}, 'grad_norm': 0.5, 'memory(GiB)': {memory}, 'train_speed(iter/s)': 0.5,"
        f" 'global_step/max_steps': '{number}/{total}'}}\n"
    )


@pytest.fixture
def job():
    return Job()


class Job:
    """A job of which the lines are given as if they had been written."""

    def __init__(self, capacity=None):
        settings = WatchSettings(tool=TOOL, rule=RULE, capacity_gib=capacity)
        self.watch = Watch(Detector([cuda_oom(), DONE], engine="needles"), settings, 0.0)

    def write(self, text, at, name="train.log", begins=""):
        data = text if isinstance(text, bytes) else text.encode()
        self.watch.take([NewBytes(name, data, at, begins)])
        return self.watch.state(at)


def test_nothing_written_is_waited_for(job):
    assert job.watch.state(10_000.0).outcome == "waiting"


def test_a_job_starts_then_trains_and_ends(job):
    start = job.write("loading the model\n", 1.0)
    training = job.write(step(10), 100.0)
    ended = job.write(step(100) + "{'train_runtime': 3.0}\n", 200.0)

    assert (start.outcome, training.outcome, ended.outcome) == ("starting", "training", "finished")
    assert (training.step, training.total, training.seconds_per_step) == (10, 100, 2.0)
    assert training.eta_seconds == 180.0
    assert ended.alerts == ()


def test_a_failure_is_an_alert_with_its_family(job):
    job.write(step(10), 100.0)

    state = job.write(OOM, 101.0)

    assert state.outcome == "failed"
    assert [(alert.kind, alert.family) for alert in state.alerts] == [("failed", "oom")]
    assert [one.id for one in state.symptoms] == ["cuda-oom"]


def test_a_failure_the_job_goes_on_behind_is_overcome_but_shown(job):
    job.write(step(1) + OOM, 100.0)
    assert job.write(step(2), 102.0).outcome == "failed"

    state = job.write(step(3), 104.0)

    assert (state.outcome, state.alerts) == ("training", ())
    assert [one.id for one in state.symptoms] == ["cuda-oom"]


def test_a_job_started_again_in_the_same_log_has_left_its_failure(job):
    state = job.write(step(50) + OOM + "again\n" + step(1) + step(2), 100.0)

    assert (state.outcome, state.step) == ("training", 2)


def test_a_log_that_is_cut_forgets_what_stood_in_it(job):
    job.write(step(50) + OOM, 100.0)

    state = job.write("loading the model\n", 200.0, begins="new")

    assert (state.outcome, state.symptoms) == ("starting", ())


def test_a_log_that_is_rotated_goes_on(job):
    job.write(step(50), 100.0)

    state = job.write(step(51), 102.0, begins="rotated")

    assert [reading.step for reading in state.memory] == [50, 51]


def test_silence_is_a_stall_and_steps_end_it(job):
    for number in range(1, 6):
        job.write(step(number), 100.0 + 2 * number)

    assert job.watch.state(110.0 + 60).outcome == "training"
    state = job.watch.state(110.0 + 61)
    assert (state.outcome, state.alerts[0].kind, state.alerts[0].family) == (
        "stalled",
        "stalled",
        "hang",
    )
    assert state.stall is not None
    assert state.stall.silent == 61
    assert job.write(step(6), 180.0).outcome == "training"


def test_a_job_that_did_its_last_step_does_not_stand_still(job):
    job.write(step(100), 100.0)

    assert job.watch.state(99_999.0).outcome == "finished"


def test_a_loss_that_is_nan_is_an_alert_while_it_is(job):
    broken = job.write(step(5, loss="nan"), 100.0)

    assert [(alert.kind, alert.family) for alert in broken.alerts] == [("nan-loss", "nan_loss")]
    assert job.write(step(6), 102.0).alerts == ()


def test_files_of_ranks_make_a_table(job):
    for rank in range(4):
        at = 100.0 + rank
        job.write(step(20 - (rank == 2)), at, name=f"logs/attempt_0/{rank}/stdout.log")

    state = job.watch.state(110.0)

    assert [(one.rank, one.step, one.behind) for one in state.ranks] == [
        (0, 20, 0),
        (1, 20, 0),
        (2, 19, 1),
        (3, 20, 0),
    ]
    assert [one.silent for one in state.ranks] == [10.0, 9.0, 8.0, 7.0]
    assert state.ranks[0].memory_gib == 40.0


def test_labels_of_ranks_in_one_log_make_a_table(job):
    bar = "[rank{rank}]: Train:  20%|##   | {step}/100 [00:10<01:20,  1.20s/it]\n"
    lines = "".join(bar.format(rank=rank, step=20 - rank) for rank in range(3))

    state = job.write(lines + "[default3]:warming up\n", 100.0)

    assert [(one.rank, one.step) for one in state.ranks] == [(0, 20), (1, 19), (2, 18), (3, None)]


def test_a_rank_straggles_only_when_it_stays_behind(job):
    def look(leader, other, at):
        job.write(step(leader), at, name="rank_0.log")
        return job.write(step(other), at, name="rank_1.log")

    once = look(10, 2, 100.0)
    for number in range(1, LOOKS + 1):
        state = look(10 + number, 2 + number, 100.0 + number)

    assert once.stragglers == ()
    assert state.stragglers == (1,)


def test_the_highest_memory_of_all_ranks_is_the_curve(job):
    for rank, memory in ((0, 40.0), (1, 50.0)):
        job.write(step(1, memory) + step(2, memory + 1), 100.0, name=f"rank_{rank}.log")

    state = job.watch.state(100.0)

    assert [(one.step, one.gib) for one in state.memory] == [(1, 50.0), (2, 51.0)]
    assert state.memory_gib == 51.0


def test_steps_stored_as_json_lines_are_followed(job):
    line = '{"loss": 1.0, "current_steps": 7, "total_steps": 50}\n'

    state = job.write(line, 100.0, name="run/trainer_log.jsonl")

    assert (state.outcome, state.step, state.total) == ("training", 7, 50)


@pytest.mark.parametrize(
    "data",
    [
        b"\x00" * 70_000,
        b"\x1b[2J\x1b]0;title\x07" * 1000,
        bytes(range(256)) * 300,
        b"x" * 3_000_000,
        b"[rank99999]: " * 5000,
        b"{'loss': 1e999999, 'global_step/max_steps': '-1/0'}\n",
        b"\r" * 50_000,
    ],
    ids=["nuls", "escapes", "binary", "one-line", "labels", "numbers", "returns"],
)
def test_hostile_bytes_do_no_harm(job, data):
    for begin in range(0, len(data), 1 << 18):
        job.write(data[begin : begin + (1 << 18)], 100.0)

    assert job.watch.state(101.0).outcome in ("starting", "training", "finished")


def test_a_line_is_read_once_it_is_whole(job):
    whole = step(10)
    job.write(whole[:30], 100.0)
    partly = job.watch.state(100.0)

    state = job.write(whole[30:], 101.0)

    assert partly.step is None
    assert state.step == 10


def test_memory_that_leaks_is_carried_on_to_the_end_of_the_card():
    job = Job(capacity=80.0)
    for number in range(1, 101):
        state = job.write(step(number, 40 + 0.1 * number, total=1000), 100.0 + number)

    assert state.forecast is not None
    assert 380 < state.forecast.step < 400
    assert [(alert.kind, alert.family) for alert in state.alerts] == [("oom-forecast", "oom")]
    assert len(state.memory) == 100


def test_memory_that_stays_is_no_alert():
    job = Job(capacity=80.0)
    for number in range(1, 101):
        state = job.write(step(number, 40.0, total=1000), 100.0 + number)

    assert (state.forecast, state.alerts) == (None, ())
