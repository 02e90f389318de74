"""Work that goes on after a platform has its acknowledgement."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine

LOG = logging.getLogger("trainrx.bots")


class SendingError(Exception):
    """A platform did not take what it was sent; says what it answered."""


class Background:
    """Tasks nobody waits for; what fails is logged, without what anybody wrote."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[object, object, None]) -> None:
        """Begin, and go on with something else."""
        task = asyncio.get_running_loop().create_task(work)
        self._running.add(task)
        task.add_done_callback(self._ended)

    async def done(self) -> None:
        """Wait for all that was begun."""
        while self._running:
            await asyncio.wait(tuple(self._running))

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            said = str(error) if isinstance(error, SendingError) else ""
            LOG.error("a message was not answered: %s %s", type(error).__name__, said)
