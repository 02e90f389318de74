"""What evidence is known by, and where it is looked for."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.evidence.readers import LARGEST_PASSAGE, Source, as_evidence, read_evidence, readers
from trainrx.evidence.readers._printed import marked_lines
from trainrx.model.job import Input

TEXT = """Process 12865: python /data/train.py --lr 1e-5
Python v3.11.7 (/usr/bin/python3.11)

Thread 12865 (idle): "MainThread"
    load (dataset.py:7)
        Arguments:
            path: "a b"
    <module> (train.py:8)
Thread 12871 (active+gil): "feeder (x)"
    0x7f5ac3097b10 (libtorch_cuda.so)
    Event.wait (threading.py:629)
"""
THREADS = [
    {
        "pid": 12865,
        "thread_id": 140027795318464,
        "thread_name": "MainThread",
        "os_thread_id": 12865,
        "active": False,
        "owns_gil": True,
        "frames": [
            {
                "name": "load",
                "filename": "/data/dataset.py",
                "module": None,
                "short_filename": "dataset.py",
                "line": 7,
                "locals": None,
                "is_entry": False,
                "is_shim_entry": False,
            }
        ],
        "process_info": None,
    }
]


def log(text: str) -> Input:
    return Input(kind="log", name="train.log", text=text)


def places(item: Input) -> list[list[tuple[str, str, int | None]]]:
    return [
        [(frame.function, frame.file, frame.line) for frame in stack.frames]
        for stack in read_evidence([item]).stacks
    ]


def test_a_dump_is_read_thread_by_thread_without_arguments_and_locals() -> None:
    found = read_evidence([as_evidence(log(TEXT))])

    main, feeder = found.stacks
    assert (main.pid, main.command) == (12865, "python /data/train.py --lr 1e-5")
    assert (main.is_main, main.active, main.has_gil) == (True, False, False)
    assert (feeder.thread, feeder.active, feeder.has_gil) == ("feeder (x)", True, True)
    assert places(as_evidence(log(TEXT))) == [
        [("load", "dataset.py", 7), ("<module>", "train.py", 8)],
        [
            ("0x7f5ac3097b10", "libtorch_cuda.so", None),
            ("Event.wait", "threading.py", 629),
        ],
    ]
    assert main.frames[0].origin.line == 5


def test_a_dump_as_json_says_the_same() -> None:
    item = as_evidence(Input(kind="other", name="dump.json", text=json.dumps(THREADS)))

    assert (item.kind, item.format) == ("evidence", "py_spy")
    (stack,) = read_evidence([item]).stacks
    assert (stack.pid, stack.is_main, stack.has_gil) == (12865, True, True)
    assert places(item) == [[("load", "/data/dataset.py", 7)]]


def test_a_dump_that_is_printed_into_a_log_is_found_at_its_lines() -> None:
    before = "step 1 loss 2.0\n" * 50_000
    item = as_evidence(log(before + TEXT))

    (main, _) = read_evidence([item]).stacks

    assert item.kind == "log"
    assert main.origin.line == 50_004


def test_what_a_job_prints_first_does_not_hide_a_dump_far_behind_it() -> None:
    first = "low 0\noom_kill 0\n"
    between = ("x" * 999 + "\n") * (LARGEST_PASSAGE // 1000 + 1000)

    (main, _) = read_evidence([log(first + between + TEXT)]).stacks

    assert main.origin.line == 2 + LARGEST_PASSAGE // 1000 + 1000 + 4


def test_a_cut_dump_says_that_it_is_cut() -> None:
    cut = json.dumps(THREADS)[:-20]

    found = read_evidence([as_evidence(Input(kind="other", name="dump.json", text=cut))])

    assert found.stacks == ()
    assert [item.source for item in found.unread] == ["dump.json"]


def test_plain_logs_and_settings_are_no_evidence() -> None:
    for text in ("step 1\n", '{"train_batch_size": 8}', "", "[rank0]: Traceback"):
        assert as_evidence(log(text)).kind == "log"


@pytest.mark.parametrize("name", readers())
@given(data=st.one_of(st.binary(max_size=400), st.text(max_size=400).map(str.encode)))
def test_any_bytes_are_read_without_an_error(name: str, data: bytes) -> None:
    reader = readers()[name]

    as_evidence(Input(kind="other", name="x", data=data))
    reader.read(data, Source("x"))


@pytest.mark.parametrize("name", [name for name, reader in readers().items() if reader.MARKS])
@given(
    rows=st.lists(
        st.text(alphabet="0189²٣|-+:=%/ ,.KMGTBinacJOUx()\t", max_size=120), min_size=1, max_size=6
    ),
    which=st.integers(min_value=0),
)
def test_any_lines_behind_a_mark_are_read_without_an_error(
    name: str, rows: list[str], which: int
) -> None:
    reader = readers()[name]
    mark = reader.MARKS[which % len(reader.MARKS)]

    reader.read(mark + "\n".join(rows).encode(), Source("x"))


def test_lines_with_any_of_several_marks_come_once_each_in_order_and_numbered() -> None:
    text = b"a\nb mark x mark\n\nother\nboth other mark\nend mark"

    found = list(marked_lines(text, 7, (b"mark", b"other")))

    assert [(line.number, text[line.start : line.end]) for line in found] == [
        (8, b"b mark x mark"),
        (10, b"other"),
        (11, b"both other mark"),
        (12, b"end mark"),
    ]
