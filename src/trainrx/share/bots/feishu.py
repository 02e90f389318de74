"""Feishu and Lark over a long connection: messages and files come in, a card is the answer.

https://open.feishu.cn/document/server-docs/im-v1/message/events/receive (what comes in)
https://open.feishu.cn/document/feishu-cards/card-json-v2-structure (the card)
https://open.feishu.cn/document/feishu-cards/card-callback-communication (a button that is pressed)
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from trainrx.share.bots._background import LOG, Background, SendingError
from trainrx.share.bots._feishu_calls import (
    DOMAIN,
    FEISHU,
    VARIABLES,
    Attached,
    Calls,
    MessagePart,
    client_of,
)
from trainrx.share.bots.core import MOST_THREADS, Core, Incoming, Latest, Outgoing
from trainrx.share.bots.questions import Button

if TYPE_CHECKING:
    from lark_oapi import Client, EventDispatcherHandler, ws
    from lark_oapi.api.im.v1 import P2ImMessageReceiveV1
    from lark_oapi.event.callback.model.p2_card_action_trigger import (
        P2CardActionTrigger,
        P2CardActionTriggerResponse,
    )

PLATFORM = "feishu"
PERMISSIONS = (
    "im:message.p2p_msg:readonly",
    "im:message.group_at_msg:readonly",
    "im:message:readonly",
    "im:message:send_as_bot",
    "im:resource",
)
LARGEST = 30_000
"""Bytes of a request that sends a card."""
AFTER_RESPONSE = 0.5
"""Seconds: a card that is changed before the press is acknowledged is changed back."""
TOAST = {"zh_cn": "收到，正在分析", "en_us": "Got it, working on it"}
_MENTION = re.compile(r"@_(?:user_\d+|all)\s*")


class _Span(msgspec.Struct, frozen=True):
    """A piece of a line of a post: a text, a link, a block of code ..."""

    text: str = ""


class _Content(msgspec.Struct, frozen=True):
    """What a text (`text`) or a post (`title`, `content`: lines of spans) holds."""

    text: str = ""
    title: str = ""
    content: tuple[tuple[_Span, ...], ...] = ()


class Feishu:
    """A bot: acknowledges at once, answers a message by a card, and edits that card."""

    def __init__(self, core: Core, client: Client) -> None:
        self._core, self._calls = core, Calls(client)
        self._attached = Latest[str](MOST_THREADS)
        self.background = Background()
        self._loop = asyncio.get_running_loop()

    def dispatcher(self) -> EventDispatcherHandler:
        """Give what the connection hands its events to, in a thread of its own."""
        from lark_oapi import EventDispatcherHandler

        builder = EventDispatcherHandler.builder("", "")
        builder = builder.register_p2_im_message_receive_v1(self._received)
        return builder.register_p2_card_action_trigger(self._pressed).build()

    def _received(self, event: P2ImMessageReceiveV1) -> None:
        if event.event.sender.sender_type == "user":
            self._start(self._read(event))

    def _start(self, work: Coroutine[object, object, None]) -> None:
        self._loop.call_soon_threadsafe(self.background.start, work)

    def _pressed(self, event: P2CardActionTrigger) -> P2CardActionTriggerResponse:
        from lark_oapi.event.callback.model import p2_card_action_trigger as model

        pressed, shown = event.event.action.value or {}, event.event.context.open_message_id
        if "question" in pressed:
            incoming = Incoming(
                thread=pressed.get("thread", ""),
                message=event.header.event_id,
                pressed=Button(question=pressed["question"], value=pressed.get("value", "")),
            )
            self._start(self._answer(incoming, shown, after=AFTER_RESPONSE))
        toast = {"type": "info", "content": TOAST["zh_cn"], "i18n": TOAST}
        return model.P2CardActionTriggerResponse({"toast": toast})

    async def _read(self, event: P2ImMessageReceiveV1) -> None:
        message, sender = event.event.message, event.event.sender.sender_id.open_id
        own = MessagePart(message.message_id, message.message_type, message.content)
        thread = self._core.thread_of(message.parent_id or "")
        quoted = () if thread else await self._quoted(message.parent_id)
        texts, files, unread = [], [], []
        for part in (*quoted, own):
            if part.kind == "file":
                file = await self._calls.fetch(part)
                files += [file] if file else []
                unread += (
                    [] if file else [msgspec.json.decode(part.content, type=Attached).file_name]
                )
            elif part.kind in ("text", "post"):
                texts.append(_text(part.content))
        incoming = Incoming(
            thread=thread or f"{message.chat_id}:{message.thread_id or sender}",
            message=message.message_id,
            text="\n\n".join(text for text in texts if text),
            files=tuple(files),
            unread=tuple(unread),
        )
        await self._answer(incoming, message.message_id)

    async def _quoted(self, message: str | None) -> tuple[MessagePart, ...]:
        """Read the message that is replied to: in a group no file can name the bot by itself."""
        found = await self._calls.read(message) if message else None
        return (found,) if found else ()

    async def _answer(self, incoming: Incoming, answered: str, after: float = 0.0) -> None:
        await asyncio.sleep(after)

        async def send(outgoing: Outgoing) -> str:
            shown = await self._shown(outgoing, answered, incoming.message)
            await self._attach(outgoing, answered, incoming.message)
            return shown

        await self._core.reply(incoming, send)

    async def _shown(self, outgoing: Outgoing, answered: str, once: str) -> str:
        """Edit the card that is replaced; where it cannot be edited any more, send a new one."""
        card = card_of(outgoing)
        if outgoing.replaces:
            with suppress(SendingError):
                await self._calls.edit(outgoing.replaces, card)
                return outgoing.replaces
        return await self._calls.reply(answered, "interactive", card, once)

    async def _attach(self, outgoing: Outgoing, answered: str, once: str) -> None:
        """Put the whole answer beside the card, in the place of the one before."""
        if outgoing.whole is None:
            return
        before = self._attached.get(outgoing.thread)
        try:
            if before:
                await self._calls.delete(before)
            sent = await self._calls.attach(answered, outgoing.whole, f"file-{once}")
            self._attached.put(outgoing.thread, sent)
        except SendingError as error:
            # the answer itself is there
            LOG.warning("the whole answer was not attached: %s", error)


def _text(content: str) -> str:
    said = msgspec.json.decode(content, type=_Content)
    lines = (said.title, said.text, *("".join(span.text for span in line) for line in said.content))
    return _MENTION.sub("", "\n".join(line for line in lines if line)).strip()


def card_of(outgoing: Outgoing) -> str:
    """Write a card as the content of a message; lines at the end go where it would be too large."""
    lines = outgoing.text.splitlines()
    while True:
        # a block of code that was cut has to end
        opened = sum(line.startswith("```") for line in lines) % 2
        card = msgspec.json.encode(_card("\n".join([*lines, *["```"] * opened]), outgoing)).decode()
        if len(msgspec.json.encode({"content": card})) <= LARGEST or not lines:
            return card
        del lines[-max(1, len(lines) // 20) :]


def _card(text: str, outgoing: Outgoing) -> dict[str, object]:
    elements: list[dict[str, object]] = [{"tag": "markdown", "content": text}]
    for button in outgoing.buttons:
        value = {"thread": outgoing.thread, "question": button.question, "value": button.value}
        elements.append(
            {
                "tag": "button",
                "text": {"tag": "plain_text", "content": button.label or button.value},
                "behaviors": [{"type": "callback", "value": value}],
            }
        )
    return {"schema": "2.0", "config": {"update_multi": True}, "body": {"elements": elements}}


async def run(core: Core, environment: Mapping[str, str]) -> None:
    """Answer until it is told to stop; the SDK connects again by itself."""
    bot = Feishu(core, client_of(environment))
    from lark_oapi import LogLevel, ws

    ident, secret = (environment[name] for name in VARIABLES)
    connection = ws.Client(
        ident,
        secret,
        # from INFO on it writes the address of the connection, which is a secret
        log_level=LogLevel.ERROR,
        event_handler=bot.dispatcher(),
        domain=environment.get(DOMAIN) or FEISHU,
    )
    await _connected(connection)


async def _connected(connection: ws.Client) -> None:
    """Let the SDK run in a thread: it works in a loop of its own, and never ends by itself."""
    from lark_oapi.ws import client

    client.loop = loop = asyncio.new_event_loop()

    def start() -> None:
        asyncio.set_event_loop(loop)
        # it is stopped in the middle of what it does
        with suppress(RuntimeError):
            connection.start()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.close()

    started = asyncio.create_task(asyncio.to_thread(start))
    try:
        await asyncio.shield(started)
    finally:
        if not started.done():
            loop.call_soon_threadsafe(loop.stop)
            await started


async def check(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Name the permissions that are missing; nothing is sent to anybody."""
    from lark_oapi.core.exception import ObtainAccessTokenException

    try:
        granted = await Calls(client_of(environment)).granted()
    except (ObtainAccessTokenException, SendingError) as error:
        return (f"{' and '.join(VARIABLES)}: {error}",)
    return tuple(f"permission {name}" for name in PERMISSIONS if name not in granted)
