"""Slack in Socket Mode: events come over a connection the bot opens, so it needs no address.

https://docs.slack.dev/apis/events-api/using-socket-mode
"""

from __future__ import annotations

import asyncio
import html
import logging
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import msgspec
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncRateLimitErrorRetryHandler,
    AsyncServerErrorRetryHandler,
)
from slack_sdk.web.async_client import AsyncWebClient

from trainrx.share.bots.core import LARGEST_FILE, Core, Incoming, Latest, Outgoing
from trainrx.share.bots.questions import Button
from trainrx.share.task import TaskFile

VARIABLES = ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN")
SCOPES = ("app_mentions:read", "chat:write", "files:read", "files:write", "im:history")
API = "https://slack.com/api/"
LONGEST = 40_000
"""Characters of a message; Slack cuts what is longer."""
LONGEST_LABEL = 75
REPLY = "trainrx-reply-"
"""What the name of a button begins with."""
_TAKEN = frozenset((None, "file_share", "thread_broadcast"))
"""Kinds of messages that somebody wrote; others say that one was edited, or who joined."""
_MENTION = re.compile(r"<@[UW][A-Z0-9]+(?:\|[^>]*)?>")
_LINK = re.compile(r"<(?:https?|mailto|tel):([^|>]+)(?:\|([^>]*))?>")
_NOT_EDITED = frozenset(("message_not_found", "cant_update_message", "edit_window_closed"))
_Event = Mapping[str, Any]
LOG = logging.getLogger("trainrx.bots.slack")


def client_of(token: str, api: str = API) -> AsyncWebClient:
    """Make a client that waits where it is told to, and tries again."""
    client = AsyncWebClient(token=token, base_url=api)
    client.retry_handlers.append(AsyncRateLimitErrorRetryHandler(max_retry_count=3))
    client.retry_handlers.append(AsyncServerErrorRetryHandler(max_retry_count=2))
    return client


class Slack:
    """Answers mentions and direct messages, each in its thread."""

    def __init__(self, core: Core, client: AsyncWebClient) -> None:
        self._core, self._client = core, client
        self._files = Latest[str](1024)
        self.app = AsyncApp(client=client)
        self.app.event("app_mention")(self._mentioned)
        self.app.event("message")(self._written)
        self.app.action(re.compile(f"^{REPLY}"))(self._pressed)

    async def _mentioned(self, event: _Event) -> None:
        await self._answer(event)

    async def _written(self, event: _Event) -> None:
        is_direct = event.get("channel_type") == "im"
        if is_direct and event.get("subtype") in _TAKEN and not event.get("bot_id"):
            await self._answer(event)

    async def _answer(self, event: _Event) -> None:
        sent = event.get("files") or ()
        files = await asyncio.gather(*(self._file(one) for one in sent))
        text = str(event.get("text") or "")
        names = [str(one.get("name") or one.get("id")) for one in sent]
        root = str(event.get("thread_ts") or event["ts"])
        incoming = Incoming(
            thread=f"{event['channel']}:{root}",
            # a retry has the same time, as has an event that comes as two kinds
            message=f"{event['channel']}:{event['ts']}",
            text=plain(text),
            files=tuple(file for file in files if file is not None),
            is_cut=len(text) >= LONGEST,
            unread=tuple(name for name, file in zip(names, files, strict=True) if file is None),
        )
        await self._reply(incoming, str(event["channel"]), root)

    async def _pressed(self, ack: AsyncAck, body: _Event) -> None:
        await ack()
        channel, message, action = body["channel"]["id"], body["message"], body["actions"][0]
        root = str(message.get("thread_ts") or message["ts"])
        incoming = Incoming(
            thread=f"{channel}:{root}",
            message=f"{channel}:{message['ts']}:{action['action_ts']}",
            pressed=msgspec.json.decode(action["value"], type=Button),
        )
        await self._reply(incoming, str(channel), root)

    async def _reply(self, incoming: Incoming, channel: str, root: str) -> None:
        async def send(outgoing: Outgoing) -> str:
            shown = await self._edited(outgoing, channel) or await self._posted(
                outgoing, channel, root
            )
            await self._attach(outgoing, channel, root)
            return shown

        await self._core.reply(incoming, send)

    async def _edited(self, outgoing: Outgoing, channel: str) -> str:
        """Edit the earlier answer; "" where there is none any more."""
        if not outgoing.replaces:
            return ""
        try:
            await self._client.chat_update(
                channel=channel,
                ts=outgoing.replaces,
                text=outgoing.text,
                blocks=blocks(outgoing),
            )
        except SlackApiError as error:
            if error.response["error"] not in _NOT_EDITED:
                raise
            return ""
        return outgoing.replaces

    async def _posted(self, outgoing: Outgoing, channel: str, root: str) -> str:
        posted = await self._client.chat_postMessage(
            channel=channel,
            thread_ts=root,
            text=outgoing.text,
            blocks=blocks(outgoing),
            unfurl_links=False,
            unfurl_media=False,
        )
        return str(posted["ts"])

    async def _attach(self, outgoing: Outgoing, channel: str, root: str) -> None:
        """Put the whole answer beside the message, in the place of the one before."""
        if outgoing.whole is None:
            return
        before = self._files.get(outgoing.thread)
        try:
            if before:
                await self._client.files_delete(file=before)
            sent = await self._client.files_upload_v2(
                channel=channel,
                thread_ts=root,
                filename=outgoing.whole.name,
                content=outgoing.whole.data,
            )
            self._files.put(outgoing.thread, str(sent["files"][0]["id"]))
        except SlackApiError as error:
            # the answer itself is there
            LOG.warning("the whole answer was not attached: %s", error.response["error"])

    async def _file(self, sent: _Event) -> TaskFile | None:
        """Fetch what was attached; None where it cannot be had."""
        address = str(sent.get("url_private_download") or sent.get("url_private") or "")
        if int(sent.get("size") or 0) > LARGEST_FILE or not self._is_ours(address):
            return None
        shown = {"Authorization": f"Bearer {self._client.token}"}
        data = bytearray()
        try:
            async with (
                aiohttp.ClientSession(headers=shown) as session,
                # without the permission Slack leads to a page where one signs in
                session.get(address, allow_redirects=False) as response,
            ):
                if response.status != 200:
                    return None
                async for chunk in response.content.iter_chunked(1 << 16):
                    data += chunk
                    if len(data) > LARGEST_FILE:
                        return None
        except (aiohttp.ClientError, asyncio.TimeoutError):
            return None
        return TaskFile(name=str(sent.get("name") or "attached.log"), data=bytes(data))

    def _is_ours(self, address: str) -> bool:
        """Tell whether a file lies with Slack: nobody else is shown the token."""
        host = urlsplit(address).hostname or ""
        return host.endswith(".slack.com") or host == urlsplit(self._client.base_url).hostname


