"""Stacks as faulthandler, pystack, gdb and torch.distributed.debug print them."""

from __future__ import annotations

import pytest

from trainrx.evidence.ranks.standing import job_standing
from trainrx.evidence.readers import as_evidence, read_evidence
from trainrx.knowledge.load import load
from trainrx.model.job import Input
from trainrx.model.ranks import ThreadStack

FAULT = """\
Timeout (0:30:00)!
Thread 0x00007f188dd9c6c0 [feeder] (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 331 in wait
  File "/usr/lib/python3.11/threading.py", line 1002 in _bootstrap

Thread 0x00007f188e896b80 (most recent call first):
  File "/data/dataset.py", line 42 in __getitem__
  File "/data/train.py", line 7 in <module>
"""
PYSTACK = """\
Traceback for thread 12578 (pt_data_worker) [] (most recent call last):
    (Python) File "/usr/lib/python3.11/threading.py", line 1002, in _bootstrap
        self._bootstrap_inner()
    (Python) File "/usr/lib/python3.11/threading.py", line 331, in wait
        gotit = waiter.acquire(True, timeout)

Traceback for thread 12536 (python3) [Has the GIL] (most recent call last):
    (C) File "???", line 0, in _start (/usr/bin/python3.11)
    (Python) File "/data/train.py", line 7, in <module>
        main()
    (Python) File "/data/dataset.py", line 42, in __getitem__
        return open(path)
    (C) File "./io/fileio.c", line 90, in read (inlined) (/usr/lib/libc.so.6)
"""
GDB = """\
[New LWP 12578]
Thread 2 (Thread 0x7f4b28cda6c0 (LWP 12578) "pt_main_thread"):
#0  0x00007f4b292a3f7b in __futex_wait (futex_word=0x7f, private=<optimized out>) at ./nptl/f.c:139
#1  0x00007f4b296a93fc in std::condition_variable::wait () from /usr/lib/libstdc++.so.6

Thread 1 (Thread 0x7f4b28cda000 (LWP 12536) "python"):
Traceback (most recent call first):
  <built-in method acquire of _thread.lock object at remote 0x7f8381dc6c38>
  File "/data/dataset.py", line 42, in __getitem__
    return open(path)
  File "/data/train.py", line 7, in <module>
    main()
"""
PLACES = [("__getitem__", "/data/dataset.py", 42), ("<module>", "/data/train.py", 7)]


def read(text: str, name: str = "dump.txt") -> tuple[ThreadStack, ...]:
    item = as_evidence(Input(kind="log", name=name, text=text))
    return read_evidence([item]).stacks


def python_frames(stack: ThreadStack) -> list[tuple[str, str, int | None]]:
    found = ((one.function, one.file, one.line) for one in stack.frames)
    return [one for one in found if one[2] is not None]


@pytest.mark.parametrize("text", [FAULT, PYSTACK, GDB])
def test_threads_are_read_with_the_innermost_frame_first(text: str) -> None:
    other, main = read(text)

    assert (other.is_main, main.is_main) == (False, True)
    assert python_frames(main) == PLACES
    assert text.split("\n")[main.frames[-1].origin.line - 1].strip() == main.frames[-1].origin.text


def test_the_first_thread_of_pystack_and_gdb_names_the_process_of_all() -> None:
    for text in (PYSTACK, GDB):
        assert [stack.pid for stack in read(text)] == [12536, 12536]


def test_frames_of_c_have_a_library_and_no_line() -> None:
    (_, main), (waits, _) = read(PYSTACK), read(GDB)

    assert [(one.function, one.file) for one in main.frames if one.line is None] == [
        ("read", "/usr/lib/libc.so.6"),
        ("_start", "/usr/bin/python3.11"),
    ]
    assert [(one.function, one.file) for one in waits.frames] == [
        ("__futex_wait", "./nptl/f.c"),
        ("std::condition_variable::wait", "/usr/lib/libstdc++.so.6"),
    ]


