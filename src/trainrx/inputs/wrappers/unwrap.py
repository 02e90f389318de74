r"""A stream of a log's bytes as its programs printed them, one line for each that is there.

Ranks become `[rank3]: `, which PyTorch prints itself. Of several sources the lines of all but the
first begin with `[host NAME]: `. Line ends inside of a record become `\r`, and a line that was cut
into pieces stands where its last one does: so lines keep their numbers.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from trainrx.inputs.wrappers.layers import SAMPLE, Layer, any_of, layers_of
from trainrx.inputs.wrappers.records import LogRecord

HEAD = 1 << 16
"""Bytes by which the wrapping is told first; later pieces are asked ever more rarely."""
KEPT = 1 << 16
"""Lines whose stamps are kept: more than a reader looks at together."""
NEAR = 300
"""Lines above an unstamped one that may lend it their stamp."""
LONGEST = 1 << 20
"""Bytes of a line, or of its pieces, that are held at once."""
ANSI = re.compile(
    rb"\x1b(?:\[0Ksection_(?:start|end):\d{1,12}:[\w.-]{1,200}(?:\[[\w=,]{0,80}\])?\r\x1b\[0K"
    rb"|\[[0-?]{0,64}[ -/]{0,8}[@-~]|[\]_][^\x07\x1b\n\r]{0,2048}(?:\x07|\x1b\\)"
    rb"|[()][0-9A-Z]|[=>78])"
)
"""Colours and titles; the sections of GitLab, the times of Buildkite (`\\x1b_bk;t=...\\x07`)."""
_RANKED = re.compile(rb"\s{0,2}\[rank\d")
_INDENTED = rb"|\s{1,2}\[rank\d"
_UNNAMED = re.compile(rb"[^\w.@/:=,-]+")


class LineTimes:
    """When the newest lines of a log were taken from the program, as far as their wrapping says."""

    def __init__(self) -> None:
        self._lines: list[int] = []
        self._times: list[bytes] = []

    def note(self, line: int, time: bytes) -> None:
        """Keep the stamp of a line; lines come in order."""
        self._lines.append(line)
        self._times.append(time)
        if len(self._lines) > 2 * KEPT:
            del self._lines[:KEPT], self._times[:KEPT]

    def at(self, line: int) -> str:
        """Give the stamp of a line or of one shortly before; "" without."""
        index = bisect_right(self._lines, line) - 1
        if index < 0 or line - self._lines[index] > NEAR:
            return ""
        return self._times[index].decode("utf-8", "replace")


def unwrapped(chunks: Iterable[bytes], times: LineTimes | None = None) -> Iterator[bytes]:
    """Take the wrapping off a stream; one that has none passes untouched.

    Args:
        chunks: the bytes of a log.
        times: where to note what the wrapping says of when.
    """
    work = Unwrapping(times=times)
    for chunk in _headed(chunks):
        yield from work.feed(chunk)
    yield from work.end()


def _headed(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Give a stream whose first piece is large enough to tell."""
    stream = iter(chunks)
    head = b""
    for chunk in stream:
        head = head + chunk if head else chunk
        if len(head) >= HEAD:
            break
    yield head
    yield from stream


def unwrapped_text(text: str) -> str:
    """Give a text in which a log may stand without that log's wrapping."""
    data = text.encode("utf-8", "replace")
    return b"".join(unwrapped([data])).decode("utf-8", "replace") if is_wrapped(data) else text


def is_wrapped(data: bytes) -> bool:
    """Tell whether the lines of a log, or some of them, bear a wrapping."""
    return bool(_layers(data))


class _Step(NamedTuple):
    """A layer made ready: what it matches or reads, and the numbers of its groups (0: it lacks)."""

    match: Callable[[bytes], re.Match[bytes] | None]
    read: Callable[[bytes], LogRecord | None] | None
    time: int
    host: int
    rank: int
    part: int
    more: int


def _step(layer: Layer) -> _Step:
    names = ("time", "host", "rank", "part", "more")
    groups = [layer.prefix.groupindex.get(name, 0) for name in names]
    return _Step(layer.prefix.match, layer.record, *groups)


@lru_cache(maxsize=8)
def _changes(layers: tuple[Layer, ...]) -> Callable[[bytes], re.Match[bytes] | None]:
    """Give what matches on each line that some layers change; most lines of a log bear none."""
    return re.compile(any_of(layers).pattern + _INDENTED).match


