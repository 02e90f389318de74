"""No more messages than a chat takes: what comes faster waits, and goes as one message."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable

import msgspec

SEPARATOR = "\n\n---\n\n"
Post = Callable[[str], Awaitable[None]]


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """What a chat takes.

    Attributes:
        most: messages in so many seconds.
        limit: bytes of one message; 0 where none may be joined to another.
    """

    most: int = 20
    seconds: float = 60.0
    limit: int = 0


class _Lane:
    """A conversation: what waits, and when it was sent something."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.waiting: deque[tuple[str, Post]] = deque()
        self.sent: deque[float] = deque()


class Pace:
    """Sends messages as fast as each conversation takes them.

    Args:
        now: a clock that only goes forward.
    """

    def __init__(
        self,
        rate: Rate,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._rate, self._now, self._sleep = rate, now, sleep
        self._lanes: dict[str, _Lane] = {}

    async def send(self, conversation: str, text: str, post: Post) -> None:
        """Send a message by `post` when its turn is; the newest of those that are joined sends."""
        self._forget()
        lane = self._lanes.setdefault(conversation, _Lane())
        lane.waiting.append((text, post))
        async with lane.lock:
            if not lane.waiting:
                return  # one that waited longer took it along
            await self._turn(lane)
            texts, post = self._joined(lane)
            await post(texts)

    async def _turn(self, lane: _Lane) -> None:
        oldest = self._rate.seconds
        while len(lane.sent) >= self._rate.most and self._now() - lane.sent[0] < oldest:
            await self._sleep(oldest - (self._now() - lane.sent[0]))
        lane.sent.append(self._now())
        while len(lane.sent) > self._rate.most:
            lane.sent.popleft()

    def _joined(self, lane: _Lane) -> tuple[str, Post]:
        """Take as many messages as fit into one, in the order they came."""
        text, post = lane.waiting.popleft()
        while lane.waiting:
            longer = f"{text}{SEPARATOR}{lane.waiting[0][0]}"
            if len(longer.encode()) > self._rate.limit:
                break
            text, post = longer, lane.waiting.popleft()[1]
        return text, post

    def _forget(self) -> None:
        oldest = self._now() - self._rate.seconds
        for name, lane in list(self._lanes.items()):
            if not lane.waiting and not lane.lock.locked() and lane.sent[-1] < oldest:
                del self._lanes[name]
