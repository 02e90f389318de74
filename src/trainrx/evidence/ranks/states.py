"""In which state a thread stands, and in whose code."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import PurePath
from typing import NamedTuple

from trainrx.evidence.sources import SourceFile, is_launcher, source_of
from trainrx.model.facts import Origin
from trainrx.model.ranks import StackFrame, ThreadStack
from trainrx.model.states import FramePattern, ThreadState

WORKER = "_worker_loop"
"""The loop of a process that loads data, in torch."""
FORKED = re.compile(r"(?:^|/)(?:multiprocessing|multiprocess|billiard)/process\.py$")
"""Where, in `_bootstrap`, the stack of a process begins that was forked; further out stand the
frames of its parent."""
STARTS_RANKS = re.compile(r"(?:^|/)torch/(?:multiprocessing|distributed/elastic)/")
"""What calls `_wrap` in a process that is a rank, though another one forked it."""
PASSED_OVER = frozenset(
    {
        *("PIL", "anyio", "cv2", "datasets", "decord", "filelock", "fsspec", "httpcore", "httpx"),
        *("huggingface-hub", "numpy", "pandas", "pyarrow", "requests", "safetensors", "tokenizers"),
        *(
            "tqdm",
            "urllib3",
            "aiohttp",
            "sklearn",
            "scipy",
            "av",
            "attr",
            "dill",
            "multiprocess",
            "torch",
            "torchvision",
            "triton",
        ),
    }
)
"""Packages that are called by what stands still rather than stand still themselves."""
_SAMPLE = re.compile(r"^(?P<function>\S.*?) \((?P<file>[^()]+?)(?::(?P<line>\d+))?\)$")
_ACTIVE = {"active": True, "idle": False}


class StateFound(NamedTuple):
    """A state, the frame that tells it, and the collective that is called there."""

    state: ThreadState
    frame: StackFrame
    op: str


def is_of_worker(stack: ThreadStack) -> bool:
    """Tell whether a stack is of a process that loads data."""
    return any(frame.function == WORKER for frame in stack.frames)


def own_frames(stack: ThreadStack) -> tuple[StackFrame, ...]:
    """Give the frames of a process without those it took over from its parent by a fork."""
    at = _begin(stack)
    return stack.frames if at is None else stack.frames[: at + 1]


def is_child(stack: ThreadStack) -> bool:
    """Tell whether a stack is of a process that a rank forked."""
    at = _begin(stack)
    starts = (one for one in stack.frames if STARTS_RANKS.search(one.file))
    return at is not None and at + 1 < len(stack.frames) and not any(map(_is_wrap, starts))


def _begin(stack: ThreadStack) -> int | None:
    for at, frame in enumerate(stack.frames):
        if _name(frame) == "_bootstrap" and FORKED.search(frame.file.replace("\\", "/")):
            return at
    return None


def _is_wrap(frame: StackFrame) -> bool:
    return _name(frame) == "_wrap"


def state_of(stack: ThreadStack, states: Iterable[ThreadState]) -> StateFound | None:
    """Tell in which state a thread stands; None where it has no frames though it runs."""
    frames = own_frames(stack)
    if stack.stopped:
        return _stopped(frames, stack.origin, states)
    kinds = (None, "worker") if is_of_worker(stack) else (None, "other")
    found = [
        (at, entry, op)
        for entry in states
        if entry.of in kinds and not entry.stopped and _is_so_active(entry, stack)
        if (told := _matched(entry, frames)) is not None
        for at, op in (told,)
    ]
    beaten = {ident for _, entry, _ in found for ident in entry.over}
    left = [item for item in found if item[1].id not in beaten] or found
    if not frames or not left:
        return None
    at, entry, op = min(left, key=lambda item: (item[0], item[1].active is None, item[1].id))
    return StateFound(entry, frames[min(at, len(frames) - 1)], op if entry.collective else "")


def _stopped(
    frames: Sequence[StackFrame], origin: Origin, states: Iterable[ThreadState]
) -> StateFound | None:
    """Give the state of a process that does not run, whatever it was about to do."""
    nowhere = StackFrame(function="", file="", origin=origin)
    frame = next(iter(frames), nowhere)
    return next((StateFound(entry, frame, "") for entry in states if entry.stopped), None)


def _is_so_active(entry: ThreadState, stack: ThreadStack) -> bool:
    """Tell whether a thread computes or not as a state has it; not every dump says so."""
    if entry.active is None or entry.active == stack.active:
        return True
    return stack.active is None and bool(entry.frames) and entry.of is None


def _matched(entry: ThreadState, frames: Sequence[StackFrame]) -> tuple[int, str] | None:
    """Give the place of the innermost frame that tells a state, and the call it names."""
    if not entry.frames:
        return len(frames), ""
    seen = 0
    for at, frame in enumerate(frames):
        for pattern in entry.frames:
            if _matches(pattern, frame) and _is_under(entry.under, frames[at + 1 :]):
                return at, pattern.op or _name(frame)
        seen += frame.line is not None
        if seen >= entry.within:
            return None
    return None


def _is_under(pattern: FramePattern | None, frames: Iterable[StackFrame]) -> bool:
    return pattern is None or any(_matches(pattern, frame) for frame in frames)


def _matches(pattern: FramePattern, frame: StackFrame) -> bool:
    function, file = _compiled(pattern.function, pattern.file)
    whole = function.fullmatch(frame.function) or function.fullmatch(_name(frame))
    return whole is not None and file.search(frame.file.replace("\\", "/")) is not None


@lru_cache(maxsize=512)
def _compiled(function: str, file: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(function), re.compile(rf"(?:^|/)(?:{file})$")


def _name(frame: StackFrame) -> str:
    """Give the name of a function without its class."""
    return frame.function.rpartition(".")[2]


def place_of(stack: ThreadStack) -> tuple[SourceFile, StackFrame] | None:
    """Give the innermost frame of the user's or a framework's code."""
    found = ((source, frame) for frame in own_frames(stack) if (source := _source(frame)))
    return next(found, None)


def called_by(stack: ThreadStack) -> tuple[StackFrame, ...]:
    """Give the frames of the user's or a framework's code, the innermost first."""
    return tuple(frame for frame in own_frames(stack) if _source(frame) is not None)


def _source(frame: StackFrame) -> SourceFile | None:
    """Place a frame; None where it only carries out what others ask for."""
    source = None if frame.line is None or _is_library(frame.file) else source_of(frame.file)
    if source is None or is_launcher(source):
        return None
    top = frame.file.split("/")[0] if "/" in frame.file else ""
    return source if PASSED_OVER.isdisjoint((source.package, top)) else None


def _is_library(file: str) -> bool:
    """Tell whether a path from its package on, as dumps shorten it, is the standard library's."""
    path = PurePath(file)
    top = path.parts[0].removesuffix(".py") if path.parts else ""
    return not path.is_absolute() and top in sys.stdlib_module_names


def stack_of(sample: str) -> ThreadStack:
    """Read a stack as samples of states write it; what is no frame is left out."""
    word, _, rest = sample.partition(": ")
    active, stopped = _ACTIVE.get(word), word == "stopped"
    texts = (rest if stopped or active is not None else sample).split(" < ")
    origin = Origin(source="", text=sample)
    frames = tuple(
        StackFrame(
            function=found["function"],
            file=found["file"],
            line=int(found["line"]) if found["line"] else None,
            origin=origin,
        )
        for text in texts
        if (found := _SAMPLE.match(text.strip())) is not None
    )
    return ThreadStack(frames=frames, origin=origin, active=active, is_main=True, stopped=stopped)
