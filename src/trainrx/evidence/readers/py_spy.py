"""`py-spy dump`, as text and with `--json`: the stacks of one process or of several.

Format: https://github.com/benfred/py-spy (0.3, 0.4). Frames stand the innermost first; of `--json`
the same. Frames of native code have the line 0, or none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from trainrx.evidence.readers import Source
from trainrx.evidence.readers._frames import heading_rank
from trainrx.evidence.readers._frames import origin as _origin
from trainrx.model.facts import Origin
from trainrx.model.findings import Unread
from trainrx.model.ranks import Reading, StackFrame, ThreadStack

MARKS = (b"Python v",)
MAIN = "MainThread"
_PROCESS = re.compile(
    r"^(?:RANK=(?P<rank>\d{1,5})\0?)?Process (?P<pid>\d{1,9}): (?P<command>.{0,4000})$"
)
"""Of the process whose rank is written before it the variable may end in NUL, as in `/proc`."""
_THREAD = re.compile(
    r"^(?P<depth> *)Thread (?:0x[0-9A-Fa-f]{1,16}|\d{1,20})(?: \((?P<state>[\w+]{1,20})\))?"
    r'(?:: "(?P<name>.{0,200})")?\s*$'
)
_FRAME = re.compile(
    r"^(?P<depth> +)(?P<function>\S.{0,400}?) \((?P<file>[^()]{1,500}?)(?::(?P<line>\d{1,7}))?\)$"
)


class _JsonFrame(msgspec.Struct):
    name: str
    filename: str = ""
    line: int = 0


class _JsonProcess(msgspec.Struct):
    command_line: str = ""
    ppid: int | None = None


class _JsonThread(msgspec.Struct):
    pid: int
    frames: list[_JsonFrame]
    thread_name: str | None = None
    active: bool | None = None
    owns_gil: bool = False
    process_info: _JsonProcess | None = None


def knows(head: bytes) -> bool:
    """Tell whether a content is a dump."""
    start = head.lstrip()
    if start.startswith(b"["):
        return b'"owns_gil"' in head and b'"frames"' in head
    begins = re.match(rb"(?:RANK=\d{1,5}\s?\0?)?Process \d+: ", start)
    return begins is not None and b"\nPython v" in head


def read(data: bytes, source: Source) -> Reading:
    """Read a dump."""
    if data.lstrip().startswith(b"["):
        return _read_json(data, source)
    return Reading(stacks=tuple(_text_stacks(data.decode("utf-8", "replace"), source)))


def _read_json(data: bytes, source: Source) -> Reading:
    try:
        threads = _json_threads(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        reason = f"is no whole output of py-spy dump --json: {error}"
        return Reading(unread=(Unread(source=source.name, reason=reason),))
    return Reading(stacks=tuple(_of_json(thread, source) for thread in threads))


def _json_threads(data: bytes) -> list[_JsonThread]:
    """Read a dump of one process, or those of several on a line each."""
    decoder = msgspec.json.Decoder(list[_JsonThread])
    try:
        return decoder.decode(data)
    except msgspec.DecodeError:
        return [thread for dump in decoder.decode_lines(data) for thread in dump]


def _of_json(thread: _JsonThread, source: Source) -> ThreadStack:
    name = thread.thread_name or ""
    process = thread.process_info or _JsonProcess()
    frames = tuple(
        StackFrame(
            function=frame.name,
            file=frame.filename,
            line=frame.line or None,
            origin=_origin(source.name, None, f"{frame.name} ({frame.filename}:{frame.line})"),
        )
        for frame in thread.frames
    )
    return ThreadStack(
        frames=frames,
        origin=_origin(source.name, None, f"pid {thread.pid} {name}".rstrip()),
        pid=thread.pid,
        parent=process.ppid,
        command=process.command_line,
        thread=name,
        is_main=name == MAIN,
        active=thread.active,
        has_gil=thread.owns_gil,
    )


class _Open:
    """A thread whose frames are being read."""

    def __init__(self, head: re.Match[str], origin: Origin) -> None:
        self.state = (head["state"] or "").split("+")
        self.name = head["name"] or ""
        self.depth = len(head["depth"])
        self.origin = origin
        self.frames: list[StackFrame] = []
        self.inner: int | None = None

    def add(self, found: re.Match[str], origin: Origin) -> bool:
        """Take a frame; False where the line is none of this stack: an argument, a local."""
        depth = len(found["depth"])
        if depth <= self.depth or (self.inner is not None and depth != self.inner):
            return False
        self.inner = depth
        line = int(found["line"]) if found["line"] else None
        frame = StackFrame(
            function=found["function"], file=found["file"], line=line or None, origin=origin
        )
        self.frames.append(frame)
        return True

    def stack(self, pid: int | None, command: str, rank: int | None) -> ThreadStack:
        """Give the thread as it was read."""
        states = ("active", "idle")
        return ThreadStack(
            frames=tuple(self.frames),
            origin=self.origin,
            pid=pid,
            command=command,
            thread=self.name,
            is_main=self.name == MAIN,
            active=self.state[0] == "active" if self.state[0] in states else None,
            has_gil="gil" in self.state,
            rank=rank,
        )


def _text_stacks(text: str, source: Source) -> Iterator[ThreadStack]:
    pid: int | None = None
    command = ""
    rank: int | None = None
    thread: _Open | None = None
    bare: ThreadStack | None = None
    for number, line in enumerate(text.split("\n"), source.line):
        origin = _origin(source.name, number, line.strip())
        process, head, told = _PROCESS.match(line), _THREAD.match(line), heading_rank(line)
        if process is not None or head is not None or told is not None:
            if head is None and bare is not None:
                yield bare
            bare = None
            if thread is not None and thread.frames:
                yield thread.stack(pid, command, rank)
            thread = None if head is None else _Open(head, origin)
        rank = rank if told is None else told
        if process is not None:
            pid, command = int(process["pid"]), process["command"]
            rank = int(process["rank"]) if process["rank"] else rank
        elif pid is not None and line.startswith("Python v"):
            bare = _without_threads(pid, command, rank, origin)
        elif head is None and thread is not None and (found := _FRAME.match(line)) is not None:
            thread.add(found, origin)
    if thread is not None and thread.frames:
        yield thread.stack(pid, command, rank)
    elif bare is not None and text.endswith("\n\n"):  # else it may be cut off
        yield bare


def _without_threads(pid: int, command: str, rank: int | None, origin: Origin) -> ThreadStack:
    """Give a process of which py-spy finds no thread: so it is of one that does not run."""
    return ThreadStack(
        frames=(), origin=origin, pid=pid, command=command, is_main=True, rank=rank, stopped=True
    )