def plain(text: str) -> str:
    """Give what somebody typed: no mention of the bot, no links Slack made, no entities."""
    unlinked = _LINK.sub(lambda found: found[2] or found[0][1:-1], _MENTION.sub("", text))
    return html.unescape(unlinked).strip()


def blocks(outgoing: Outgoing) -> list[dict[str, Any]]:
    """Lay a message out: its text, and what can be pressed below."""
    section = {"type": "section", "text": {"type": "mrkdwn", "text": outgoing.text}}
    buttons = [
        {
            "type": "button",
            "action_id": f"{REPLY}{number}",
            "text": {"type": "plain_text", "text": button.label[:LONGEST_LABEL]},
            "value": msgspec.json.encode(button).decode(),
        }
        for number, button in enumerate(outgoing.buttons)
    ]
    return [section, {"type": "actions", "elements": buttons}] if buttons else [section]


async def run(core: Core, environment: Mapping[str, str]) -> None:
    """Answer until it is told to stop; the SDK connects again by itself."""
    await connect(core, client_of(environment["SLACK_BOT_TOKEN"]), environment["SLACK_APP_TOKEN"])


async def connect(core: Core, client: AsyncWebClient, app_token: str) -> None:
    """Answer over a connection; tokens and addresses are the client's."""
    bot = Slack(core, client)
    handler = AsyncSocketModeHandler(bot.app, app_token)
    try:
        await handler.client.connect()
        await asyncio.Event().wait()
    finally:
        await handler.client.close()


async def check(environment: Mapping[str, str], api: str = API) -> tuple[str, ...]:
    """Name the permissions that are missing; nothing is sent to anybody."""
    missing = []
    try:
        found = await client_of(environment["SLACK_BOT_TOKEN"], api).auth_test()
        given = {name.strip() for name in str(found.headers.get("x-oauth-scopes", "")).split(",")}
        missing += [f"SLACK_BOT_TOKEN: scope {name}" for name in SCOPES if name not in given]
    except SlackApiError as error:
        missing.append(f"SLACK_BOT_TOKEN: {error.response['error']}")
    try:
        client = client_of(environment["SLACK_APP_TOKEN"], api)
        await client.apps_connections_open(app_token=environment["SLACK_APP_TOKEN"])
    except SlackApiError as error:
        missing.append(f"SLACK_APP_TOKEN (connections:write): {error.response['error']}")
    return tuple(missing)
