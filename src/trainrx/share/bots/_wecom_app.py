"""An application of one's own company in WeCom: messages come in as XML, calls answer them.

https://developer.work.weixin.qq.com/document/path/90239 (what comes in)
https://developer.work.weixin.qq.com/document/path/90236 (a message that is sent)
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from xml.parsers import expat

import httpx
import msgspec

from trainrx.share.bots._background import LOG, Background, SendingError
from trainrx.share.bots._pace import Pace, Rate
from trainrx.share.bots.core import Core, Incoming, Outgoing
from trainrx.share.task import TaskFile

CORP_ID, AGENT_ID, SECRET = "WECOM_CORP_ID", "WECOM_AGENT_ID", "WECOM_CORP_SECRET"
VARIABLES = (CORP_ID, AGENT_ID, SECRET)
"""What an application has beside the token and the key of its callback."""
API = "https://qyapi.weixin.qq.com/cgi-bin"
LARGEST = 2048
"""Bytes of one message in Markdown."""
RATE = Rate(most=25, seconds=60.0)
"""One person is sent 30 messages a minute at most."""
STALE = frozenset((40014, 42001))
TOO_FAST = frozenset((45009, 45033, 45047))
WAITS = (2.0, 8.0)
PATIENCE = 30.0


class NotXmlError(Exception):
    """A request that is no flat XML, or that declares something of its own."""


class _Fields:
    """The texts of the elements right below the root, by name."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self._path: list[str] = []

    def start(self, name: str, _attributes: Mapping[str, str]) -> None:
        self._path.append(name)

    def end(self, _name: str) -> None:
        self._path.pop()

    def text(self, data: str) -> None:
        if len(self._path) == 2:
            self.texts[self._path[1]] = self.texts.get(self._path[1], "") + data


def fields_of(data: bytes) -> dict[str, str]:
    """Read the flat XML of a request.

    Raises:
        NotXmlError: it is none, or has a document type, by which entities grow and files are read.
    """

    def refuse(*_declared: object) -> None:
        raise NotXmlError("a document type is never sent by WeCom")

    found, parser = _Fields(), expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = found.start, found.end
    parser.CharacterDataHandler = found.text
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise NotXmlError("this is no XML") from error
    return found.texts


class _Answer(msgspec.Struct, frozen=True):
    errcode: int = 0
    errmsg: str = ""
    access_token: str = ""
    msgid: str = ""
    media_id: str = ""


class AppCalls:
    """AppCalls as the application; its token is fetched where there is none that is taken."""

    def __init__(
        self,
        environment: Mapping[str, str],
        http: httpx.AsyncClient,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._corp, agent, self._secret = (environment[name] for name in VARIABLES)
        self._agent = int(agent) if agent.isdecimal() else agent
        self._http, self._sleep = http, sleep
        self._token = ""

    async def send(self, user: str, kind: str, content: Mapping[str, str]) -> str:
        """Send a message; gives its id."""
        body = {"touser": user, "agentid": self._agent, "msgtype": kind, kind: content}
        return (await self._call("message/send", body)).msgid

    async def recall(self, message: str) -> None:
        """Take a message back."""
        await self._call("message/recall", {"msgid": message})

    async def upload(self, file: TaskFile) -> str:
        """Store a file for three days; gives its id."""
        files = {"media": (file.name, file.data, "application/octet-stream")}
        return (await self._call("media/upload?type=file", files=files)).media_id

    async def renew(self) -> None:
        """Fetch the token."""
        asked = {"corpid": self._corp, "corpsecret": self._secret}
        got = await self._http.get(f"{API}/gettoken", params=asked, timeout=PATIENCE)
        self._token = _read(got).access_token

    async def _call(
        self,
        path: str,
        body: Mapping[str, object] | None = None,
        files: Mapping[str, tuple[str, bytes, str]] | None = None,
    ) -> _Answer:
        """Ask again where the token is stale or the call came too fast.

        Raises:
            SendingError: it is refused.
        """
        for wait in (*WAITS, None):
            if not self._token:
                await self.renew()
            url = httpx.URL(f"{API}/{path}").copy_merge_params({"access_token": self._token})
            got = await self._http.post(url, json=body, files=files, timeout=PATIENCE)
            code = 45009 if got.status_code == 429 else _code(got)
            if code in STALE:
                self._token = ""
            elif code not in TOO_FAST or wait is None:
                break
            else:
                await self._sleep(wait)
        return _read(got)


def _code(got: httpx.Response) -> int:
    with suppress(msgspec.DecodeError):
        return msgspec.json.decode(got.content, type=_Answer).errcode
    return got.status_code


def _read(got: httpx.Response) -> _Answer:
    try:
        said = msgspec.json.decode(got.content, type=_Answer)
    except msgspec.DecodeError:
        raise SendingError(f"WeCom: status {got.status_code}") from None
    if said.errcode:
        raise SendingError(f"WeCom: {said.errcode} {said.errmsg.partition(', hint')[0]}")
    return said


class Application:
    """Answers what people write to the application; a new answer takes the place of the last."""

    def __init__(self, core: Core, calls: AppCalls, background: Background) -> None:
        self._core, self._calls, self._background = core, calls, background
        self._pace = Pace(RATE)

    def take(self, data: bytes) -> None:
        """Begin to answer a message that was opened; events and pictures are passed over.

        Raises:
            NotXmlError: it is no message.
        """
        said = fields_of(data)
        if said.get("MsgType") == "text" and said.get("FromUserName") and said.get("MsgId"):
            self._background.start(self._answer(said))

    async def _answer(self, said: Mapping[str, str]) -> None:
        user = said["FromUserName"]

        async def send(outgoing: Outgoing) -> str:
            for earlier in outgoing.replaces.split():
                # after a day it stays
                with suppress(SendingError):
                    await self._calls.recall(earlier)
            sent: list[str] = []

            async def post(text: str) -> None:
                sent.append(await self._calls.send(user, "markdown", {"content": text}))

            for text in split(outgoing.text):
                await self._pace.send(user, text, post)
            if outgoing.whole is not None:
                sent.append(await self._attached(user, outgoing.whole))
            return " ".join(sent).strip()

        text = said.get("Content", "")
        incoming = Incoming(thread=user, message=said["MsgId"], text=text)
        await self._core.reply(incoming, send)

    async def _attached(self, user: str, whole: TaskFile) -> str:
        """Send the whole answer as a file; "" where that is not taken: the answer is there."""
        try:
            media = await self._calls.upload(whole)
            return await self._calls.send(user, "file", {"media_id": media})
        except SendingError as error:
            LOG.warning("the whole answer was not attached: %s", error)
            return ""


def split(text: str) -> Iterator[str]:
    """Give a text in messages an application may send, parted where lines end."""
    part = ""
    for line in text.rstrip().splitlines(keepends=True):
        if part and len((part + line).encode()) > LARGEST:
            yield part.rstrip()
            part = ""
        part += line.encode()[:LARGEST].decode("utf-8", "ignore")
    yield part.rstrip()
