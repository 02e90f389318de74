"""Requests over HTTP take their turn; slow ones are tried in `test_share_serve_guard`."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.exceptions import HTTPException

from trainrx.share.connection import RequestsInTurn

POST = {"type": "http", "method": "POST"}


async def _ignored(_: Any) -> None:
    pass


def test_no_more_are_let_in_than_may_be_and_all_are_answered() -> None:
    inside: list[int] = [0]
    most: list[int] = []

    async def app(_scope: Any, receive: Any, _send: Any) -> None:
        await receive()
        inside[0] += 1
        most.append(inside[0])
        await asyncio.sleep(0.01)
        inside[0] -= 1

    read: list[int] = []

    async def receive() -> dict[str, Any]:
        read.append(len(most) + 1)
        return {"type": "http.request", "more_body": False}

    async def ask() -> None:
        gate = RequestsInTurn(app, 3)
        await asyncio.gather(*(gate(POST, receive, _ignored) for _ in range(12)))

    asyncio.run(ask())

    assert len(most) == len(read) == 12
    assert max(most) == 3


def test_a_stream_an_agent_listens_on_keeps_nobody_out() -> None:
    async def app(scope: Any, _receive: Any, _send: Any) -> None:
        await asyncio.sleep(60 if scope["method"] == "GET" else 0)

    async def ask() -> None:
        gate = RequestsInTurn(app, 1)
        listening = asyncio.create_task(gate({**POST, "method": "GET"}, _ignored, _ignored))
        await asyncio.wait_for(gate(POST, _ignored, _ignored), 5)
        listening.cancel()

    asyncio.run(ask())


def test_who_was_let_in_and_sends_nothing_gives_its_place_to_the_next() -> None:
    async def app(_scope: Any, receive: Any, _send: Any) -> None:
        await receive()

    async def never() -> dict[str, Any]:
        await asyncio.sleep(60)
        return {}

    async def whole() -> dict[str, Any]:
        return {"type": "http.request", "more_body": False}

    async def ask() -> None:
        gate = RequestsInTurn(app, 1, patience=0.05)
        with pytest.raises(HTTPException) as refused:
            await gate(POST, never, _ignored)
        assert refused.value.status_code == 408
        await asyncio.wait_for(gate(POST, whole, _ignored), 5)

    asyncio.run(ask())
