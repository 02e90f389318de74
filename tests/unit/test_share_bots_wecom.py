"""The bot of WeCom: real encrypted requests in, an answer to the address of each message out."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator

import httpx
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.padding import PKCS7
from fastapi.testclient import TestClient

from trainrx.model.errors import UsageError
from trainrx.share.bots import wecom
from trainrx.share.bots._wecom_crypto import Envelope, Signed
from trainrx.share.bots.core import Core
from trainrx.share.task import Task, TaskOutcome

SHARED, KEY = "QDG6eK", "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C"
SECRETS = {"WECOM_TOKEN": SHARED, "WECOM_ENCODING_AES_KEY": KEY}
ADDRESS = "https://qyapi.weixin.qq.com/cgi-bin/aibot/response?response_code=abc"
FILE = "https://ww-aibot-file.cos.myqcloud.com/1"


class Vendor:
    """The side of WeCom: encrypts what is sent, and takes what the bot posts."""

    def __init__(self) -> None:
        self.envelope = Envelope(SHARED, KEY)
        self.posted: list[tuple[str, dict[str, object]]] = []
        self.files: dict[str, bytes] = {}
        self.count = 0
        self.says: dict[str, object] = {"errcode": 0, "errmsg": "ok"}
        self.refusals: list[dict[str, object]] = []

    def handle(self, request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            self.posted.append((str(request.url), json.loads(request.content)))
            return httpx.Response(200, json=self.refusals.pop() if self.refusals else self.says)
        if str(request.url) not in self.files:
            return httpx.Response(404)
        named = {"content-disposition": 'attachment; filename="train.log"'}
        return httpx.Response(200, content=self.files[str(request.url)], headers=named)

    def signed(self, said: bytes, at: float | None = None) -> tuple[dict[str, str], str]:
        self.count += 1
        timestamp, nonce = str(int(at or time.time())), f"nonce-{self.count}"
        sealed = self.envelope.sealed(said, timestamp, nonce)
        signature = str(sealed["msgsignature"])
        query = {"msg_signature": signature, "timestamp": timestamp, "nonce": nonce}
        return query, str(sealed["encrypt"])


class Asked:
    """What the bot asks the engine, answered with the names of what was sent."""

    def __init__(self) -> None:
        self.tasks: list[Task] = []

    async def __call__(self, task: Task) -> TaskOutcome:
        self.tasks.append(task)
        return TaskOutcome(json=b'{"asks": []}', message="**out of memory**: " + task.files[0].name)


@pytest.fixture
def vendor() -> Vendor:
    return Vendor()


@pytest.fixture
def asked() -> Asked:
    return Asked()


@pytest.fixture
def bot(vendor: Vendor, asked: Asked, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    transport = httpx.MockTransport(vendor.handle)
    client = httpx.AsyncClient(transport=transport)
    monkeypatch.setattr(wecom.httpx, "AsyncClient", lambda: client)
    with TestClient(wecom.make_app(Core(asked, "wecom"), SECRETS)) as service:
        yield service


def _message(number: int = 1, **more: object) -> bytes:
    said = {
        "msgid": f"m{number}",
        "aibotid": "aib1",
        "chattype": "single",
        "from": {"userid": "u1"},
        "response_url": ADDRESS,
        "msgtype": "text",
        "text": {"content": "CUDA out of memory"},
    }
    return json.dumps(said | more).encode()


def _sent(bot: TestClient, vendor: Vendor, said: bytes) -> httpx.Response:
    query, encrypted = vendor.signed(said)
    return bot.post(wecom.PATH, params=query, json={"encrypt": encrypted})


def _settled(vendor: Vendor, count: int = 1) -> None:
    until = time.monotonic() + 1.5
    while len(vendor.posted) < count and time.monotonic() < until:
        time.sleep(0.005)


def test_a_text_is_acknowledged_at_once_and_answered_by_its_address(
    bot: TestClient, vendor: Vendor, asked: Asked
) -> None:
    response = _sent(bot, vendor, _message())
    _settled(vendor)

    assert (response.status_code, response.content) == (200, b"")
    text = "**out of memory**: message.md"
    assert vendor.posted == [(ADDRESS, {"msgtype": "markdown", "markdown": {"content": text}})]
    assert asked.tasks[0].platform == "wecom"
    assert asked.tasks[0].files[0].data == b"CUDA out of memory"


def test_the_address_of_the_bot_is_verified_with_what_was_encrypted(
    bot: TestClient, vendor: Vendor
) -> None:
    query, encrypted = vendor.signed(b"1616140317555161061")

    response = bot.get(wecom.PATH, params=query | {"echostr": encrypted})

    assert (response.status_code, response.content) == (200, b"1616140317555161061")


def test_what_is_forged_old_sent_again_or_no_request_is_refused(
    bot: TestClient, vendor: Vendor, asked: Asked
) -> None:
    query, encrypted = vendor.signed(_message())
    old, old_encrypted = vendor.signed(_message(2), at=time.time() - 3600)

    def status(given: dict[str, str], content: bytes) -> int:
        return bot.post(wecom.PATH, params=given, content=content).status_code

    body, old_body = (json.dumps({"encrypt": one}).encode() for one in (encrypted, old_encrypted))
    refused = [
        status(query | {"msg_signature": "0" * 40}, body),
        status(query | {"nonce": "other"}, body),
        status({}, body),
        status(old, old_body),
    ]
    accepted = status(query, body)
    again = status(query, body)
    odd = [status(query, b"{}"), status(query, b"\xff"), status(query, b"x" * 300_000)]

    assert refused == [403] * 4
    assert (accepted, again) == (200, 403)
    assert odd == [403, 400, 413]
    _settled(vendor)
    assert len(asked.tasks) == len(vendor.posted) == 1


def test_a_message_that_is_delivered_twice_is_answered_once(
    bot: TestClient, vendor: Vendor, asked: Asked
) -> None:
    _sent(bot, vendor, _message())
    _sent(bot, vendor, _message())
    _settled(vendor)
    _sent(bot, vendor, _message(2))
    _settled(vendor, 2)

    assert len(vendor.posted) == len(asked.tasks) == 2


def test_a_file_is_fetched_decrypted_and_read_with_what_is_quoted(
    bot: TestClient, vendor: Vendor, asked: Asked
) -> None:
    padder = PKCS7(256).padder()
    encryptor = Cipher(
        algorithms.AES(vendor.envelope._key), modes.CBC(vendor.envelope._key[:16])
    ).encryptor()
    log = b"loss 0.1\n" * 1000
    vendor.files[FILE] = encryptor.update(padder.update(log) + padder.finalize())

    quote = {"msgtype": "file", "file": {"url": FILE}}
    text = {"content": "@trainrx why?"}
    _sent(bot, vendor, _message(chattype="group", chatid="wr1", text=text, quote=quote))
    _settled(vendor)

    read = [(file.name, file.data) for file in asked.tasks[0].files]
    assert read == [("train.log", log), ("message.md", b"why?")]


def test_a_file_that_cannot_be_had_is_named(bot: TestClient, vendor: Vendor) -> None:
    mixed = {
        "msg_item": [
            {"msgtype": "text", "text": {"content": "see the file"}},
            {"msgtype": "file", "file": {"url": FILE}},
            {"msgtype": "image", "image": {"url": FILE}},
        ]
    }
    _sent(bot, vendor, _message(msgtype="mixed", mixed=mixed))
    _settled(vendor)

    assert "Not read, too large or out of reach: file 2" in str(vendor.posted)


def test_events_and_refreshes_are_passed_over(
    bot: TestClient, vendor: Vendor, asked: Asked
) -> None:
    for said in (
        {"msgtype": "event", "event": {"eventtype": "enter_chat"}},
        {"msgtype": "stream", "stream": {"id": "1"}},
        {"response_url": ""},
    ):
        assert _sent(bot, vendor, _message(**said)).status_code == 200

    assert not asked.tasks


def test_an_answer_that_is_not_taken_is_logged_without_what_was_written(
    bot: TestClient, vendor: Vendor, caplog: pytest.LogCaptureFixture
) -> None:
    vendor.says = {"errcode": 60140, "errmsg": "the address was used"}

    _sent(bot, vendor, _message())
    _settled(vendor)
    bot.get("/healthz")

    assert "60140 the address was used" in caplog.text
    assert "CUDA" not in caplog.text
    assert len(vendor.posted) == 1


def test_an_answer_that_came_too_fast_is_sent_again(
    bot: TestClient, vendor: Vendor, caplog: pytest.LogCaptureFixture, monkeypatch
) -> None:
    monkeypatch.setattr(wecom, "WAITS", (0.0, 0.0))
    vendor.refusals = [{"errcode": 45009, "errmsg": "api freq out of limit"}] * 2

    _sent(bot, vendor, _message())
    for _ in range(200):
        if len(vendor.posted) == 3:
            break
        time.sleep(0.01)
    bot.get("/healthz")

    assert len(vendor.posted) == 3
    assert caplog.text == ""


def test_a_missing_secret_is_named() -> None:
    with pytest.raises(UsageError, match="WECOM_ENCODING_AES_KEY"):
        wecom.envelope_of({"WECOM_TOKEN": SHARED})

    envelope = wecom.envelope_of({"WECOM_TOKEN": SHARED, "WECOM_ENCODING_AES_KEY": KEY})
    sealed = envelope.sealed(b"x", str(int(time.time())), "n")
    signed = Signed(
        signature=str(sealed["msgsignature"]), timestamp=str(sealed["timestamp"]), nonce="n"
    )
    assert Envelope(SHARED, KEY).opened(signed, str(sealed["encrypt"])) == b"x"


def test_secrets_and_addresses_that_are_none_are_told() -> None:
    assert asyncio.run(wecom.check(SECRETS)) == ()
    told = asyncio.run(wecom.check(SECRETS | {"WECOM_ENCODING_AES_KEY": "short"}))
    assert "EncodingAESKey" in told[0]
    with pytest.raises(UsageError, match="WECOM_LISTEN"):
        asyncio.run(wecom.run(Core(Asked(), "wecom"), SECRETS | {"WECOM_LISTEN": "here"}))
