"""Who may ask, and how much: what is over that is refused before it is read."""

from __future__ import annotations

import base64
import binascii
import hmac
from contextlib import suppress

import msgspec
from fastapi import Response
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from trainrx.share.connection import CLOSE, come_in_within
from trainrx.share.serve.service import LATER, ServiceSettings


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
            await self._app(scope, come_in_within(self._settings.patience, receive), send)
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
