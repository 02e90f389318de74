"""Pickles that are meant to do harm: nothing is called, nothing grows, nothing raises."""

from __future__ import annotations

import os
import pickle
import struct
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.evidence.pickles import UnplainError, plain_values
from trainrx.evidence.readers import Source, flight_recorder, memory_snapshot

MOST_SECONDS = 2.0
MOST_BYTES = 64 << 20


class Calls:
    """An object that calls something where it is unpickled."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self.place),)


class Stateful:
    """An object that is made anew and given a state."""

    def __init__(self) -> None:
        self.a = 1


def head(protocol: int) -> bytes:
    return b"\x80" + bytes([protocol])


def refused(canary: Path) -> dict[str, bytes]:
    """Give pickles that ask for more than values; those that call something make the canary."""
    named = repr(str(canary)).encode()
    short = str(canary).encode()
    text = b"\x8c" + bytes([len(short)]) + short
    call = b"cos\nmkdir\n(S" + named + b"\ntR."
    return {
        **{f"reduce-{n}": pickle.dumps([Calls(canary)], n) for n in range(2, 6)},
        **{f"object-{n}": pickle.dumps(Stateful(), n) for n in range(2, 6)},
        "global": head(2) + call,
        "stack-global": head(4) + b"\x8c\x02os\x8c\x05mkdir\x93" + text + b"\x85R.",
        "inst": head(2) + b"(S" + named + b"\nios\nmkdir\n.",
        "obj": head(2) + b"(cos\nmkdir\nS" + named + b"\no.",
        "newobj": head(2) + b"cos\nmkdir\n(S" + named + b"\nt\x81.",
        "newobj-ex": head(4) + b"cos\nmkdir\n(S" + named + b"\nt}\x92.",
        "build": head(2) + b"}}b.",
        "ext1": head(2) + b"\x82\x01.",
        "ext2": head(2) + b"\x83\x01\x00.",
        "ext4": head(2) + b"\x84\x01\x00\x00\x00.",
        "persid": head(2) + b"Pevil\n.",
        "binpersid": head(2) + b"K\x01Q.",
        "out-of-band": head(5) + b"\x97.",
        "read-only-buffer": head(5) + b"\x8c\x01a\x98.",
        "bytearray": head(5) + b"\x96" + struct.pack("<Q", 1 << 40) + b".",
        "set": pickle.dumps({1, 2}, 4),
        "key-of-tuples": laughs(b"(" + b"h\x00" * 100 + b"t", b")q\x00", 12) + b"N}h\x00Ns.",
        "long-number": head(2) + b"\x8b" + struct.pack("<i", 1 << 20) + b"\x01" * (1 << 20) + b".",
        "long-decimal": head(2) + b"L" + b"9" * (1 << 20) + b"L\n.",
    }


def laughs(level: bytes, first: bytes, levels: int) -> bytes:
    """Nest a value that holds the former one many times."""
    return head(2) + first + (level + b"q\x00") * levels


UNREAD = {
    "memo-of-binput": head(2) + b"}r\xff\xff\xff\x7fh\x01.",
    "memo-of-put": head(2) + b"}p4294967295\nh\x01.",
    "get-unknown": head(2) + b"j\xff\xff\xff\xff.",
    "huge-text": head(2) + b"X\xff\xff\xff\xff.",
    "huge-text8": head(4) + b"\x8d" + b"\xff" * 8 + b".",
    "huge-bytes8": head(4) + b"\x8e" + struct.pack("<Q", 1 << 62) + b".",
    "huge-long4": head(2) + b"\x8b\xff\xff\xff\x7f.",
    "negative-long4": head(2) + b"\x8b\xff\xff\xff\xff.",
    "frame-beyond": head(4) + b"\x95" + b"\xff" * 8,
    "no-mark": head(2) + b"Nt.",
    "empty": head(2) + b".",
    "pop-nothing": head(2) + b"0.",
    "append-to-number": head(2) + b"K\x01K\x02a.",
    "items-of-list": head(2) + b"]K\x01K\x02s.",
    "unknown-operation": head(2) + b"\xff.",
    "truncated": pickle.dumps({"segments": [{"total_size": 5}], "device_traces": []}, 4)[:-9],
}
DEEP = head(2) + b"]" * 60_000 + b"a" * 59_999 + b"."
CYCLE = head(2) + b"]q\x00h\x00a."
LAUGHS = laughs(b"(" + b"h\x00" * 100 + b"l", b"]q\x00", 12) + b"."
SHARED = (
    head(2) + b"(" + b"K\x01" * 3000 + b"lq\x01" + b"(" + b"h\x01" * 3000 + b"lq\x02"
    b"}(X\x0b\x00\x00\x00input_sizesh\x02X\x0c\x00\x00\x00output_sizesh\x02"
    b"X\x0e\x00\x00\x00profiling_nameh\x02X\x06\x00\x00\x00framesh\x02X\x05\x00\x00\x00pg_idh\x02uq\x03"
    b"(" + b"h\x03" * 3000 + b"lq\x04"
    b"}(X\x07\x00\x00\x00entriesh\x04X\x08\x00\x00\x00segmentsh\x04"
    b"X\x09\x00\x00\x00pg_statush\x02X\x0d\x00\x00\x00device_tracesh\x02u."
)


def read_both(data: bytes, *, unread: bool) -> None:
    for reader in (flight_recorder, memory_snapshot):
        found = reader.read(data, Source("trace_rank_0"))
        if unread:
            assert len(found.unread) == 1
            assert (*found.calls, *found.progress, *found.snapshots) == ()


@pytest.mark.parametrize("name", refused(Path("x")))
def test_what_asks_for_more_than_values_is_refused_and_nothing_is_called(
    name: str, tmp_path: Path
) -> None:
    canary = tmp_path / "canary"
    data = refused(canary)[name]

    with pytest.raises((UnplainError, ValueError)):
        plain_values(data)
    read_both(data, unread=True)

    assert not canary.exists()


def test_the_canary_sings_where_such_a_pickle_is_loaded(tmp_path: Path) -> None:
    for number, name in enumerate(("global", "stack-global", "inst", "obj", "reduce-4")):
        canary = tmp_path / str(number)

        pickle.loads(refused(canary)[name])  # noqa: S301 - shows that the corpus is no dud

        assert canary.exists()


@pytest.mark.parametrize("name", UNREAD)
def test_what_is_cut_or_claims_more_than_it_has_is_unread(name: str) -> None:
    with pytest.raises((UnplainError, ValueError)):
        plain_values(UNREAD[name])
    read_both(UNREAD[name], unread=True)


@pytest.mark.parametrize("data", [DEEP, CYCLE, LAUGHS, SHARED, *UNREAD.values()])
def test_time_and_memory_stay_within_what_the_pickle_holds(data: bytes) -> None:
    before = time.process_time()
    read_both(data, unread=False)
    spent = time.process_time() - before

    tracemalloc.start()
    read_both(data, unread=False)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert spent < MOST_SECONDS
    assert peak < MOST_BYTES


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.text()
    | st.floats(allow_nan=False),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text() | st.integers(-9, 9), inner)
        | st.tuples(inner, inner)
        | st.tuples(inner)
    ),
    max_leaves=20,
)


@given(value=PLAIN, protocol=st.integers(0, 5))
def test_plain_values_come_back_as_they_were(value: object, protocol: int) -> None:
    assert plain_values(pickle.dumps(value, protocol)) == value


@given(data=st.binary(max_size=60), protocol=st.integers(0, 5))
def test_any_operations_end_in_a_value_or_are_refused(data: bytes, protocol: int) -> None:
    read_both(head(protocol) + data, unread=False)
