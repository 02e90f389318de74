"""The bot in Slack, against a server of 127.0.0.1 that speaks the Web API and Socket Mode."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager

import pytest
from aiohttp import WSMsgType, web

from trainrx.share.bots.core import Core
from trainrx.share.bots.slack import SCOPES, check, client_of, connect, plain
from trainrx.share.task import TaskOutcome

BOT, APP = "xoxb-1", "xapp-1"
ASK = {"id": "oom.growing", "what": "Does it grow?", "how": "", "answer": "yes_no"}


class Workspace:
    """Slack: what it was asked, and the connection it sends events over."""

    def __init__(self, scopes=SCOPES):
        self.scopes, self.calls, self.acknowledged = scopes, [], []
        self.limited = 0
        self.changed = asyncio.Event()
        self.socket: asyncio.Future = asyncio.get_running_loop().create_future()
        self.app = web.Application()
        self.app.router.add_route("*", "/api/{method}", self.api)
        self.app.router.add_get("/link", self.link)
        self.app.router.add_get("/files/{name}", self.file)
        self.app.router.add_post("/upload", self.upload)
        self.url = ""

    async def api(self, request):
        method = request.match_info["method"]
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        is_json = request.content_type == "application/json"
        said = await request.json() if is_json else {**request.query, **(await request.post())}
        if token != (APP if method == "apps.connections.open" else BOT):
            return web.json_response({"ok": False, "error": "invalid_auth"})
        if method == "chat.postMessage" and self.limited:
            self.limited -= 1
            return web.Response(status=429, headers={"Retry-After": "0"})
        self.calls.append((method, said))
        self.changed.set()
        headers = {"x-oauth-scopes": ",".join(self.scopes)}
        return web.json_response({"ok": True, **self.answer(method)}, headers=headers)

    def answer(self, method):
        return {
            "auth.test": {"user_id": "UBOT", "bot_id": "BBOT", "team_id": "T1", "url": self.url},
            "apps.connections.open": {"url": self.url.replace("http", "ws") + "/link"},
            "chat.postMessage": {"ts": f"9.{len(self.calls)}", "channel": "C1"},
            "files.getUploadURLExternal": {"upload_url": self.url + "/upload", "file_id": "F9"},
            "files.completeUploadExternal": {"files": [{"id": "F9"}]},
        }.get(method, {})

    async def link(self, request):
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json({"type": "hello", "num_connections": 1})
        self.socket.set_result(socket)
        async for message in socket:
            if message.type == WSMsgType.TEXT:
                self.acknowledged.append(json.loads(message.data)["envelope_id"])
                self.changed.set()
        return socket

    async def file(self, request):
        if request.headers.get("Authorization") != f"Bearer {BOT}":
            return web.HTTPFound("/login")
        return web.Response(body=b"CUDA out of memory")

    async def upload(self, request):
        await request.read()
        return web.Response(text="OK - 1")

    async def send(self, envelope, kind, payload, **more):
        about = {"envelope_id": envelope, "type": kind, "accepts_response_payload": False}
        await (await self.socket).send_json({**about, "payload": payload, **more})

    async def event(self, envelope, event, **more):
        payload = {"type": "event_callback", "team_id": "T1", "event_id": "Ev1", "event": event}
        await self.send(envelope, "events_api", {**payload, "api_app_id": "A1"}, **more)

    async def press(self, envelope, button, ts):
        message = {"ts": ts, "thread_ts": "1.0"}
        action = {**button, "type": "button", "action_ts": envelope, "block_id": "b"}
        channel, user = {"id": "C1"}, {"id": "U1"}
        payload = {"type": "block_actions", "team": {"id": "T1"}, "user": user, "channel": channel}
        await self.send(
            envelope, "interactive", {**payload, "message": message, "actions": [action]}
        )

    def of(self, method):
        return [said for name, said in self.calls if name == method]

    async def until(self, method, number=1):
        await self._so_many(lambda: self.of(method), number)
        return self.of(method)[number - 1]

    async def until_acknowledged(self, number):
        await self._so_many(lambda: self.acknowledged, number)

    async def _so_many(self, found, number):
        while len(found()) < number:
            self.changed.clear()
            await asyncio.wait_for(self.changed.wait(), 5)


@asynccontextmanager
async def workspace(**more):
    found = Workspace(**more)
    runner = web.AppRunner(found.app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    found.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield found
    finally:
        await runner.cleanup()


@asynccontextmanager
async def bot(**more):
    """Give a workspace a bot is in, and what that was asked."""
    tasks = []

    async def answer(task):
        tasks.append(task)
        asks = [] if task.answers else [ASK]
        said, asked = json.dumps({"asks": asks}).encode(), asks[0]["id"] if asks else ""
        return TaskOutcome(json=said, message="*Diagnosed*", whole="# all", asked=asked)

    async with workspace(**more) as slack:
        core = Core(answer, "slack")
        running = asyncio.create_task(connect(core, client_of(BOT, slack.url + "/api/"), APP))
        try:
            yield slack, tasks
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


MENTION = {
    "type": "app_mention",
    "user": "U1",
    "channel": "C1",
    "ts": "1.0",
    "text": "<@UBOT> it died, see <http://torch.cuda|torch.cuda> &gt; 80G",
}


def test_a_mention_is_answered_in_its_thread_and_a_button_edits_the_answer():
    async def talk():
        async with bot() as (slack, tasks):
            log = {"id": "F1", "name": "train.log", "size": 18}
            log["url_private_download"] = slack.url + "/files/train.log"
            await slack.event("e1", {**MENTION, "files": [log]})
            posted = await slack.until("chat.postMessage")
            await slack.until("files.completeUploadExternal")
            await slack.press("e2", posted["blocks"][1]["elements"][0], "9.2")
            edited = await slack.until("chat.update")
            await slack.until("files.completeUploadExternal", 2)
            await slack.until_acknowledged(2)
            return slack, tasks, posted, edited

    slack, tasks, posted, edited = asyncio.run(talk())
    assert [(one.name, one.data) for one in tasks[0].files] == [
        ("train.log", b"CUDA out of memory"),
        ("message.md", b"it died, see torch.cuda > 80G"),
    ]
    assert (posted["channel"], posted["thread_ts"]) == ("C1", "1.0")
    assert posted["blocks"][0]["text"]["text"].startswith("*Diagnosed*")
    labels = [button["text"]["text"] for button in posted["blocks"][1]["elements"]]
    assert labels == ["Yes", "No", "Not known"]
    assert dict(tasks[1].answers) == {"oom.growing": "yes"}
    assert len(edited["blocks"]) == 1
    assert len(slack.of("chat.postMessage")) == 1
    assert [said["file"] for said in slack.of("files.delete")] == ["F9"]
    assert slack.acknowledged == ["e1", "e2"]


def test_an_event_that_comes_again_is_acknowledged_and_not_answered_again():
    async def talk():
        async with bot() as (slack, tasks):
            await slack.event("e1", MENTION)
            await slack.event("e2", MENTION, retry_attempt=1, retry_reason="timeout")
            await slack.event("e3", {**MENTION, "ts": "2.0"})
            await slack.until("files.completeUploadExternal", 2)
            await slack.until_acknowledged(3)
            return slack, tasks

    slack, tasks = asyncio.run(talk())
    assert sorted(slack.acknowledged) == ["e1", "e2", "e3"]
    assert len(tasks) == 2
    assert [said["thread_ts"] for said in slack.of("chat.postMessage")] == ["1.0", "2.0"]


def test_direct_messages_are_answered_and_what_nobody_wrote_there_is_not():
    direct = {"type": "message", "channel_type": "im", "user": "U1", "channel": "D1", "ts": "3.0"}

    async def talk():
        async with bot() as (slack, tasks):
            edit = {"subtype": "message_changed", "ts": "2.0"}
            await slack.event("e1", {**direct, **edit, "text": "a"})
            await slack.event("e2", {**direct, "channel_type": "channel", "ts": "2.1", "text": "b"})
            await slack.event("e3", {**direct, "text": "它崩了"})
            await slack.until("chat.postMessage")
            return tasks

    tasks = asyncio.run(talk())
    assert [(task.lang, task.files[0].data.decode()) for task in tasks] == [("zh", "它崩了")]


def test_a_limit_of_slack_is_waited_for(monkeypatch):
    async def talk():
        async with bot() as (slack, _):
            slack.limited = 1
            await slack.event("e1", MENTION)
            return await slack.until("chat.postMessage")

    monkeypatch.setattr("random.random", lambda: 0.0)
    assert asyncio.run(talk())["thread_ts"] == "1.0"


@pytest.mark.parametrize(
    "change",
    [{"url_private_download": "https://example.com/x"}, {"size": 1 << 40}, {"name": "gone"}],
)
def test_a_file_that_is_elsewhere_or_too_large_is_named_and_not_fetched(change):
    async def talk():
        async with bot() as (slack, tasks):
            file = {"id": "F1", "name": "train.log", "size": 1}
            file["url_private_download"] = slack.url + "/nowhere/train.log"
            await slack.event("e1", {**MENTION, "files": [{**file, **change}]})
            return await slack.until("chat.postMessage"), tasks

    posted, tasks = asyncio.run(talk())
    assert [file.name for file in tasks[0].files] == ["message.md"]
    assert "Not read" in posted["text"]


@pytest.mark.parametrize(
    ("scopes", "environment", "missing"),
    [
        (SCOPES, {}, ()),
        (SCOPES[1:], {}, ("SLACK_BOT_TOKEN: scope app_mentions:read",)),
        (SCOPES, {"SLACK_BOT_TOKEN": "xoxb-2"}, ("SLACK_BOT_TOKEN: invalid_auth",)),
        (
            SCOPES,
            {"SLACK_APP_TOKEN": "xapp-2"},
            ("SLACK_APP_TOKEN (connections:write): invalid_auth",),
        ),
    ],
)
def test_a_check_names_what_is_missing_and_sends_nothing(scopes, environment, missing):
    async def checked():
        async with workspace(scopes=scopes) as slack:
            shown = {"SLACK_BOT_TOKEN": BOT, "SLACK_APP_TOKEN": APP, **environment}
            return await check(shown, slack.url + "/api/"), {name for name, _ in slack.calls}

    found, calls = asyncio.run(checked())
    assert found == missing
    assert calls <= {"auth.test", "apps.connections.open"}


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("<@UBOT> hi", "hi"),
        ("<@U1|ann>: a &amp;&amp; b", ": a && b"),
        ("<https://x.y/z>", "https://x.y/z"),
        ("torch.Size([1]) <unk>", "torch.Size([1]) <unk>"),
    ],
)
def test_a_text_is_what_was_typed(text, meant):
    assert plain(text) == meant
