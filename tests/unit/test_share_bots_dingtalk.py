"""The robot of DingTalk against a gateway that speaks the Stream protocol on this machine."""

from __future__ import annotations

import asyncio
import io
import json
import threading
import time
import zipfile
from collections.abc import Iterator, Sized

import dingtalk_stream
import pytest
import uvicorn
from fastapi import FastAPI, HTTPException, Request, Response, WebSocket

from trainrx.model.errors import UsageError
from trainrx.share.bots import dingtalk
from trainrx.share.bots.core import Core, Incoming
from trainrx.share.task import Task, TaskOutcome

SECRETS = {"DINGTALK_CLIENT_ID": "ding1", "DINGTALK_CLIENT_SECRET": "hidden"}
TOPIC = "/v1.0/im/bot/messages/get"
ASKS = (
    b'{"asks": [{"id": "sharing", "what": "Does another job use the card?", "answer": "yes_no",'
    b' "how": ""}]}'
)


class Gateway:
    """DingTalk: opens connections, pushes messages, gives files and takes answers."""

    def __init__(self) -> None:
        self.opened: list[dict[str, object]] = []
        self.acknowledged: dict[str, dict[str, object]] = {}
        self.posted: list[dict[str, object]] = []
        self.refusals: list[int] = []
        self.downloads: list[tuple[str, dict[str, object]]] = []
        self.files: dict[str, bytes] = {}
        self.uploaded: list[tuple[str, str, bytes]] = []
        self.attached: list[tuple[str, str, dict[str, object]]] = []
        self.sockets: list[tuple[WebSocket, asyncio.AbstractEventLoop]] = []
        self.root = ""
        self.may_attach = True
        self.attempts: list[str] = []
        self.app = FastAPI()
        self._add_gateway()
        self._add_robot()

    def _add_gateway(self) -> None:
        @self.app.post("/v1.0/gateway/connections/open")
        async def connections(request: Request) -> dict[str, str]:
            self.opened.append(await request.json())
            return {"endpoint": self.root.replace("http", "ws") + "/connect", "ticket": "t/1="}

        @self.app.websocket("/connect")
        async def connect(socket: WebSocket) -> None:
            assert socket.query_params["ticket"] == "t/1="
            await socket.accept()
            self.sockets.append((socket, asyncio.get_running_loop()))
            async for text in socket.iter_text():
                said = json.loads(text)
                self.acknowledged[said["headers"]["messageId"]] = said

    def _add_robot(self) -> None:
        @self.app.post("/v1.0/oauth2/accessToken")
        async def token(request: Request) -> dict[str, object]:
            if await request.json() != {"appKey": "ding1", "appSecret": "hidden"}:
                raise HTTPException(400, "invalidClientIdOrSecret")
            return {"accessToken": "access", "expireIn": 7200}

        @self.app.post("/v1.0/robot/messageFiles/download")
        async def download(request: Request) -> dict[str, str]:
            asked = await request.json()
            token = request.headers["x-acs-dingtalk-access-token"]
            self.downloads.append((token, asked))
            return {"downloadUrl": f"{self.root}/files/{asked['downloadCode']}"}

        @self.app.get("/files/{code}")
        async def file(code: str) -> Response:
            found = self.files.get(code)
            return Response(status_code=404) if found is None else Response(found)

        @self.app.post("/media/upload")
        async def upload(request: Request) -> dict[str, object]:
            assert ("access_token", "access") in request.query_params.items()
            async with request.form() as form:
                media = form["media"]
                assert not isinstance(media, str)
                name = media.filename or ""
                if not name.endswith((".zip", ".pdf", ".rar", ".doc", ".docx", ".xlsx", ".pptx")):
                    return {"errcode": 40000, "errmsg": "the type of the file is not supported"}
                self.uploaded.append((str(form["type"]), name, await media.read()))
            return {"errcode": 0, "errmsg": "ok", "media_id": "@media", "type": "file"}

        @self.app.post("/v1.0/robot/{path:path}")
        async def attach(path: str, request: Request) -> dict[str, str]:
            token = request.headers["x-acs-dingtalk-access-token"]
            self.attempts.append(path)
            if not self.may_attach:
                raise HTTPException(403, "Forbidden.AccessDenied.AccessTokenPermissionDenied")
            self.attached.append((path, token, await request.json()))
            return {"processQueryKey": "key"}

        @self.app.post("/robot/sendBySession")
        async def send(request: Request) -> dict[str, object]:
            if self.refusals:
                return {"errcode": self.refusals.pop(), "errmsg": "send too fast"}
            self.posted.append(await request.json())
            return {"errcode": 0, "errmsg": "ok"}

    def push(self, number: int, **more: object) -> None:
        """Push a message as the gateway does, its data a text of JSON."""
        data = {
            "conversationId": "cid1",
            "chatbotUserId": "$:LWCP_v1:$bot",
            "msgId": f"msg{number}",
            "senderNick": "user",
            "senderStaffId": "s1",
            "senderId": "$:LWCP_v1:$user",
            "sessionWebhookExpiredTime": 1795290236983,
            "conversationType": "2",
            "isInAtList": True,
            "sessionWebhook": f"{self.root}/robot/sendBySession?session=1",
            "robotCode": "ding1",
            "msgtype": "text",
            "text": {"content": " CUDA out of memory "},
        }
        frame = {
            "specVersion": "1.0",
            "type": "CALLBACK",
            "headers": {
                "appId": "a",
                "connectionId": "c",
                "contentType": "application/json",
                "messageId": f"frame{number}",
                "time": "1690362102194",
                "topic": TOPIC,
            },
            "data": json.dumps(data | more),
        }
        socket, loop = self.sockets[-1]
        asyncio.run_coroutine_threadsafe(socket.send_text(json.dumps(frame)), loop).result(1)