class Unwrapping:
    """What is known of a stream so far; `feed` it piece by piece, then `end` it.

    Args:
        head: where what is fed does not begin at the beginning, what stands there.
        times: where to note what the wrapping says of when.
    """

    def __init__(self, head: bytes = b"", times: LineTimes | None = None) -> None:
        self._times = times
        self._line = 0
        self.layers: tuple[Layer, ...] = ()
        self._steps: list[_Step] = []
        self._changes: Callable[[bytes], re.Match[bytes] | None] = _RANKED.match
        self._joins = False
        self._rest = b""
        self._home: bytes | None = None
        self._pieces: dict[bytes, bytes] = {}
        self._fed = 0
        self._asked_at = 1
        if head:
            deque(self.feed(head), maxlen=0)
            self._rest = b""
            self._pieces.clear()

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Give the lines that a piece completes."""
        self._fed += 1
        data = self._rest + chunk if self._rest else chunk
        if self._fed == self._asked_at:
            self._asked_at *= 2
            found = _layers(data)
            self.layers = (*found, *(one for one in self.layers if one not in found))
            self._steps = [_step(layer) for layer in self.layers]
            self._changes = _changes(self.layers)
            self._joins = any(one.read or one.part for one in self._steps)
        if not self.layers:
            if self._times is not None:
                self._line += chunk.count(b"\n")
            yield chunk
            return
        end = data.rfind(b"\n") + 1
        if not end and len(data) > LONGEST:
            end = len(data)
        self._rest = data[end:]
        if end:
            yield self._bare(data[:end])

    def end(self) -> Iterator[bytes]:
        """Give what no line end follows."""
        if self._rest:
            yield self._bare(self._rest)
        yield from self._pieces.values()
        self._rest = b""
        self._pieces.clear()

    def _bare(self, data: bytes) -> bytes:
        if b"\x1b" in data:
            data = ANSI.sub(b"", data)
        lines = data.split(b"\n")
        first, count = self._line, len(lines) - (not lines[-1])
        for at in self._changed(lines, count):
            self._line = first + at
            self._take(lines, at)
        self._line = first + count
        return b"\n".join(lines)

    def _changed(self, lines: Sequence[bytes], count: int) -> Sequence[int]:
        """Give which lines are to be looked at: all, where one may wait for its rest."""
        if self._joins:
            return range(count)
        return [at for at, found in enumerate(map(self._changes, lines[:count])) if found]

    def _take(self, lines: list[bytes], at: int) -> None:
        """Take the wrapping off a line."""
        line = lines[at]
        part = more = False
        time, host, rank = b"", b"", b""
        for step in self._steps:
            found = step.match(line)
            if found is None:
                continue
            if step.read is not None:
                record = step.read(line)
                if record is not None:
                    line, host, part = record.text, record.host or host, part or record.part
                    time = time or record.time
                continue
            line = line[found.end() :]
            time = time or (step.time and found[step.time]) or b""
            host = (step.host and found[step.host]) or host
            rank = (step.rank and found[step.rank]) or rank
            part = part or (step.part > 0 and found[step.part] == b"P")
            more = step.more > 0 and found[step.more] is not None
        if time and self._times is not None:
            self._times.note(self._line + 1, time)
        if more and at:
            lines[at - 1] += line
            line = b""
        elif self._pieces or part:
            line = self._whole(host, line, part=part)
        lines[at] = self._labelled(line, host, rank) if line.strip() else line

    def _whole(self, host: bytes, line: bytes, *, part: bool) -> bytes:
        """Give a line that came in pieces with its last one."""
        line = self._pieces.pop(host, b"") + line
        if not part or len(line) > LONGEST:
            return line
        self._pieces[host] = line
        return b""

    def _labelled(self, line: bytes, host: bytes, rank: bytes) -> bytes:
        if _RANKED.match(line):
            # what a program says of itself is surer than what its launcher counts
            line = line.lstrip()
        elif rank:
            line = b"[rank%s]: %s" % (rank, line)
        if host and self._home is None:
            self._home = host
        if not host or host == self._home:
            return line
        return b"[host %s]: %s" % (_UNNAMED.sub(b" ", host).strip(), line)


@lru_cache(maxsize=8)
def _layers(data: bytes) -> tuple[Layer, ...]:
    """Tell the wrapping of a piece of a log; several readers ask about the same piece."""
    return layers_of(_sample(data))


def _sample(data: bytes) -> Sequence[bytes]:
    """Give the first lines of a piece of a log and some from all over it."""
    lines = data.split(b"\n")[:-1] or [data]
    half = SAMPLE // 2
    step = max(1, (len(lines) - half) // half)
    picked = lines[:half] + lines[half::step]
    return [ANSI.sub(b"", line) if b"\x1b" in line else line for line in picked]
