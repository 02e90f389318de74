"""An application of WeCom: signed XML in, messages and files by its interface out."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
import struct
import time
from collections.abc import Iterator

import httpx
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from fastapi.testclient import TestClient

from trainrx.share.bots import _wecom_app, wecom
from trainrx.share.bots.core import Core
from trainrx.share.task import Task, TaskOutcome

SHARED, KEY, CORP = "QDG6eK", "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C", "ww5823bf96d3bd56c7"
SECRETS = {
    "WECOM_TOKEN": SHARED,
    "WECOM_ENCODING_AES_KEY": KEY,
    "WECOM_CORP_ID": CORP,
    "WECOM_AGENT_ID": "1000002",
    "WECOM_CORP_SECRET": "hush",
}
BOMB = (
    '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>'
    "<xml><MsgType>text</MsgType><Content>&c;</Content></xml>"
)
FILE = '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><xml><Content>&f;</Content></xml>'


class WeCom:
    """The side of WeCom, by its own description of the cipher: signs, encrypts, takes calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, object]]] = []
        self.refusals: list[int] = []
        self.tokens = self.count = 0

    def handle(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/cgi-bin/")
        if path == "gettoken":
            assert dict(request.url.params) == {"corpid": CORP, "corpsecret": "hush"}
            self.tokens += 1
            return httpx.Response(200, json={"errcode": 0, "access_token": f"T{self.tokens}"})
        assert request.url.params["access_token"] == f"T{self.tokens}"
        if self.refusals:
            return httpx.Response(200, json={"errcode": self.refusals.pop(0), "errmsg": "no"})
        is_file = path == "media/upload"
        named = re.search(rb'filename="([^"]+)"', request.content)
        said = {"name": named[1].decode()} if is_file and named else json.loads(request.content)
        self.calls.append((path, said))
        return httpx.Response(
            200, json={"errcode": 0, "msgid": f"M{len(self.calls)}", "media_id": "F1"}
        )

    def signed(
        self, said: str, receiver: str = CORP, at: float | None = None
    ) -> tuple[dict[str, str], str]:
        self.count += 1
        key, text = base64.b64decode(KEY + "="), said.encode()
        plain = b"r" * 16 + struct.pack("!I", len(text)) + text + receiver.encode()
        pad = 32 - len(plain) % 32
        cipher = Cipher(algorithms.AES(key), modes.CBC(key[:16])).encryptor()
        encrypted = base64.b64encode(cipher.update(plain + bytes([pad]) * pad) + cipher.finalize())
        timestamp, nonce = str(int(at or time.time())), f"n{self.count}"
        parts = sorted((SHARED, timestamp, nonce, encrypted.decode()))
        signature = hashlib.sha1("".join(parts).encode(), usedforsecurity=False).hexdigest()
        query = {"msg_signature": signature, "timestamp": timestamp, "nonce": nonce}
        return query, encrypted.decode()


class Asked:
    """The engine: says one thing, a longer one where it is asked again."""

    def __init__(self) -> None:
        self.tasks: list[Task] = []

    async def __call__(self, task: Task) -> TaskOutcome:
        self.tasks.append(task)
        message = "**显存不足**\n" + "- 依据\n" * (400 * (len(self.tasks) - 1))
        return TaskOutcome(json=b'{"asks": []}', message=message, whole="# all of it")


@pytest.fixture
def vendor() -> WeCom:
    return WeCom()


@pytest.fixture
def asked() -> Asked:
    return Asked()


@pytest.fixture
def bot(vendor: WeCom, asked: Asked, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    client = httpx.AsyncClient(transport=httpx.MockTransport(vendor.handle))
    monkeypatch.setattr(wecom.httpx, "AsyncClient", lambda: client)
    monkeypatch.setattr(_wecom_app, "WAITS", (0.0, 0.0))
    with TestClient(wecom.make_app(Core(asked, "wecom"), SECRETS)) as service:
        yield service


def _xml(number: int = 1, kind: str = "text", content: str = "卡住了 @all") -> str:
    return (
        f"<xml><ToUserName><![CDATA[{CORP}]]></ToUserName><FromUserName><![CDATA[li]]>"
        f"</FromUserName><CreateTime>1</CreateTime><MsgType><![CDATA[{kind}]]></MsgType>"
        f"<Content><![CDATA[{content}]]></Content><MsgId>{number}</MsgId><AgentID>2</AgentID></xml>"
    )


def _sent(bot: TestClient, vendor: WeCom, said: str, **more: str) -> int:
    query, encrypted = vendor.signed(said, **more)
    body = f"<xml><ToUserName>{CORP}</ToUserName><Encrypt><![CDATA[{encrypted}]]></Encrypt></xml>"
    return bot.post(wecom.PATH, params=query, content=body.encode()).status_code


def _settled(vendor: WeCom, count: int) -> None:
    until = time.monotonic() + 1.5
    while len(vendor.calls) < count and time.monotonic() < until:
        time.sleep(0.005)


def test_a_message_is_answered_with_a_file_and_the_next_answer_takes_its_place(
    bot: TestClient, vendor: WeCom, asked: Asked
) -> None:
    assert _sent(bot, vendor, _xml()) == 200
    _settled(vendor, 3)
    first = list(vendor.calls)
    # the same message again is a retry
    _sent(bot, vendor, _xml())
    _sent(bot, vendor, _xml(2, content="好的，是 ms-swift"))
    _settled(vendor, 8)

    assert [path for path, _ in first] == ["message/send", "media/upload", "message/send"]
    assert first[0][1] == {
        "touser": "li",
        "agentid": 1000002,
        "msgtype": "markdown",
        "markdown": {"content": "**显存不足**"},
    }
    assert first[1][1] == {"name": "diagnosis.md"}
    assert first[2][1]["file"] == {"media_id": "F1"}
    assert [said for _, said in vendor.calls[3:5]] == [{"msgid": "M1"}, {"msgid": "M3"}]
    texts = [said["markdown"]["content"] for _, said in vendor.calls[5:] if "markdown" in said]
    assert len(texts) > 1
    assert max(len(text.encode()) for text in texts) <= 2048
    assert len(asked.tasks) == 2
    assert asked.tasks[0].lang == "zh"


def test_the_address_is_verified_for_this_company_alone(bot: TestClient, vendor: WeCom) -> None:
    query, encrypted = vendor.signed("8517")
    other, other_encrypted = vendor.signed("8517", receiver="ww0000000000000000")

    said = bot.get(wecom.PATH, params=query | {"echostr": encrypted})
    refused = bot.get(wecom.PATH, params=other | {"echostr": other_encrypted})

    assert (said.status_code, said.content) == (200, b"8517")
    assert (refused.status_code, refused.text) == (403, "this is for another receiver")


def test_hostile_requests_are_refused_and_nothing_is_read_for_them(
    bot: TestClient, vendor: WeCom, asked: Asked
) -> None:
    def status(body: str) -> int:
        query, _ = vendor.signed("x")
        return bot.post(wecom.PATH, params=query, content=body.encode()).status_code

    outside = [status(body) for body in (BOMB, FILE, "<xml>", "{}", "", "<xml/>")]
    inside = [_sent(bot, vendor, said) for said in (BOMB, FILE, "<xml><MsgType>text")]
    others = [
        _sent(bot, vendor, _xml(9), receiver="ww0000000000000000"),
        _sent(bot, vendor, _xml(9), at=time.time() - 3600),
    ]

    assert outside == [400, 400, 400, 400, 400, 403]
    assert inside == [400, 400, 400]
    assert others == [403, 403]
    assert asked.tasks == []


def test_events_and_pictures_are_passed_over(bot: TestClient, vendor: WeCom, asked: Asked) -> None:
    assert [_sent(bot, vendor, _xml(n, kind)) for n, kind in enumerate(("event", "image"))] == [
        200,
        200,
    ]
    assert asked.tasks == []


def test_a_stale_token_is_fetched_anew_and_a_call_too_fast_is_made_again(
    bot: TestClient, vendor: WeCom
) -> None:
    vendor.refusals = [42001, 45009]

    _sent(bot, vendor, _xml())
    _settled(vendor, 3)

    assert vendor.tokens == 2
    assert len(vendor.calls) == 3


def test_a_secret_that_is_refused_is_told_without_saying_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_request: httpx.Request) -> httpx.Response:
        said = {"errcode": 40001, "errmsg": "invalid credential, hint: [1], from ip: 10.0.0.1"}
        return httpx.Response(200, json=said)

    client = httpx.AsyncClient(transport=httpx.MockTransport(refuse))
    monkeypatch.setattr(wecom.httpx, "AsyncClient", lambda: client)

    (told,) = asyncio.run(wecom.check(SECRETS))

    assert "WECOM_CORP_SECRET: WeCom: 40001 invalid credential" in told
    assert "hush" not in told
    lacking = {name: text for name, text in SECRETS.items() if name != "WECOM_AGENT_ID"}
    assert "WECOM_AGENT_ID" in asyncio.run(wecom.check(lacking))[0]
