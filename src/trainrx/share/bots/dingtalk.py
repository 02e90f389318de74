"""DingTalk in Stream mode: messages come over a connection the bot opens, so it needs no address.

https://open.dingtalk.com/document/orgapp/robot-receive-message (what comes in)
https://open.dingtalk.com/document/orgapp/robot-reply-and-send-messages (how it is answered)
https://open.dingtalk.com/document/orgapp/upload-media-files (a file, which a message then names)
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
import re
import zipfile
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote

import httpx

from trainrx.model.errors import UsageError
from trainrx.render.markup import load
from trainrx.share.bots._background import LOG, Background, SendingError
from trainrx.share.bots._pace import Pace, Rate
from trainrx.share.bots.core import LARGEST_FILE, Core, Incoming, Outgoing
from trainrx.share.task import TaskFile

if TYPE_CHECKING:
    from dingtalk_stream import CallbackMessage, ChatbotMessage, DingTalkStreamClient

PLATFORM = "dingtalk"
VARIABLES = ("DINGTALK_CLIENT_ID", "DINGTALK_CLIENT_SECRET")
TOO_FAST = (429, 130101)
WAITS = (5.0, 30.0)
"""Seconds before an answer is sent again that came too fast."""
PATIENCE = 30.0
UPLOAD = "https://oapi.dingtalk.com/media/upload"
TO_GROUP, TO_PERSON = "/v1.0/robot/groupMessages/send", "/v1.0/robot/oToMessages/batchSend"
GROUP = "2"
"""The type of a conversation of several."""
LONGEST_TITLE = 60
"""Characters that stand in a list of chats and in a notification."""
REPLY = "dtmd://dingtalkclient/sendMessage?content="
"""A link whose text the client sends for whoever presses it; in Markdown alone."""
_MARKS = re.compile(r"[*`#>\u200b\u2060]")


def client_of(environment: Mapping[str, str]) -> DingTalkStreamClient:
    """Make the SDK's client, with the secrets of the environment.

    Raises:
        UsageError: one is missing, or the SDK.
    """
    missing = [name for name in VARIABLES if not environment.get(name)]
    if missing:
        raise UsageError(f"bot dingtalk needs {' and '.join(missing)} in the environment")
    try:
        import dingtalk_stream
    except ImportError as error:
        raise UsageError(f"bot dingtalk needs trainrx[bots]: {error}") from error
    # the SDK's own logger would write down the ticket of the connection
    logger = logging.getLogger("trainrx.bots.dingtalk")
    credential = dingtalk_stream.Credential(*(environment[name] for name in VARIABLES))
    return dingtalk_stream.DingTalkStreamClient(credential, logger)


class DingTalk:
    """A robot: acknowledges at once, answers by the address each message brings along.

    Such an address takes text alone, and nothing that was sent can be edited. The whole goes as a
    message of the robot's own, which needs a permission.
    """

    def __init__(self, core: Core, client: DingTalkStreamClient, http: httpx.AsyncClient) -> None:
        import dingtalk_stream

        self._core, self._http, self._client = core, http, client
        self._pace = Pace(Rate(most=20, seconds=60.0, limit=load(PLATFORM).limit or 0))
        self._message = dingtalk_stream.ChatbotMessage
        self._taken = dingtalk_stream.AckMessage.STATUS_OK
        self._handler = dingtalk_stream.ChatbotHandler()
        self._handler.process = self.process
        self.background = Background()
        client.register_callback_handler(self._message.TOPIC, self._handler)

    async def process(self, callback: CallbackMessage) -> tuple[int, str]:
        """Begin to answer; the SDK acknowledges with what is returned."""
        self.background.start(self._answer(self._message.from_dict(callback.data)))
        return self._taken, "OK"

    async def _answer(self, message: ChatbotMessage) -> None:
        files, unread = [], []
        for name, code in _attached(message):
            file = await self._file(name, code)
            files += [file] if file else []
            unread += [] if file else [name]
        incoming = Incoming(
            thread=f"{message.conversation_id}:{message.sender_id}",
            message=message.message_id,
            text="\n".join(message.get_text_list() or ()).strip(),
            files=tuple(files),
            unread=tuple(unread),
        )

        async def send(outgoing: Outgoing) -> str:
            await self._pace.send(message.conversation_id, _with_replies(outgoing), post)
            if outgoing.whole is not None:
                await self._attach(message, outgoing.whole)
            return ""

        async def post(text: str) -> None:
            await self._post(message.session_webhook, text)

        await self._core.reply(incoming, send)

    async def _post(self, address: str, text: str) -> None:
        # nobody is mentioned: neither by `at` nor by the text, in which no @ is one
        body = {"msgtype": "markdown", "markdown": {"title": _title(text), "text": text}}
        said: dict[str, object] = {}
        for wait in (*WAITS, None):
            response = await self._http.post(address, json=body, timeout=PATIENCE)
            said = response.json() if response.is_success else {"errcode": response.status_code}
            if said.get("errcode") not in TOO_FAST or wait is None:
                break
            await asyncio.sleep(wait)
        if said.get("errcode"):
            raise SendingError(f"DingTalk: {said.get('errcode')} {said.get('errmsg', '')}")

    async def _attach(self, message: ChatbotMessage, whole: TaskFile) -> None:
        """Send the whole answer as a file; where that is not taken, the answer is there."""
        from dingtalk_stream.utils import DINGTALK_OPENAPI_ENDPOINT as API

        token = await asyncio.to_thread(self._client.get_access_token) or ""
        packed = _packed(whole)
        try:
            media = await self._http.post(
                UPLOAD,
                params={"access_token": token},
                data={"type": "file"},
                files={"media": (packed.name, packed.data, "application/zip")},
                timeout=PATIENCE,
            )
            path, body = _as_message(message, packed.name, media.json().get("media_id", ""))
            headers = {"x-acs-dingtalk-access-token": token}
            sent = await self._http.post(
                f"{API}{path}", json=body, headers=headers, timeout=PATIENCE
            )
            sent.raise_for_status()
        except (httpx.HTTPError, ValueError) as error:
            LOG.warning("the whole answer was not attached: %s", type(error).__name__)

    async def _file(self, name: str, code: str) -> TaskFile | None:
        """Fetch what was attached; None where it cannot be had."""
        # what the SDK calls an image is any file
        address = await asyncio.to_thread(self._handler.get_image_download_url, code)
        data = bytearray()
        try:
            async with self._http.stream("GET", address or "", timeout=PATIENCE) as response:
                response.raise_for_status()
                async for chunk in response.aiter_bytes():
                    data += chunk
                    if len(data) > LARGEST_FILE:
                        return None
        except (httpx.HTTPError, httpx.InvalidURL):
            return None
        return TaskFile(name=name, data=bytes(data))


def _attached(message: ChatbotMessage) -> Iterator[tuple[str, str]]:
    """Name the files of a message and the codes they are fetched with."""
    content = message.extensions.get("content") or {}
    if message.message_type == "file" and content.get("downloadCode"):
        yield content.get("fileName") or "attached.log", content["downloadCode"]


def _packed(whole: TaskFile) -> TaskFile:
    """Pack a file: DingTalk takes documents of offices, PDF and archives, no Markdown."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(whole.name, whole.data)
    return TaskFile(name=f"{whole.name.rpartition('.')[0]}.zip", data=packed.getvalue())


