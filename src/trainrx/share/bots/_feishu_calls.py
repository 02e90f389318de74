"""Calls of the open interface of Feishu and Lark: messages read, sent and edited, files fetched.

https://open.feishu.cn/document/server-docs/im-v1/message/reply
https://open.feishu.cn/document/server-docs/im-v1/message/get-2 (the files of a message)
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from trainrx.model.errors import UsageError
from trainrx.share.bots._background import SendingError
from trainrx.share.bots.core import LARGEST_FILE
from trainrx.share.task import TaskFile

if TYPE_CHECKING:
    from lark_oapi import Client
    from lark_oapi.core.model import RawResponse

VARIABLES = ("FEISHU_APP_ID", "FEISHU_APP_SECRET")
DOMAIN = "FEISHU_DOMAIN"
"""https://open.larksuite.com for Lark."""
FEISHU = "https://open.feishu.cn"
MESSAGES = "/open-apis/im/v1/messages"
TOO_FAST = (99991400, 230020)
WAITS = (1.0, 2.0, 4.0)
"""Seconds before a call is tried again that came too fast."""
PATIENCE = 30.0


class MessagePart(msgspec.Struct, frozen=True):
    """A message as far as it is read: the id its files are fetched with, its kind and content."""

    message: str
    kind: str
    content: str


class Attached(msgspec.Struct, frozen=True):
    """The content of a message that is a file."""

    file_key: str = ""
    file_name: str = "attached.log"


class _Body(msgspec.Struct, frozen=True):
    content: str = ""


class _Item(msgspec.Struct, frozen=True):
    message_id: str = ""
    msg_type: str = ""
    body: _Body = _Body()


class _Scope(msgspec.Struct, frozen=True):
    scope_name: str = ""
    grant_status: int = 0


class _Data(msgspec.Struct, frozen=True):
    message_id: str = ""
    file_key: str = ""
    items: tuple[_Item, ...] = ()
    scopes: tuple[_Scope, ...] = ()


class _Answer(msgspec.Struct, frozen=True):
    code: int = 0
    msg: str = ""
    data: _Data | None = None


class Calls:
    """Calls of the open interface, each tried again where it came too fast."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def read(self, message: str) -> MessagePart | None:
        """Read a message; None where it cannot be had."""
        try:
            found = await self._call("GET", f"{MESSAGES}/{message}")
        except SendingError:
            return None
        parts = [
            MessagePart(item.message_id, item.msg_type, item.body.content) for item in found.items
        ]
        return parts[0] if parts else None

    async def fetch(self, part: MessagePart) -> TaskFile | None:
        """Fetch the file of a message; None where it cannot be had."""
        file = msgspec.json.decode(part.content, type=Attached)
        path = f"{MESSAGES}/{part.message}/resources/{file.file_key}?type=file"
        got = await self._raw("GET", path, {})
        is_there = 200 <= (got.status_code or 0) < 300 and len(got.content) <= LARGEST_FILE
        return TaskFile(name=file.file_name, data=bytes(got.content)) if is_there else None

    async def reply(self, answered: str, kind: str, content: str, once: str) -> str:
        """Reply to a message; the same `once` within an hour sends nothing again."""
        body: dict[str, object] = {"msg_type": kind, "content": content, "uuid": once[-50:]}
        return (await self._call("POST", f"{MESSAGES}/{answered}/reply", body)).message_id

    async def edit(self, message: str, card: str) -> None:
        """Show another card in the place of one."""
        await self._call("PATCH", f"{MESSAGES}/{message}", {"content": card})

    async def delete(self, message: str) -> None:
        """Take a message of the bot back."""
        await self._call("DELETE", f"{MESSAGES}/{message}")

    async def attach(self, answered: str, file: TaskFile, once: str) -> str:
        """Reply with a file."""
        data = io.BytesIO(file.data)
        body = {"file_type": "stream", "file_name": file.name, "file": data}
        sent = await self._call("POST", "/open-apis/im/v1/files", body)
        content = msgspec.json.encode({"file_key": sent.file_key}).decode()
        return await self.reply(answered, "file", content, once)

    async def granted(self) -> frozenset[str]:
        """Name the permissions the app has."""
        scopes = (await self._call("GET", "/open-apis/application/v6/scopes")).scopes
        return frozenset(scope.scope_name for scope in scopes if scope.grant_status == 1)

    async def _call(
        self, method: str, path: str, body: Mapping[str, object] | None = None
    ) -> _Data:
        answer = _Answer()
        for wait in (*WAITS, None):
            got = await self._raw(method, path, dict(body or {}))
            try:
                answer = msgspec.json.decode(got.content, type=_Answer)
            except msgspec.DecodeError:
                answer = _Answer(code=got.status_code or -1)
            if answer.code not in TOO_FAST or wait is None:
                break
            await asyncio.sleep(wait)
        if answer.code:
            raise SendingError(f"Feishu: {answer.code} {answer.msg}")
        return answer.data or _Data()

    async def _raw(self, method: str, path: str, body: dict[str, object]) -> RawResponse:
        from lark_oapi import AccessTokenType, BaseRequest, HttpMethod

        request = BaseRequest.builder().http_method(HttpMethod[method]).uri(path)
        request = request.token_types({AccessTokenType.TENANT}).body(body or None).build()
        # what the SDK makes of the response leaves its error code out
        return (await self._client.arequest(request)).raw


def client_of(environment: Mapping[str, str]) -> Client:
    """Make the SDK's client, with the secrets of the environment.

    Raises:
        UsageError: one is missing, or the SDK.
    """
    missing = [name for name in VARIABLES if not environment.get(name)]
    if missing:
        raise UsageError(f"bot feishu needs {' and '.join(missing)} in the environment")
    try:
        import lark_oapi
    except ImportError as error:
        raise UsageError(f"bot feishu needs trainrx[bots]: {error}") from error
    ident, secret = (environment[name] for name in VARIABLES)
    domain = environment.get(DOMAIN) or FEISHU
    builder = lark_oapi.Client.builder().app_id(ident).app_secret(secret).domain(domain)
    return builder.timeout(PATIENCE).build()