def test_dumps_of_several_ranks_in_one_log_are_told_apart() -> None:
    labelled = (
        "\n".join(f"[rank{rank}]: {line}" for line in FAULT.splitlines()) for rank in (3, 1)
    )
    first, second = (text.splitlines() for text in labelled)
    mixed = "\n".join(line for pair in zip(first, second, strict=True) for line in pair)

    mains = [stack for stack in read(mixed) if stack.is_main]

    assert sorted(stack.rank or 0 for stack in mains) == [1, 3]
    assert [python_frames(stack) for stack in mains] == [PLACES, PLACES]


def test_where_a_process_crashed_is_no_place_it_waits_at() -> None:
    crash = FAULT.replace("Timeout (0:30:00)!", "Fatal Python error: Segmentation fault\n")
    aborted = FAULT.replace("Timeout (0:30:00)!", "Fatal Python error: Aborted\n")

    assert read(crash) == ()
    assert len(read(aborted)) == 2


def test_parts_of_the_debug_server_are_of_the_rank_in_their_heading() -> None:
    spy = (
        "Process 9: python train.py\nPython v3.11.7 (/usr/bin/python3)\n\n"
        'Thread 9 (idle): "MainThread"\n    fit (train.py:8)\n'
    )
    text = (
        f"2/3 ranks answered\n\n=== Rank 0: host-a:3412 ===\n{FAULT}\n"
        f"=== Rank 2: host-b:3412 ===\n{spy}\n=== Rank 1: host-a:3413 ===\nError: 500\n"
    )
    item = as_evidence(Input(kind="log", name="stacks.txt", text=text))

    mains = [stack for stack in read_evidence([item]).stacks if stack.is_main]

    assert item.format == "torch_debug"
    assert [(stack.rank, stack.frames[-1].origin.line) for stack in mains] == [(0, 11), (2, 18)]


@pytest.mark.parametrize(
    "heading", ["=== Rank 3: a:1 ===", "RANK=3", "==> rank3.txt <==", "# rank 3", "rank 3:"]
)
def test_a_heading_names_the_rank_of_a_dump_in_a_file_of_many(heading: str) -> None:
    dump = (
        "Process 9: python train.py\nPython v3.11.7 (/usr/bin/python3)\n\n"
        'Thread 9 (idle): "MainThread"\n    fit (train.py:8)\n'
    )

    first, second = read(f"{dump}\n{heading}\n{dump}")

    assert (first.rank, second.rank) == (None, 3)


def test_a_rank_that_was_printed_before_a_dump_is_its_own() -> None:
    dump = (
        'Python v3.11.7 (/usr/bin/python3)\n\nThread 9 (idle): "MainThread"\n    fit (train.py:8)\n'
    )
    text = f"RANK=1\0Process 9: python train.py\n{dump}RANK=0Process 8: python train.py\n{dump}"

    assert [(stack.rank, stack.pid) for stack in read(text)] == [(1, 9), (0, 8)]


def test_words_about_a_rank_are_no_heading() -> None:
    (stack, *_) = read(f"rank 3 saved a checkpoint\n{FAULT}")

    assert stack.rank is None


def test_dumps_of_all_formats_are_joined_over_the_ranks() -> None:
    waits = """\
Traceback for thread 1 (python3) [] (most recent call last):
    (Python) File "/data/train.py", line 7, in <module>
    (Python) File "/lib/site-packages/torch/distributed/distributed_c10d.py", line 9, in barrier
"""
    files = {"rank0.txt": waits, "rank1.txt": PYSTACK}
    files["rank2.txt"] = GDB.replace("__getitem__", "barrier").replace(
        "/data/dataset.py", "/lib/site-packages/torch/distributed/distributed_c10d.py"
    )
    stacks = [stack for name, text in files.items() for stack in read(text, name)]

    job = job_standing(stacks, load().states.values(), 3)

    assert [one.rank for one in job.culprits] == [1]
    assert [one.rank for one in job.waiting] == [0, 2]
