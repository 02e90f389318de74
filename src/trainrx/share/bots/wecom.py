"""WeCom: what people write comes in encrypted and signed, to a smart bot or to an application.

A smart bot is sent JSON and answers at the address of each message; an application is sent XML.

https://developer.work.weixin.qq.com/document/path/100719 (what comes in)
https://developer.work.weixin.qq.com/document/path/101138 (the address an answer goes to, once)
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager

import httpx
import msgspec
import uvicorn
from fastapi import FastAPI, Request, Response

from trainrx.model.errors import UsageError
from trainrx.share.bots._background import Background, SendingError
from trainrx.share.bots._pace import Pace, Rate
from trainrx.share.bots._wecom_app import (
    CORP_ID,
    TOO_FAST,
    AppCalls,
    Application,
    NotXmlError,
    fields_of,
)
from trainrx.share.bots._wecom_app import VARIABLES as OF_APPLICATION
from trainrx.share.bots._wecom_crypto import Envelope, ForgedError, Signed
from trainrx.share.bots.core import LARGEST_FILE, Core, Incoming, Outgoing
from trainrx.share.task import TaskFile

PLATFORM = "wecom"
VARIABLES = ("WECOM_TOKEN", "WECOM_ENCODING_AES_KEY")
LISTEN, AT = "WECOM_LISTEN", "127.0.0.1:8602"
"""Where it listens, behind what WeCom reaches by TLS."""
PATH = "/wecom"
LARGEST_REQUEST = 256 << 10
"""Bytes; a text has 20 KB at most."""
RATE = Rate(most=20, seconds=60.0)
PATIENCE = 30.0
WAITS = (5.0, 30.0)
"""Seconds before an answer is sent again that came too fast."""
_MENTION = re.compile(r"^\s*@\S+\s*")
_NAMED = re.compile(r"filename=\"?([^\";]+)")


class _Text(msgspec.Struct, frozen=True):
    content: str = ""


class _Sender(msgspec.Struct, frozen=True):
    userid: str = ""


class _Link(msgspec.Struct, frozen=True):
    url: str = ""


class _Piece(msgspec.Struct, frozen=True):
    """A message, one that is quoted, or a part of one."""

    msgtype: str = ""
    text: _Text = _Text()
    file: _Link = _Link()
    mixed: _Mixed | None = None


class _Mixed(msgspec.Struct, frozen=True):
    msg_item: tuple[_Piece, ...] = ()


class _Message(msgspec.Struct, frozen=True):
    msgid: str = ""
    chatid: str = ""
    chattype: str = ""
    sender: _Sender = msgspec.field(name="from", default=_Sender())
    response_url: str = ""
    msgtype: str = ""
    text: _Text = _Text()
    file: _Link = _Link()
    mixed: _Mixed | None = None
    quote: _Piece | None = None


class _Encrypted(msgspec.Struct, frozen=True):
    encrypt: str = ""


def envelope_of(environment: Mapping[str, str]) -> Envelope:
    """Make what opens the requests, with the secrets of the environment.

    Raises:
        UsageError: one is missing.
    """
    wanted = (*VARIABLES, *(OF_APPLICATION if environment.get(CORP_ID) else ()))
    missing = [name for name in wanted if not environment.get(name)]
    if missing:
        raise UsageError(f"bot wecom needs {' and '.join(missing)} in the environment")
    token, key = (environment[name] for name in VARIABLES)
    return Envelope(token, key, environment.get(CORP_ID, ""))


class WeCom:
    """A smart bot: acknowledges at once, answers by the address of each message.

    Such an address takes one message, so nothing is edited; it takes no file either.
    """

    def __init__(self, core: Core, envelope: Envelope, http: httpx.AsyncClient) -> None:
        self._core, self._envelope, self._http = core, envelope, http
        self._pace = Pace(RATE)
        self.background = Background()

    def encrypted(self, body: bytes) -> str:
        """Give what is encrypted in a request.

        Raises:
            msgspec.DecodeError: it is no JSON of WeCom.
        """
        return msgspec.json.decode(body, type=_Encrypted).encrypt

    def take(self, said: bytes) -> None:
        """Begin to answer a message that was opened; events and refreshes are passed over."""
        message = msgspec.json.decode(said, type=_Message)
        pieces = tuple(_pieces(message))
        if pieces and message.response_url:
            self.background.start(self._answer(message, pieces))

    async def _answer(self, message: _Message, pieces: tuple[_Piece, ...]) -> None:
        texts = [piece.text.content for piece in pieces if piece.msgtype == "text"]
        if texts and message.chattype == "group":
            texts[-1] = _MENTION.sub("", texts[-1])
        files, unread = [], []
        for number, piece in enumerate(pieces):
            if piece.msgtype == "file":
                file = await self._file(piece.file.url)
                files += [file] if file else []
                unread += [] if file else [f"file {number + 1}"]
        thread = f"{message.chatid or 'single'}:{message.sender.userid}"
        incoming = Incoming(
            thread=thread,
            message=message.msgid,
            text="\n\n".join(texts),
            files=tuple(files),
            unread=tuple(unread),
        )

        async def send(outgoing: Outgoing) -> str:
            await self._pace.send(thread, outgoing.text, post)
            return ""

        async def post(text: str) -> None:
            await self._post(message.response_url, text)

        await self._core.reply(incoming, send)

    async def _post(self, url: str, text: str) -> None:
        body = {"msgtype": "markdown", "markdown": {"content": text}}
        said: dict[str, object] = {}
        for wait in (*WAITS, None):
            response = await self._http.post(url, json=body, timeout=PATIENCE)
            said = response.json() if response.is_success else {"errcode": response.status_code}
            # what was refused has not used up the address
            if said.get("errcode") not in (429, *TOO_FAST) or wait is None:
                break
            await asyncio.sleep(wait)
        if said.get("errcode"):
            raise SendingError(f"WeCom: {said.get('errcode')} {said.get('errmsg', '')}")

    async def _file(self, url: str) -> TaskFile | None:
        """Fetch a file, which is encrypted as messages are; None where it cannot be had."""
        data = bytearray()
        try:
            async with self._http.stream("GET", url, timeout=PATIENCE) as response:
                response.raise_for_status()
                async for chunk in response.aiter_bytes():
                    data += chunk
                    if len(data) > LARGEST_FILE:
                        return None
            named = _NAMED.search(response.headers.get("content-disposition", ""))
            name = named[1] if named else "attached.log"
            return TaskFile(name=name, data=self._envelope.decrypted(bytes(data)))
        except (httpx.HTTPError, httpx.InvalidURL, ForgedError):
            return None


def _pieces(message: _Message) -> Iterator[_Piece]:
    """Take a message apart, what it quotes first."""
    whole = _Piece(message.msgtype, message.text, message.file, message.mixed)
    for piece in (message.quote, whole):
        if piece is not None and piece.mixed is not None:
            yield from piece.mixed.msg_item
        elif piece is not None and piece.msgtype in ("text", "file"):
            yield piece


class _OfApplication:
    """What an application is sent, as that of a smart bot is read."""

    def __init__(self, core: Core, calls: AppCalls) -> None:
        self.background = Background()
        self.take = Application(core, calls, self.background).take

    def encrypted(self, body: bytes) -> str:
        """Give what is encrypted in a request.

        Raises:
            NotXmlError: it is no XML of WeCom.
        """
        return fields_of(body).get("Encrypt", "")


def make_app(core: Core, environment: Mapping[str, str]) -> FastAPI:
    """Make the service that WeCom calls, at `PATH`.

    Raises:
        UsageError: a secret is missing or none.
    """

    @asynccontextmanager
    async def run(_app: FastAPI) -> AsyncIterator[None]:
        yield
        await bot.background.done()
        await http.aclose()

    envelope = envelope_of(environment)
    http = httpx.AsyncClient()
    bot: WeCom | _OfApplication = WeCom(core, envelope, http)
    if environment.get(CORP_ID):
        bot = _OfApplication(core, AppCalls(environment, http))
    app = FastAPI(lifespan=run, docs_url=None, redoc_url=None, openapi_url=None)

    def opened(request: Request, encrypted: str) -> bytes:
        given = request.query_params
        signed = Signed(
            signature=given.get("msg_signature", ""),
            timestamp=given.get("timestamp", ""),
            nonce=given.get("nonce", ""),
        )
        return envelope.opened(signed, encrypted)

    @app.exception_handler(ForgedError)
    async def refuse(_request: Request, error: Exception) -> Response:
        return Response(str(error), status_code=403, media_type="text/plain")

    @app.get(PATH)
    async def verify(request: Request) -> Response:
        """Show that this is the bot's own machine."""
        said = opened(request, request.query_params.get("echostr", ""))
        return Response(said, media_type="text/plain")

    @app.post(PATH)
    async def take(request: Request) -> Response:
        length = request.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > LARGEST_REQUEST:
            return Response(status_code=413)
        try:
            bot.take(opened(request, bot.encrypted(await request.body())))
        except (msgspec.DecodeError, NotXmlError):
            return Response(status_code=400)
        # an empty body: the answer comes later
        return Response(media_type="text/plain")

    @app.get("/healthz")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    return app


async def run(core: Core, environment: Mapping[str, str]) -> None:
    """Answer until it is told to stop."""
    listen = environment.get(LISTEN) or AT
    host, _, port = listen.rpartition(":")
    if not port.isdecimal():
        raise UsageError(f"{LISTEN} is {listen!r}: expected an address and a port, as in {AT}")
    app = make_app(core, environment)
    config = uvicorn.Config(
        app, host=host, port=int(port), log_level="warning", server_header=False
    )
    await uvicorn.Server(config).serve()


async def check(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Say what is wrong with the secrets; WeCom checks those of the callback when it is saved."""
    try:
        envelope_of(environment)
    except UsageError as error:
        return (str(error),)
    if environment.get(CORP_ID):
        async with httpx.AsyncClient() as http:
            try:
                await AppCalls(environment, http).renew()
            except SendingError as error:
                return (f"{' and '.join(OF_APPLICATION)}: {error}",)
            except httpx.HTTPError as error:
                raise OSError(type(error).__name__) from error
    return ()
