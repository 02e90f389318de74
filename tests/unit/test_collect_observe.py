"""What is seen of a job that was started here."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from trainrx.collect.observe import JobObserver, StepReader, opened_logs
from trainrx.collect.relay import FIRST, LATER, OutputCopy, copies
from trainrx.collect.stall import Stall, StallRule, StallWatch
from trainrx.collect.streams import OutputFile
from trainrx.collect.supervise import CollectAsked, JobEnded, JobEvent, JobStarted

METRICS = b"{'loss': 1.5, 'grad_norm': 0.5, 'global_step/max_steps': '%d/90'}\n"
BAR = b"\r  2%%|#         | %d/90 [00:10<01:20,  1.20s/it]"
EVALUATION = b"\rEvaluating:   2%%|#         | %d/40 [00:10<01:20,  1.20s/it]"


@pytest.mark.parametrize(
    ("pieces", "signs"),
    [
        ([METRICS % 1, METRICS % 2], ["step", "step"]),
        ([BAR % 1, BAR % 1, BAR % 2], ["step", "line", "step"]),
        ([METRICS % 1, b"loading checkpoint shards\n"], ["step", "line"]),
        ([EVALUATION % 1, EVALUATION % 2, EVALUATION % 2], ["work", "work", "line"]),
    ],
)
def test_a_bar_that_is_drawn_again_is_no_step_and_an_evaluation_is_work(
    pieces: list[bytes], signs: list[str]
) -> None:
    reader = StepReader()

    assert [reader.read(piece) for piece in pieces] == signs


def test_an_evaluation_that_counts_on_is_no_stall_however_long_it_takes() -> None:
    pace = StallWatch(0.0, StallRule(least=10.0, talking=60.0))
    for at in (1.0, 2.0, 3.0):
        pace.see(at, "step")
    for at in range(4, 500, 5):
        pace.see(float(at), "work")

    assert pace.stall(500.0) is None
    assert pace.stall(600.0) is not None
    assert pace.usual == 1.0


def told(*events: JobEvent) -> int:
    reading, writing = os.pipe()
    os.write(writing, b"".join(msgspec.json.encode(event) + b"\n" for event in events))
    os.close(writing)
    return reading


def test_a_stall_is_given_once_and_the_end_after_it(tmp_path: Path) -> None:
    (tmp_path / "stdout.log").write_bytes(METRICS % 1)
    reading, writing = os.pipe()
    started = JobStarted(pid=os.getpid(), copies=(str(tmp_path / "stdout.log"),))
    os.write(writing, msgspec.json.encode(started) + b"\n")
    observer = JobObserver(reading, StallRule(starting=0.0, least=0.0, factor=0.0), tmp_path)
    events = observer.events()

    first = next(events)
    os.write(writing, msgspec.json.encode(JobEnded(status=256)) + b"\n")
    rest = list(events)

    observer.close()
    assert isinstance(first, Stall)
    assert rest == [JobEnded(status=256)]
    assert observer.outputs() == [tmp_path / "stdout.log"]


def test_what_we_say_and_lines_without_a_step_do_not_make_a_stall_anew(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(b"")
    reading, writing = os.pipe()
    started = JobStarted(pid=os.getpid(), files=(OutputFile(str(log), 0),))
    os.write(writing, msgspec.json.encode(started) + b"\n")
    observer = JobObserver(reading, StallRule(starting=0.0, least=0.0, factor=0.0), tmp_path)
    events = observer.events()
    stalls = [next(events)]

    observer.disown(b"diagnose: an answer\n")
    log.write_bytes(b"diagnose: an answer\na heartbeat\n")
    os.write(writing, msgspec.json.encode(CollectAsked()) + b"\n")
    stalls.append(next(events))
    os.close(writing)
    stalls += events
    observer.close()

    assert [type(one) for one in stalls] == [Stall, CollectAsked]


def test_nothing_follows_when_what_started_the_job_is_gone(tmp_path: Path) -> None:
    observer = JobObserver(told(JobStarted(pid=1)), StallRule(), tmp_path)

    assert list(observer.events()) == []


def test_of_a_file_others_wrote_to_only_what_the_job_printed_counts(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(b"an earlier run\n")
    job = JobStarted(pid=1, files=(OutputFile(str(log), log.stat().st_size),))
    (tmp_path / "folder").mkdir()
    observer = JobObserver(told(job, JobEnded(status=0)), StallRule(), tmp_path / "folder")
    list(observer.events())
    observer.close()
    with log.open("ab") as file:
        file.write(b"of the job\ndiagnose: an answer\nof the job\n")

    observer.disown(b"diagnose: an answer\n")

    (found,) = observer.outputs()

    assert found.read_bytes() == b"of the job\nof the job\n"


def test_logs_that_a_process_writes_are_found(tmp_path: Path) -> None:
    with (tmp_path / "rank0.log").open("w"), (tmp_path / "weights.bin").open("w"):
        opened = list(opened_logs(os.getpid()))

    # what started the tests may have sent their own output to a file
    assert [path for path in opened if path.startswith(str(tmp_path))] == [
        str(tmp_path / "rank0.log")
    ]


def test_a_copy_keeps_the_beginning_and_the_end_within_bounds(tmp_path: Path) -> None:
    path = tmp_path / "stdout.log"
    copy = OutputCopy(path)
    piece = bytes(1 << 20)
    for number in range((FIRST + 3 * LATER) // len(piece) + 8):
        copy.keep(b"%08d" % number + piece[8:])
    copy.close()

    first, before, later = copies(path)

    assert first.read_bytes()[:8] == b"00000000"
    assert later.read_bytes()[-len(piece) :][:8] == b"%08d" % number
    assert before.stat().st_size == LATER
    assert sum(place.stat().st_size for place in (first, before, later)) <= FIRST + 2 * LATER


def test_a_disk_that_is_full_ends_the_copy_and_nothing_else() -> None:
    copy = OutputCopy(Path("/dev/full"))

    copy.keep(b"text")
    copy.keep(b"text")
