"""Connections of callers over HTTP: how slowly they may send and read, and how many at a time."""

from __future__ import annotations

import asyncio

import h11
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 1000
CLOSE = {"Connection": "close"}
"""What is not read to its end is no beginning of another request."""


def come_in_within(patience: float, receive: Receive) -> Receive:
    """Receive the body of a request by the time it may take.

    Raises:
        HTTPException: 408, where it takes longer.
    """
    until = asyncio.get_running_loop().time() + patience
    is_whole = False

    async def received() -> Message:
        nonlocal is_whole
        if is_whole:
            return await receive()
        left = until - asyncio.get_running_loop().time()
        try:
            message = await asyncio.wait_for(receive(), max(0.0, left))
        except asyncio.TimeoutError:
            said = f"it did not come in within {patience:g} s"
            raise HTTPException(408, said, headers=CLOSE) from None
        is_whole = not message.get("more_body", False)
        return message

    return received


class RequestsInTurn:
    """Lets few requests in at a time: what one that waits sends is not read, and takes no memory.

    Args:
        app: what answers them.
        most: that are let in.
        patience: seconds in which one that was let in must have come in.
    """

    def __init__(self, app: ASGIApp, most: int, patience: float = 60.0) -> None:
        self._app, self._patience = app, patience
        self._places = asyncio.Semaphore(most)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in when it is its turn."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        async with self._places:
            await self._app(scope, come_in_within(self._patience, receive), send)


class BoundedConnection(H11Protocol):
    """A connection that is closed where headers, or who reads the answer, are slow.

    uvicorn bounds the time between requests alone, which ends with the first byte.
    """

    HEADERS_WITHIN = 15.0
    READ_WITHIN = 60.0
    _headers: asyncio.TimerHandle | None = None
    _reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for headers."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
            return
        self._watch_headers()

    def data_received(self, data: bytes) -> None:
        """Go on waiting until the headers are whole."""
        super().data_received(data)
        self._watch_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        for timer in (self._headers, self._reading):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Begin to wait for who does not read."""
        super().pause_writing()
        self._reading = self.loop.call_later(self.READ_WITHIN, self.transport.abort)

    def resume_writing(self) -> None:
        """Wait no longer: it is read."""
        super().resume_writing()
        if self._reading is not None:
            self._reading.cancel()

    def _watch_headers(self) -> None:
        awaited = self.conn.their_state is h11.IDLE
        if awaited and self._headers is None:
            self._headers = self.loop.call_later(self.HEADERS_WITHIN, self._too_slow)
        elif not awaited and self._headers is not None:
            self._headers.cancel()
            self._headers = None

    def _too_slow(self) -> None:
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.write(
                b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            )
            self.transport.close()
