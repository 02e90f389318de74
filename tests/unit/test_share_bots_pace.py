"""What comes faster than a chat takes it waits, and goes as one message."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from trainrx.share.bots._pace import SEPARATOR, Pace, Rate


class Clock:
    """A clock that is moved by those who sleep."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        # whoever else has something to send comes first
        for _ in range(100):
            await asyncio.sleep(0)


def _sent(
    rate: Rate, count: int, name: Callable[[int], str] = lambda _: "c"
) -> list[tuple[float, str]]:
    clock, sent = Clock(), []

    async def post(text: str) -> None:
        sent.append((clock(), text))

    async def all_of_them() -> None:
        pace = Pace(rate, now=clock, sleep=clock.sleep)
        sends: list[Awaitable[None]] = [
            pace.send(name(number), str(number), post) for number in range(count)
        ]
        await asyncio.gather(*sends)

    asyncio.run(all_of_them())
    return sent


def test_no_more_than_the_chat_takes_go_within_a_minute_and_the_rest_goes_as_one() -> None:
    sent = _sent(Rate(most=20, seconds=60, limit=20_000), 50)

    assert [text for _, text in sent[:20]] == [str(number) for number in range(20)]
    assert len(sent) == 21
    assert sent[20] == (60.0, SEPARATOR.join(str(number) for number in range(20, 50)))


def test_what_would_be_longer_than_the_chat_takes_is_not_joined() -> None:
    sent = _sent(Rate(most=1, seconds=60, limit=len(SEPARATOR) + 2), 5)

    assert sent == [(0, "0"), (60, f"1{SEPARATOR}2"), (120, f"3{SEPARATOR}4")]


def test_a_chat_where_nothing_may_be_joined_gets_all_one_by_one_in_order() -> None:
    sent = _sent(Rate(most=2, seconds=60), 5)

    assert sent == [(0, "0"), (0, "1"), (60, "2"), (60, "3"), (120, "4")]


def test_one_conversation_does_not_wait_for_another() -> None:
    sent = _sent(Rate(most=2, seconds=60, limit=100), 6, lambda number: str(number % 3))

    assert [at for at, _ in sent] == [0] * 6
