"""How ranks ended, out of tracebacks, of torchrun's list and of compared calls."""

from __future__ import annotations

from trainrx.evidence.readers import Source, endings, fingerprints

TRACEBACK = b"""\
[rank1]: Traceback (most recent call last):
[rank0]: step 3
[rank1]:   File "/data/train.py", line 227, in <module>
[rank1]:     fit(made(), data())
[rank1]:   File "/usr/lib/python3.11/site-packages/PIL/Image.py", line 3580, in open
[rank1]:     raise UnidentifiedImageError(msg)
[rank1]: PIL.UnidentifiedImageError: cannot identify image file '/data/a.png'
"""
CAUGHT = b"""\
[rank1]: Traceback (most recent call last):
[rank1]:   File "/data/train.py", line 40, in load
[rank1]:     return read(path)
[rank1]: FileNotFoundError: /data/a.png
"""
LISTED = b"""\
Root Cause (first observed failure):
[0]:
  time      : 2026-11-27_02:02:19
  host      : localhost
  rank      : 2 (local_rank: 0)
  exitcode  : -9 (pid: 18238)  (SIGKILL)
"""
COMPARED = (
    b"[rank0]: RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is running"
    b" collective: CollectiveFingerPrint(SequenceNumber=1, OpType=ALLREDUCE, TensorShape=[2, 4],"
    b" TensorDtypes=Float, TensorDeviceTypes=TensorOptions(dtype=float (default), device=cpu)),"
    b" but Rank 1 is running collective: CollectiveFingerPrint(SequenceNumber=0, OpType=SEND).\n"
)


def test_an_exception_nobody_caught_has_its_rank_frames_and_line() -> None:
    (end,) = endings.read(TRACEBACK, Source("train.log", 10)).ends

    assert (end.rank, end.code, end.origin.line) == (1, None, 16)
    assert end.text.startswith("PIL.UnidentifiedImageError: ")
    assert [frame.function for frame in end.frames] == ["open", "<module>"]


def test_an_exception_that_was_caught_is_no_end() -> None:
    assert endings.read(CAUGHT, Source("train.log")).ends == ()


def test_a_log_of_one_rank_needs_no_label() -> None:
    bare = TRACEBACK.replace(b"[rank1]: ", b"").replace(b"[rank0]: step 3\n", b"")

    (end,) = endings.read(bare, Source("logs/attempt_0/3/stderr.log")).ends

    assert end.rank == 3


def test_exits_are_read_with_rank_code_and_time() -> None:
    (end,) = endings.read(LISTED, Source("torchrun.log")).ends

    assert (end.rank, end.code) == (2, -9)
    assert end.at is not None


def test_only_the_call_a_rank_names_as_its_own_is_taken() -> None:
    (call,) = fingerprints.read(COMPARED, Source("train.log")).calls

    assert (call.rank, call.op, call.numel, call.dtypes) == (0, "all_reduce", 8, ("Float",))


def test_any_bytes_are_read_without_an_error() -> None:
    for data in (b"\xff" * 50, TRACEBACK[:60], LISTED[:-20], b"exitcode  : -9 (pid: 1)"):
        assert endings.read(data, Source("x")).unread == ()
