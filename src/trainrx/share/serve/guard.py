"""Who may ask, and how much and how slowly: what is over that is refused before it is read."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
from contextlib import suppress

import h11
import msgspec
from fastapi import HTTPException, Response
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from trainrx.share.serve.service import LATER, ServiceSettings

MOST_CONNECTIONS = 1000
CLOSE = {"Connection": "close"}
"""What is not read to its end is no beginning of another request."""


class RequestGuard:
    """Refuses whom the service is not for, and what is too large, too much or too slow.

    Args:
        app: the service.
        settings: what it takes.
    """

    def __init__(self, app: ASGIApp, settings: ServiceSettings) -> None:
        self._app, self._settings = app, settings
        self._arriving = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on what is taken."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refused = self._refused(scope, headers)
        if refused is not None:
            await refused(scope, receive, send)
            return
        length = int(headers.get("content-length", "0"))
        self._arriving += length
        try:
            await self._app(scope, self._bounded(receive), send)
        finally:
            self._arriving -= length

    def _refused(self, scope: Scope, headers: Headers) -> Response | None:
        settings = self._settings
        if settings.secret and not _is_known(scope["path"], headers, settings.secret):
            return _refusal(401, "expected `Authorization: Bearer` with the token of this service")
        length = headers.get("content-length", "")
        if not length.isdecimal() and (length or scope["method"] == "POST"):
            return _refusal(411, "expected Content-Length")
        size = int(length or 0)
        if size > settings.largest:
            return _refusal(
                413, f"this holds more than {settings.largest} bytes: send the log's end"
            )
        if self._arriving + size > settings.arriving:
            return _refusal(503, "too much is sent at once: try again")
        return None

    def _bounded(self, receive: Receive) -> Receive:
        """Receive what has come in by the time a request may take."""
        until = asyncio.get_running_loop().time() + self._settings.patience
        is_whole = False

        async def received() -> Message:
            nonlocal is_whole
            if is_whole:
                return await receive()
            left = until - asyncio.get_running_loop().time()
            try:
                message = await asyncio.wait_for(receive(), max(0.0, left))
            except asyncio.TimeoutError:
                said = f"it did not come in within {self._settings.patience:g} s"
                raise HTTPException(408, said, headers=CLOSE) from None
            is_whole = not message.get("more_body", False)
            return message

        return received


def _is_known(path: str, headers: Headers, secret: str) -> bool:
    """Tell whether a caller shows the token: as a bearer, or as the password a browser asks for."""
    if path == "/healthz":
        return True
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "basic":
        with suppress(binascii.Error, UnicodeDecodeError):
            given = base64.b64decode(given, validate=True).decode().partition(":")[2]
    return hmac.compare_digest(given.encode(), secret.encode())


def _refusal(status: int, detail: str) -> Response:
    body = msgspec.json.encode({"detail": detail})
    headers = dict(CLOSE)
    if status == 401:  # a browser asks for the password then
        headers["WWW-Authenticate"] = 'Basic realm="trainrx"'
    if status == 503:
        headers |= LATER
    return Response(body, status_code=status, media_type="application/json", headers=headers)


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
