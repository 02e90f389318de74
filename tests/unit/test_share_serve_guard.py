"""Requests that come in slowly, are too much or never end: each over a real connection."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
import uvicorn
from fastapi import FastAPI, Request, Response

from trainrx.share import connection as connections
from trainrx.share.connection import BoundedConnection
from trainrx.share.serve.guard import RequestGuard
from trainrx.share.serve.service import ServiceSettings

POST = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"
Connect = Callable[[], socket.socket]


class Impatient(BoundedConnection):
    HEADERS_WITHIN = 0.3
    READ_WITHIN = 0.3


@pytest.fixture(scope="module")
def connect() -> Iterator[Connect]:
    app = FastAPI()

    @app.post("/")
    async def length(request: Request) -> dict[str, int]:
        return {"length": len(await request.body())}

    @app.get("/")
    async def long() -> Response:
        return Response(b"x" * (50 << 20))

    app.add_middleware(
        RequestGuard, settings=ServiceSettings(patience=0.4, largest=1000, arriving=1500)
    )
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(app, http=Impatient, log_level="critical")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        yield lambda: socket.create_connection(listening.getsockname(), timeout=5)
        server.should_exit = True
        thread.join()


def ended(connection: socket.socket, piece: bytes) -> tuple[bytes, float]:
    """Send a piece again and again until the other side ends it; give what it said, and when."""
    started = time.monotonic()
    connection.settimeout(0.1)
    said = b""
    while time.monotonic() - started < 5:
        with suppress(OSError):
            connection.sendall(piece)
        with suppress(TimeoutError):
            received = _received(connection)
            said += received
            if not received:
                return said, time.monotonic() - started
    pytest.fail("it was never ended")


def _received(connection: socket.socket) -> bytes:
    with suppress(ConnectionResetError):
        return connection.recv(1 << 20)
    return b""


def answered(connect: Connect) -> bool:
    with connect() as connection:
        connection.sendall(POST.replace(b"Host", b"Connection: close\r\nHost") % 2 + b"{}")
        return b'{"length":2}' in connection.makefile("rb").read()


@pytest.mark.parametrize(
    ("begin", "piece", "status"),
    [
        (b"", b"", b"408"),
        (b"POST / HTTP/1.1\r\n", b"X", b"408"),
        (b"GET / HTTP/1.1\r\nX-Long: ", b"x", b"408"),
        (POST % 500, b"", b"408"),
        (POST % 500, b"x", b"408"),
        (b"\r\n", b"\r\n", b"400"),
    ],
    ids=["nothing", "lines", "header", "no-body", "slow-body", "empty-lines"],
)
def test_who_sends_slowly_is_let_go_within_the_bound(connect, begin, piece, status):
    with connect() as connection:
        connection.sendall(begin)
        said, took = ended(connection, piece)

    assert status in said.partition(b"\r\n")[0]
    assert took < 2
    assert answered(connect)


def test_the_next_request_of_a_connection_is_bounded_too(connect):
    with connect() as connection:
        connection.sendall(POST % 2 + b"{}")
        said, took = ended(connection, b"G")

    assert said.startswith(b"HTTP/1.1 200")
    assert took < 2


def test_who_does_not_read_the_answer_is_let_go(connect):
    with connect() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        time.sleep(0.8)
        received = sum(len(piece) for piece in iter(lambda: _received(connection), b""))

    assert received < 50 << 20


def test_more_than_may_arrive_at_once_is_told_to_come_again(connect):
    with connect() as first, connect() as second:
        first.sendall(POST % 900)
        time.sleep(0.1)
        second.sendall(POST % 900)
        said = second.recv(4096)

    assert said.startswith(b"HTTP/1.1 503")
    assert b"Retry-After" in said.title()
    assert answered(connect)


def test_more_connections_than_there_may_be_are_let_go(connect, monkeypatch):
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 3)
    held = [connect() for _ in range(3)]
    with connect() as more:
        assert ended(more, b"")[0] == b""

    for connection in held:
        connection.close()
    time.sleep(0.05)
    assert answered(connect)
