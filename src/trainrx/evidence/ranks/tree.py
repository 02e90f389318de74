"""The stacks of all ranks as one tree: each call once, with the ranks that are in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from trainrx.evidence.ranks.states import own_frames
from trainrx.model.ranks import StackFrame, ThreadStack

Ranks = tuple[int, ...]
Call = tuple[str, str, int | None]


class TreeLine(NamedTuple):
    """A call, how deep it stands below where the ranks part, and the ranks that are in it."""

    depth: int
    ranks: Ranks
    frame: StackFrame


class _Node:
    def __init__(self, frame: StackFrame) -> None:
        self.frame = frame
        self.ranks: list[int] = []
        self.inner: dict[Call, _Node] = {}


def tree(stacks: Iterable[tuple[int, ThreadStack]]) -> tuple[TreeLine, ...]:
    """Merge stacks of ranks; the outermost calls first, calls of the same ranks at one depth."""
    top: dict[Call, _Node] = {}
    for rank, stack in sorted(stacks, key=lambda item: item[0]):
        level = top
        for frame in reversed(own_frames(stack)):
            call = (frame.function, frame.file, frame.line)
            node = level.setdefault(call, _Node(frame))
            node.ranks.append(rank)
            level = node.inner
    return tuple(_lines(tuple(top.values()), 0))


def _lines(nodes: Sequence[_Node], depth: int) -> Iterator[TreeLine]:
    """Walk down, a course of calls without a fork at one depth."""
    for node in nodes:
        course = node
        yield TreeLine(depth, tuple(course.ranks), course.frame)
        while len(course.inner) == 1:
            inner = next(iter(course.inner.values()))
            if inner.ranks != course.ranks:
                break
            course = inner
            yield TreeLine(depth, tuple(course.ranks), course.frame)
        yield from _lines(tuple(course.inner.values()), depth + 1)
