"""The bot of Feishu against a server that speaks its long connection and open interface."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator, Mapping, Sized
from importlib import import_module

import pytest
import uvicorn
from fastapi import FastAPI, Request, Response, WebSocket

from trainrx.model.errors import UsageError
from trainrx.share.bots import feishu
from trainrx.share.bots.core import Core, Outgoing
from trainrx.share.bots.questions import Button
from trainrx.share.task import Task, TaskOutcome

ANSWER = TaskOutcome(json=b'{"asks": []}', message="**Out of memory**", whole="# all of it")
ASKING = TaskOutcome(
    json=b'{"asks": [{"id": "sharing", "what": "Shared?", "answer": "yes_no", "how": ""}]}',
    message="**Out of memory**",
    whole="# all of it",
    asked="sharing",
)


class Platform:
    """Feishu: hands out a connection, pushes frames, keeps messages and files."""

    def __init__(self) -> None:
        self.sockets: list[tuple[WebSocket, asyncio.AbstractEventLoop]] = []
        self.acknowledged: list[dict[str, object]] = []
        self.calls: list[tuple[str, str, dict[str, object]]] = []
        self.files: dict[str, bytes] = {}
        self.messages: dict[str, dict[str, object]] = {}
        self.scopes: list[str] = []
        self.refusals: dict[str, list[int]] = {}
        self.opened: list[str] = []
        self.is_open = True
        self.root = ""
        self.app = FastAPI()
        self._add_connection()
        self._add_interface()

    async def close(self) -> None:
        """Close the connection, and open none again; wait until the bot has noticed."""
        self.is_open = False
        opened = len(self.opened)
        socket, loop = self.sockets[-1]
        asyncio.run_coroutine_threadsafe(socket.close(), loop).result(1)
        await _more(self.opened, opened)

    def _add_connection(self) -> None:
        @self.app.post("/callback/ws/endpoint")
        async def endpoint(request: Request) -> dict[str, object]:
            self.opened.append((await request.json())["AppSecret"])
            if not self.is_open:
                return {"code": 1, "msg": "busy"}
            address = self.root.replace("http", "ws") + "/ws?device_id=1&service_id=2"
            times = {"ReconnectCount": -1, "ReconnectInterval": 1}
            config = times | {"ReconnectNonce": 0, "PingInterval": 120}
            return {"code": 0, "msg": "", "data": {"URL": address, "ClientConfig": config}}

        @self.app.websocket("/ws")
        async def connect(socket: WebSocket) -> None:
            from lark_oapi.ws.pb.pbbp2_pb2 import Frame

            await socket.accept()
            self.sockets.append((socket, asyncio.get_running_loop()))
            async for data in socket.iter_bytes():
                frame = Frame()
                frame.ParseFromString(data)
                if frame.method == 1:
                    self.acknowledged.append(json.loads(frame.payload))

    def _add_interface(self) -> None:
        @self.app.post("/open-apis/auth/v3/tenant_access_token/internal")
        async def token(request: Request) -> dict[str, object]:
            if "hidden" not in (await request.json()).values():
                return {"code": 10014, "msg": "app secret invalid"}
            return {"code": 0, "msg": "ok", "tenant_access_token": "t-1", "expire": 7200}

        @self.app.get("/open-apis/application/v6/scopes")
        async def scopes() -> dict[str, object]:
            found = [{"scope_name": name, "grant_status": 1} for name in self.scopes]
            return {"code": 0, "data": {"scopes": found}}

        @self.app.post("/open-apis/im/v1/files")
        async def upload(request: Request) -> dict[str, object]:
            async with request.form() as form:
                sent = {"name": form["file_name"], "data": await form["file"].read()}
            return self._called("POST", "files", sent)

        @self.app.get("/open-apis/im/v1/messages/{_message}/resources/{key}")
        async def resource(key: str) -> Response:
            if key not in self.files:
                return Response(b'{"code":234001,"msg":"invalid"}', 400)
            return Response(self.files[key], media_type="application/octet-stream")

        @self.app.api_route("/open-apis/im/v1/messages/{path:path}", methods=["POST", "PATCH"])
        async def write(request: Request, path: str) -> dict[str, object]:
            assert request.headers["authorization"] == "Bearer t-1"
            return self._called(request.method, path, await request.json())

        @self.app.delete("/open-apis/im/v1/messages/{path}")
        async def delete(path: str) -> dict[str, object]:
            return self._called("DELETE", path, {})

        @self.app.get("/open-apis/im/v1/messages/{path}")
        async def read(path: str) -> dict[str, object]:
            return {"code": 0, "data": {"items": [self.messages[path]]}}

    def _called(self, method: str, path: str, body: dict[str, object]) -> dict[str, object]:
        if self.refusals.get(method):
            return {"code": self.refusals[method].pop(), "msg": "refused"}
        self.calls.append((method, path, body))
        return {"code": 0, "data": {"message_id": f"om_{len(self.calls)}", "file_key": "file_1"}}

    def cards(self) -> list[tuple[str, str, dict[str, object]]]:
        """Give the cards that were sent and edited: how, where and what they hold."""
        return [
            (method, path, json.loads(str(body["content"])))
            for method, path, body in self.calls
            if "content" in body and body.get("msg_type") != "file"
        ]

    def push(self, event: Mapping[str, object]) -> None:
        """Push an event as the long connection does: a frame of protobuf around JSON."""
        from lark_oapi.ws.pb.pbbp2_pb2 import Frame

        frame = Frame(SeqID=1, LogID=1, service=2, method=1, payload=json.dumps(event).encode())
        named = {"type": "event", "message_id": "f1", "sum": "1", "seq": "0", "trace_id": "t"}
        for key, value in named.items():
            frame.headers.add(key=key, value=value)
        socket, loop = self.sockets[-1]
        sending = socket.send_bytes(frame.SerializeToString())
        asyncio.run_coroutine_threadsafe(sending, loop).result(1)


class Asked:
    """What the bot asks the engine."""

    def __init__(self, outcome: TaskOutcome) -> None:
        self.tasks: list[Task] = []
        self.outcome = outcome

    async def __call__(self, task: Task) -> TaskOutcome:
        self.tasks.append(task)
        return self.outcome


@pytest.fixture(scope="module")
def _sdk() -> None:
    """Load the SDK, which takes seconds, before a test begins."""
    # it makes a loop when it is loaded, which the bot has no use for
    import_module("lark_oapi.ws.client").loop.close()


@pytest.fixture
def platform(_sdk: None) -> Iterator[Platform]:
    found = Platform()
    server = uvicorn.Server(uvicorn.Config(found.app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.005)
    found.root = "http://127.0.0.1:" + str(server.servers[0].sockets[0].getsockname()[1])
    yield found
    server.should_exit = True
    thread.join(2)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feishu, "AFTER_RESPONSE", 0.02)
    monkeypatch.setattr("trainrx.share.bots._feishu_calls.WAITS", (0.01, 0.01))


def _environment(platform: Platform, shown: str = "hidden") -> dict[str, str]:
    # the SDK keeps tokens by the id of the app
    ident = f"cli_{platform.root.rpartition(':')[2]}_{shown}"
    return {"FEISHU_APP_ID": ident, "FEISHU_APP_SECRET": shown, "FEISHU_DOMAIN": platform.root}


def _message(kind: str, content: object, **more: object) -> dict[str, object]:
    message = {
        "message_id": "om_user1",
        "chat_id": "oc_1",
        "chat_type": "group",
        "message_type": kind,
        "content": json.dumps(content),
        "create_time": "1609073151345",
    }
    sender = {"sender_id": {"open_id": "ou_1"}, "sender_type": "user", "tenant_key": "k"}
    header = {"event_id": "e1", "event_type": "im.message.receive_v1", "token": "", "app_id": "a"}
    event = {"sender": sender, "message": message | more}
    return {"schema": "2.0", "header": header, "event": event}


def _press(shown: str, value: object) -> dict[str, object]:
    header = {"event_id": "e2", "event_type": "card.action.trigger", "token": "", "app_id": "a"}
    event = {
        "operator": {"open_id": "ou_2"},
        "token": "c-1",
        "action": {"value": value, "tag": "button"},
        "host": "im_message",
        "context": {"open_message_id": shown, "open_chat_id": "oc_1"},
    }
    return {"schema": "2.0", "header": header, "event": event}


async def _more(held: Sized, than: int) -> None:
    for _ in range(400):
        if len(held) > than:
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it did not come")


def _talk(platform: Platform, asked: Asked, *events: tuple[dict[str, object], int]) -> None:
    """Run the bot as `diagnose bot feishu` does; push events, each until so many calls came."""

    async def talk() -> None:
        bot = asyncio.create_task(feishu.run(Core(asked, "feishu"), _environment(platform)))
        await _more(platform.sockets, 0)
        for event, calls in events:
            acknowledged, called = len(platform.acknowledged), len(platform.calls)
            platform.push(event)
            await _more(platform.acknowledged, acknowledged)
            await _more(platform.calls, called + calls - 1)
        await platform.close()
        bot.cancel()
        await asyncio.wait((bot,), timeout=1)
        assert bot.done()

    asyncio.run(talk())


def test_a_text_is_answered_by_a_card_and_the_whole_answer_as_a_file(platform: Platform) -> None:
    asked = Asked(ANSWER)

    _talk(platform, asked, (_message("text", {"text": "@_user_1 CUDA out of memory"}), 3))

    assert asked.tasks[0].files[0].data == b"CUDA out of memory"
    assert platform.acknowledged[0]["code"] == 200
    elements = [{"tag": "markdown", "content": "**Out of memory**"}]
    card = {"schema": "2.0", "config": {"update_multi": True}, "body": {"elements": elements}}
    assert platform.cards() == [("POST", "om_user1/reply", card)]
    assert platform.calls[0][2]["uuid"] == "om_user1"
    assert platform.calls[1][2] == {"name": "diagnosis.md", "data": b"# all of it"}
    assert platform.calls[2][2]["content"] == '{"file_key":"file_1"}'


def test_a_button_is_acknowledged_first_and_then_the_card_is_edited(platform: Platform) -> None:
    asked = Asked(ASKING)
    value = {"thread": "oc_1:ou_1", "question": "sharing", "value": "yes"}

    _talk(
        platform,
        asked,
        (_message("text", {"text": "CUDA out of memory"}), 3),
        (_press("om_1", value), 4),
    )

    yes = platform.cards()[0][2]["body"]["elements"][1]
    assert yes["behaviors"] == [{"type": "callback", "value": value}]
    assert asked.tasks[1].answers == {"sharing": "yes"}
    assert platform.cards()[1][:2] == ("PATCH", "om_1")
    assert ("DELETE", "om_3", {}) in platform.calls
    assert "data" in platform.acknowledged[1]


def test_a_message_that_is_delivered_again_is_answered_once(platform: Platform) -> None:
    asked = Asked(ANSWER)
    event = _message("text", {"text": "CUDA out of memory"})
    other = _message("text", {"text": "more"}, message_id="om_user2")

    _talk(platform, asked, (event, 3), (event, 0), (other, 4))

    assert len(asked.tasks) == 2
    assert [card[0] for card in platform.cards()] == ["POST", "PATCH"]


def test_a_post_that_replies_to_a_file_is_read_with_the_file(platform: Platform) -> None:
    asked = Asked(ANSWER)
    platform.files["file_v2"] = b'{"code": 1}\n' * 1000
    content = json.dumps({"file_key": "file_v2", "file_name": "train.log"})
    body = {"content": content}
    platform.messages["om_file"] = {"message_id": "om_file", "msg_type": "file", "body": body}
    lines = [[{"tag": "at", "user_id": "@_user_1"}, {"tag": "text", "text": "why "}]]
    lines += [[{"tag": "code_block", "text": "torchrun x.py"}], [{"tag": "img", "image_key": "i"}]]

    post = {"title": "Help", "content": lines}
    _talk(platform, asked, (_message("post", post, parent_id="om_file"), 3))

    assert [(file.name, file.data) for file in asked.tasks[0].files] == [
        ("train.log", platform.files["file_v2"]),
        ("message.md", b"Help\nwhy \ntorchrun x.py"),
    ]


def test_a_file_that_cannot_be_had_is_named(platform: Platform) -> None:
    content = {"file_key": "gone", "file_name": "train.log"}

    _talk(platform, Asked(ANSWER), (_message("file", content), 1))

    assert "train.log" in str(platform.cards()[0])


def test_a_call_that_came_too_fast_is_made_again_and_a_card_that_is_gone_is_sent_anew(
    platform: Platform,
) -> None:
    platform.refusals = {"POST": [99991400, 99991400], "PATCH": [230011]}
    first = _message("text", {"text": "CUDA out of memory"})
    second = _message("text", {"text": "more of it"}, message_id="om_user2")

    _talk(platform, Asked(ANSWER), (first, 3), (second, 4))

    sent = [card[:2] for card in platform.cards()]
    assert sent == [("POST", "om_user1/reply"), ("POST", "om_user2/reply")]


def test_a_card_is_never_larger_than_what_is_taken_and_its_blocks_end() -> None:
    lines = ["**Verdict**", "```", *['"日志\\" ' * 20] * 400, "```"]
    buttons = tuple(Button(question="q", value=str(n), label="x" * 80) for n in range(9))

    card = feishu.card_of(Outgoing(thread="t", text="\n".join(lines), buttons=buttons))

    elements = json.loads(card)["body"]["elements"]
    assert 20_000 < len(json.dumps({"content": card}, ensure_ascii=False).encode()) <= 30_000
    assert len(elements) == 10
    assert elements[0]["content"].count("```") == 2
    assert elements[0]["content"].endswith("```")


def test_what_an_app_may_not_do_is_named(platform: Platform) -> None:
    platform.scopes = [name for name in feishu.PERMISSIONS if name != "im:resource"]

    assert asyncio.run(feishu.check(_environment(platform))) == ("permission im:resource",)
    refused = asyncio.run(feishu.check(_environment(platform, shown="wrong")))
    assert "app secret invalid" in refused[0]


def test_a_missing_secret_is_named() -> None:
    with pytest.raises(UsageError, match="FEISHU_APP_SECRET"):
        feishu.client_of({"FEISHU_APP_ID": "x"})
