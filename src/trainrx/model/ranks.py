"""What single processes of a job were seen to do: where they stand, which collectives they wait in.

Readers of evidence make these records, each with its origin; what they say together of the ranks is
worked out from them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from trainrx.model.curves import Curve
from trainrx.model.facts import Fact, Origin
from trainrx.model.findings import Unread

CallState = Literal["scheduled", "started", "completed", "timed-out"]
"""scheduled: put into the queue of its stream; started: its kernel runs; timed-out: given up."""


class StackFrame(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a stack. `line` is None for code that is no Python."""

    function: str
    file: str
    line: int | None = None
    origin: Origin


class ThreadStack(msgspec.Struct, frozen=True, kw_only=True):
    """Where one thread stands.

    Attributes:
        frames: the calls, the innermost first.
        pid: the process, where the dump says it.
        parent: the process that started it, where the dump says it.
        command: the command line of the process, "" where it is not known.
        thread: the name of the thread.
        is_main: whether it is the first thread of its process, as far as can be told.
        active: whether it computes; None where the dump does not say.
        has_gil: whether it has the lock of the interpreter.
        rank: of the process, where the dump or its name says it.
        host: the machine, "" where it is not known.
        at: seconds since the epoch, where the dump says when it was taken.
        computed: seconds of a processor it has taken since it began, where they were read, too.
        stopped: whether its process does not run, stopped by a signal or a tracer; it may have no
            frames then.
    """

    frames: tuple[StackFrame, ...]
    origin: Origin
    pid: int | None = None
    parent: int | None = None
    command: str = ""
    thread: str = ""
    is_main: bool = False
    active: bool | None = None
    has_gil: bool = False
    rank: int | None = None
    host: str = ""
    at: float | None = None
    computed: float | None = None
    stopped: bool = False


class CollectiveCall(msgspec.Struct, frozen=True, kw_only=True):
    """A collective, or a message of one rank to another, as one rank called it.

    Attributes:
        op: as NCCL calls it, in small letters: `all_reduce`, `all_gather`, `broadcast`, `barrier`,
            `send`, `recv` ...
        backend: what carries it, `nccl` or `gloo`, "" where that is not known.
        group: what the ranks that take part call their group; members: they, in order.
        seq: the number of the call in its group, from which ranks can be compared.
        sizes: shapes of what goes in; outputs: of what comes out; numel: elements that go in.
        peer: the other rank of a message.
        timeout: seconds after which it is given up; waited: seconds it took so far.
        frames: who called it, the innermost first.
    """

    op: str
    origin: Origin
    rank: int | None = None
    host: str = ""
    backend: str = ""
    group: str = ""
    members: tuple[int, ...] = ()
    seq: int | None = None
    sizes: tuple[tuple[int, ...], ...] = ()
    outputs: tuple[tuple[int, ...], ...] = ()
    numel: int | None = None
    dtypes: tuple[str, ...] = ()
    state: CallState | None = None
    peer: int | None = None
    timeout: float | None = None
    waited: float | None = None
    frames: tuple[StackFrame, ...] = ()


class GroupProgress(msgspec.Struct, frozen=True, kw_only=True):
    """How far a rank got with the collectives of a group: numbers of calls, None where not known.

    `calls` counts them by kind where only that is known (NCCL RAS); `mismatch`: NCCL itself reports
    that the ranks of the group differ. `missing`: the rank was asked and did not answer.
    """

    rank: int
    origin: Origin
    host: str = ""
    group: str = ""
    members: tuple[int, ...] = ()
    enqueued: int | None = None
    started: int | None = None
    completed: int | None = None
    calls: dict[str, int] = {}
    mismatch: bool = False
    missing: bool = False


class HeldMemory(msgspec.Struct, frozen=True, kw_only=True):
    """Live blocks of a card that one stack asked for, the innermost frame first."""

    gib: float
    blocks: int
    frames: tuple[StackFrame, ...]


class FailedAllocation(msgspec.Struct, frozen=True, kw_only=True):
    """A request for which there was no room, and what the card had left."""

    asked_gib: float
    free_gib: float | None = None
    frames: tuple[StackFrame, ...] = ()
    origin: Origin


class MemorySnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """What PyTorch's allocator holds of one card.

    Attributes:
        reserved_gib: taken from the card; allocated_gib: in use; unused_gib: in free pieces.
        holders: what most of it was asked by, the largest first.
        failed: the request it was taken at, where one failed.
        at: seconds since the epoch of the last thing it recorded, where it did.
    """

    origin: Origin
    rank: int | None = None
    host: str = ""
    device: int = 0
    reserved_gib: float
    allocated_gib: float
    unused_gib: float
    holders: tuple[HeldMemory, ...] = ()
    failed: FailedAllocation | None = None
    at: float | None = None


class RankEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How a rank ended: by an exception that nobody caught, or with an exit code as told of it.

    Attributes:
        text: the line of the exception, or what its launcher says of the exit.
        code: of the exit; a negative one is the number of a signal. None: an exception.
        frames: of the exception, the innermost first.
        at: when, in seconds (`evidence.lines.seconds`), as far as it is known.
    """

    rank: int
    text: str
    origin: Origin
    code: int | None = None
    frames: tuple[StackFrame, ...] = ()
    at: float | None = None


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What a reader of evidence found in one input, or all of them in all."""

    stacks: tuple[ThreadStack, ...] = ()
    calls: tuple[CollectiveCall, ...] = ()
    progress: tuple[GroupProgress, ...] = ()
    curves: tuple[Curve, ...] = ()
    snapshots: tuple[MemorySnapshot, ...] = ()
    ends: tuple[RankEnd, ...] = ()
    facts: tuple[Fact, ...] = ()
    unread: tuple[Unread, ...] = ()


def ranges(numbers: Iterable[int]) -> str:
    """Write numbers with what follows one another folded: `0-2,4`."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