def _as_message(
    message: ChatbotMessage, name: str, media: str
) -> tuple[str, dict[str, str | list[str]]]:
    """Say a file to the conversation a message came from: where that is sent, and what."""
    content = {"mediaId": media, "fileName": name, "fileType": "zip"}
    body: dict[str, str | list[str]] = {
        "robotCode": message.robot_code,
        "msgKey": "sampleFile",
        "msgParam": json.dumps(content),
    }
    if message.conversation_type == GROUP:
        return TO_GROUP, {**body, "openConversationId": message.conversation_id}
    return TO_PERSON, {**body, "userIds": [message.sender_staff_id]}


def _with_replies(outgoing: Outgoing) -> str:
    """Add the replies that can be pressed, where they fit."""
    links = " | ".join(
        f"[{button.label}]({REPLY}{quote(button.value)})" for button in outgoing.buttons
    )
    longer = f"{outgoing.text}\n\n{links}"
    markup = load(PLATFORM)
    fits = markup.limit is None or markup.size(longer) <= markup.limit
    return longer if links and fits else outgoing.text


def _title(text: str) -> str:
    """Give the first line without its marks."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return _MARKS.sub("", first).strip()[:LONGEST_TITLE] or "trainrx"


async def run(core: Core, environment: Mapping[str, str]) -> None:
    """Answer until it is told to stop; the SDK connects again by itself."""
    client = client_of(environment)
    async with httpx.AsyncClient() as http:
        DingTalk(core, client, http)
        connected = asyncio.create_task(client.start())
        try:
            await asyncio.wait((connected,))
        finally:
            # the SDK takes being cancelled for a lost connection, and waits to open it again
            while not connected.done():
                connected.cancel()
                await asyncio.sleep(0.01)


async def check(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Say what is missing; nothing is sent to anybody."""
    client = client_of(environment)
    if await asyncio.to_thread(client.get_access_token) is None:
        return (f"{' and '.join(VARIABLES)}: no access token is given for them",)
    if await asyncio.to_thread(client.open_connection) is None:
        return ("no connection is opened: is the robot's mode of receiving messages Stream?",)
    return ()