class Asked:
    """What the robot asks the engine."""

    def __init__(self, outcome: TaskOutcome) -> None:
        self.tasks: list[Task] = []
        self.outcome = outcome

    async def __call__(self, task: Task) -> TaskOutcome:
        self.tasks.append(task)
        return self.outcome


ANSWER = TaskOutcome(
    json=b'{"asks": []}', message="**Out of memory** in the backward\n\nmore", whole="w"
)
ASKING = TaskOutcome(json=ASKS, message="**Out of memory**", whole="w", asked="sharing")


@pytest.fixture
def gateway(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gateway]:
    """Serve a gateway of this machine, and let the SDK of the vendor call it."""
    found = Gateway()
    server = uvicorn.Server(uvicorn.Config(found.app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.005)
    found.root = "http://127.0.0.1:" + str(server.servers[0].sockets[0].getsockname()[1])
    opening = f"{found.root}/v1.0/gateway/connections/open"
    monkeypatch.setattr(dingtalk_stream.DingTalkStreamClient, "OPEN_CONNECTION_API", opening)
    monkeypatch.setattr(dingtalk, "UPLOAD", f"{found.root}/media/upload")
    monkeypatch.setattr(dingtalk_stream.utils, "DINGTALK_OPENAPI_ENDPOINT", found.root)
    for module in (dingtalk_stream.stream, dingtalk_stream.chatbot):
        monkeypatch.setattr(module, "DINGTALK_OPENAPI_ENDPOINT", found.root)
    yield found
    server.should_exit = True
    thread.join(2)


async def _more(held: Sized, than: int) -> None:
    for _ in range(300):
        if len(held) > than:
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it did not come")


def _talk(gateway: Gateway, asked: Asked, *messages: dict[str, object]) -> None:
    """Run the robot as `diagnose bot dingtalk` does, and push messages one after another."""

    async def talk() -> None:
        robot = asyncio.create_task(dingtalk.run(Core(asked, "dingtalk"), SECRETS))
        await _more(gateway.sockets, 0)
        for number, message in enumerate(messages, 1):
            acknowledged, posted = len(gateway.acknowledged), len(gateway.posted)
            gateway.push(number, **message)
            await _more(gateway.acknowledged, acknowledged)
            await _more(gateway.posted, posted - ("again" in message))
        await _more(gateway.attempts, len(asked.tasks) - 1)
        robot.cancel()
        await asyncio.wait((robot,), timeout=1)
        assert robot.done()

    asyncio.run(talk())


def test_a_text_is_acknowledged_and_answered_as_markdown_without_mentioning_anybody(
    gateway: Gateway,
) -> None:
    asked = Asked(ANSWER)

    _talk(gateway, asked, {})

    assert gateway.opened[0]["clientId"] == "ding1"
    assert gateway.opened[0]["subscriptions"] == [{"type": "CALLBACK", "topic": TOPIC}]
    assert gateway.acknowledged["frame1"]["code"] == 200
    assert asked.tasks[0].files[0].data == b"CUDA out of memory"
    title = "Out of memory in the backward"
    assert gateway.posted == [
        {"msgtype": "markdown", "markdown": {"title": title, "text": ANSWER.message}}
    ]


@pytest.mark.parametrize(
    ("kind", "path", "target"),
    [
        ("1", "oToMessages/batchSend", {"userIds": ["s1"]}),
        ("2", "groupMessages/send", {"openConversationId": "cid1"}),
    ],
)
def test_the_whole_answer_follows_as_an_archive(
    gateway: Gateway, kind: str, path: str, target: dict[str, object]
) -> None:
    _talk(gateway, Asked(ANSWER), {"conversationType": kind})

    ((sort, name, data),) = gateway.uploaded
    assert (sort, name) == ("file", "diagnosis.zip")
    assert zipfile.ZipFile(io.BytesIO(data)).read("diagnosis.md") == b"w"
    ((where, token, body),) = gateway.attached
    assert (where, token, body["robotCode"], body["msgKey"]) == (
        *(path, "access"),
        *("ding1", "sampleFile"),
    )
    assert json.loads(str(body["msgParam"])) == {
        "mediaId": "@media",
        "fileName": "diagnosis.zip",
        "fileType": "zip",
    }
    assert target.items() <= body.items()


def test_an_answer_is_given_where_the_robot_may_send_no_file(
    gateway: Gateway, caplog: pytest.LogCaptureFixture
) -> None:
    gateway.may_attach = False
    asked = Asked(ANSWER)

    _talk(gateway, asked, {}, {"msgId": "msg1", "again": True}, {})

    assert len(asked.tasks) == len(gateway.posted) == 2
    assert "not attached: HTTPStatusError" in caplog.text


def test_a_message_that_is_pushed_again_is_answered_once(gateway: Gateway) -> None:
    asked = Asked(ANSWER)

    _talk(gateway, asked, {}, {"msgId": "msg1", "again": True}, {})

    assert len(asked.tasks) == len(gateway.posted) == 2


def test_a_file_is_fetched_by_its_code_and_rich_text_is_read(gateway: Gateway) -> None:
    asked = Asked(ANSWER)
    gateway.files["code1"] = b"step 1 loss 0.3\n" * 100
    rich = [{"text": "@trainrx"}, {"text": "OOM again"}, {"type": "picture", "downloadCode": "p"}]

    _talk(
        gateway,
        asked,
        {"msgtype": "file", "content": {"fileName": "train.log", "downloadCode": "code1"}},
        {"msgtype": "richText", "content": {"richText": rich}},
    )

    assert gateway.downloads == [("access", {"robotCode": "ding1", "downloadCode": "code1"})]
    assert [(file.name, file.data) for file in asked.tasks[1].files] == [
        ("train.log", gateway.files["code1"]),
        ("message-2.md", b"@trainrx\nOOM again"),
    ]


def test_a_file_that_cannot_be_had_is_named(gateway: Gateway) -> None:
    content = {"fileName": "train.log", "downloadCode": "gone"}

    _talk(
        gateway,
        Asked(ANSWER),
        {"msgtype": "file", "content": content},
    )

    assert "train.log" in gateway.posted[0]["markdown"]["text"]


def test_a_question_is_answered_by_pressing_a_link_that_sends_the_reply(gateway: Gateway) -> None:
    asked = Asked(ASKING)

    _talk(gateway, asked, {}, {"text": {"content": "yes"}})

    text = gateway.posted[0]["markdown"]["text"]
    assert "[Yes](dtmd://dingtalkclient/sendMessage?content=yes)" in text
    assert asked.tasks[1].answers == {"sharing": "yes"}


@pytest.mark.parametrize(("size", "pressed"), [(100, True), (19_990, False)])
def test_links_that_reply_are_left_out_where_they_do_not_fit(size: int, *, pressed: bool) -> None:
    outcome = TaskOutcome(json=ASKS, message="x" * size, asked="sharing")
    core = Core(Asked(outcome), "dingtalk")
    incoming = Incoming(thread="t", message="m", text="CUDA out of memory")

    text = dingtalk._with_replies(asyncio.run(core.handle(incoming)))

    assert ("dtmd:" in text) is pressed
    assert len(text.encode()) <= 20_000


def test_an_answer_that_came_too_fast_is_sent_again(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dingtalk, "WAITS", (0.0, 0.0))
    gateway.refusals = [130101, 130101]
    asked = Asked(ANSWER)

    _talk(gateway, asked, {})

    assert len(gateway.posted) == len(asked.tasks) == 1


@pytest.mark.parametrize("missing", list(SECRETS))
def test_a_missing_secret_is_named(missing: str) -> None:
    with pytest.raises(UsageError, match=missing):
        dingtalk.client_of({name: "x" for name in SECRETS if name != missing})


def test_secrets_that_are_refused_are_told(gateway: Gateway) -> None:
    assert gateway.root

    assert asyncio.run(dingtalk.check(SECRETS)) == ()
    refused = asyncio.run(dingtalk.check(SECRETS | {"DINGTALK_CLIENT_SECRET": "other"}))
    assert refused[0].startswith("DINGTALK_CLIENT_ID and DINGTALK_CLIENT_SECRET: no access token")
