"""The bot in Discord, against a server of 127.0.0.1 that speaks its API and its gateway."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager

import discord
import pytest
import yarl
import zstandard
from aiohttp import WSMsgType, web
from discord.gateway import DiscordWebSocket
from discord.http import Route

from trainrx.share.bots.core import Core
from trainrx.share.bots.discord import NEEDED, check, run
from trainrx.share.task import TaskOutcome

SHOWN = "MTA.a.b"
ASK = {"id": "oom.growing", "what": "Does it grow?", "how": "", "answer": "yes_no"}
BOT = {"id": "10", "username": "trainrx", "discriminator": "0", "avatar": None, "bot": True}
USER = {"id": "20", "username": "ann", "discriminator": "0", "avatar": None}
CHANNEL = {"id": "31", "type": 0, "name": "jobs", "position": 0, "permission_overwrites": []}
EVERYONE = {"id": "30", "name": "@everyone", "permissions": "0", "position": 0, "color": 0}
ALL_NEEDED = str(discord.Permissions(**dict.fromkeys(NEEDED, True)).value)
SERVER = {
    "id": "30",
    "name": "box",
    "member_count": 1,
    "roles": [EVERYONE],
    "channels": [CHANNEL],
    "members": [{"user": USER, "roles": [], "flags": 0}],
    "features": [],
    "emojis": [],
}
SOON = 0.2
"""Seconds: nobody replies to a message sooner than it is there."""
HELLO, HEARTBEAT, IDENTIFY, ACKNOWLEDGED = 10, 1, 2, 11


def said_as_json(said, status=200, headers=None):
    # the type without a character set: the SDK knows no other
    kind = {"Content-Type": "application/json", **(headers or {})}
    return web.Response(body=json.dumps(said).encode(), status=status, headers=kind)


class Platform:
    """Discord: what it was asked, and the gateway it sends events over."""

    def __init__(self, servers=(SERVER,)):
        self.servers, self.calls, self.identified = servers, [], {}
        self.limited = 0
        self.changed = asyncio.Event()
        self.socket: asyncio.Future = asyncio.get_running_loop().create_future()
        self.app = web.Application()
        self.app.router.add_get("/gateway", self.gateway)
        self.app.router.add_get("/files/{name}", self.file)
        self.app.router.add_route("*", "/api/{path:.*}", self.api)
        self.url, self.number, self.permissions = "", 0, ALL_NEEDED

    async def api(self, request):
        path = request.match_info["path"]
        # a press is acknowledged with a token of its own
        is_shown = request.headers.get("Authorization") == f"Bot {SHOWN}"
        if not (is_shown or path == "interactions/7/t/callback"):
            return said_as_json({"message": "401: Unauthorized", "code": 0}, status=401)
        if request.method == "POST" and path.endswith("/messages") and self.limited:
            self.limited -= 1
            said = {"message": "limited", "retry_after": 0.01, "global": False}
            return said_as_json(said, status=429, headers={"Via": "1.1 google"})
        self.calls.append((request.method, path, await self.said(request)))
        self.changed.set()
        if path.endswith("/callback"):
            return said_as_json({"interaction": {"id": "7", "type": 3}})
        return said_as_json(self.answer(path))

    async def said(self, request):
        if request.content_type != "multipart/form-data":
            return await request.json() if request.can_read_body else {}
        form = await request.post()
        return {**json.loads(form["payload_json"]), "file": form["files[0]"].filename}

    def answer(self, path):
        if path == "users/@me":
            return BOT
        if path == "users/@me/guilds":
            return [
                {"id": "30", "name": "box", "features": [], "permissions": self.permissions}
                for _ in self.servers
            ]
        if path == "oauth2/applications/@me":
            return {"id": "10", "name": "x", "icon": None, "description": "", "flags": 0} | {
                "bot_public": True,
                "bot_require_code_grant": False,
                "verify_key": "",
                "owner": USER,
                "summary": "",
                "team": None,
            }
        return message(id=str(900 + len(self.calls)), author=BOT)

    async def gateway(self, request):
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        assert request.query["compress"] == "zstd-stream"
        self.packed, self.open = zstandard.ZstdCompressor().compressobj(), socket
        await self.send({"op": HELLO, "d": {"heartbeat_interval": 40000}})
        async for got in socket:
            if got.type != WSMsgType.TEXT:
                break
            said = json.loads(got.data)
            if said["op"] == HEARTBEAT:
                await self.send({"op": ACKNOWLEDGED})
            if said["op"] == IDENTIFY:
                self.identified = said["d"]
                await self.begin()
        return socket

    async def begin(self):
        servers = [{"id": one["id"], "unavailable": True} for one in self.servers]
        ready = {"v": 10, "user": BOT, "guilds": servers, "session_id": "s"}
        application = {"id": "10", "flags": 0}
        address = self.url.replace("http", "ws") + "/gateway"
        await self.event(
            "READY", {**ready, "application": application, "resume_gateway_url": address}
        )
        for one in self.servers:
            await self.event("GUILD_CREATE", one)
        self.socket.set_result(None)

    async def send(self, payload):
        data = self.packed.compress(json.dumps(payload).encode())
        await self.open.send_bytes(data + self.packed.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK))

    async def event(self, name, payload):
        self.number += 1
        await self.send({"op": 0, "t": name, "s": self.number, "d": payload})

    async def file(self, _request):
        return web.Response(body=b"CUDA out of memory")

    async def until(self, method, end, number=1):
        def found():
            return [said for how, path, said in self.calls if how == method and path.endswith(end)]

        while len(found()) < number:
            self.changed.clear()
            await asyncio.wait_for(self.changed.wait(), 5)
        return found()[number - 1]


def message(**more):
    base = {"id": "1", "channel_id": "40", "author": USER, "content": "", "type": 0, "tts": False}
    times = {"timestamp": "2026-01-01T00:00:00+00:00", "edited_timestamp": None}
    empty = {"mentions": [], "mention_roles": [], "attachments": [], "embeds": []}
    return {
        **base,
        **times,
        **empty,
        "mention_everyone": False,
        "pinned": False,
        "flags": 0,
        **more,
    }


MENTION = {"guild_id": "30", "channel_id": "31", "mentions": [BOT], "content": "<@10> it died"}


@asynccontextmanager
async def platform(monkeypatch, **more):
    found = Platform(**more)
    runner = web.AppRunner(found.app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    found.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    # the SDK takes its addresses from nowhere else
    monkeypatch.setattr(Route, "BASE", found.url + "/api")
    gateway = yarl.URL(found.url.replace("http", "ws") + "/gateway")
    monkeypatch.setattr(DiscordWebSocket, "DEFAULT_GATEWAY", gateway)
    try:
        yield found
    finally:
        await runner.cleanup()


@asynccontextmanager
async def bot(monkeypatch, **more):
    """Give a platform a bot is on, and what that was asked."""
    tasks = []

    async def answer(task):
        tasks.append(task)
        asks = [] if task.answers else [ASK]
        said = json.dumps({"asks": asks}).encode()
        asked = asks[0]["id"] if asks else ""
        return TaskOutcome(json=said, message="**Diagnosed**", whole="# all", asked=asked)

    async with platform(monkeypatch, **more) as found:
        running = asyncio.create_task(run(Core(answer, "discord"), {"DISCORD_TOKEN": SHOWN}))
        try:
            begun = {running, asyncio.ensure_future(found.socket)}
            await asyncio.wait(begun, timeout=5, return_when=asyncio.FIRST_COMPLETED)
            assert not running.done(), running.exception()
            yield found, tasks
        finally:
            assert not running.done(), running.exception()
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


def test_a_direct_message_is_answered_and_a_button_edits_the_answer(monkeypatch):
    async def talk():
        async with bot(monkeypatch) as (box, tasks):
            address = box.url + "/files/train.log"
            log = {"id": "5", "filename": "train.log", "size": 18, "url": address}
            log["proxy_url"] = address
            await box.event("MESSAGE_CREATE", message(content="it died", attachments=[log]))
            posted = await box.until("POST", "/messages")
            await asyncio.sleep(SOON)
            shown = message(id=str(900 + len(box.calls)), author=BOT)
            pressed = {"component_type": 2, "custom_id": "trainrx:oom.growing=no"}
            interaction = {"id": "7", "application_id": "10", "type": 3, "token": "t"}
            about = {
                "channel_id": "40",
                "channel": {"id": "40", "type": 1},
                "version": 1,
                "attachment_size_limit": 1 << 23,
            }
            await box.event(
                "INTERACTION_CREATE",
                {**interaction, **about, "data": pressed, "user": USER, "message": shown},
            )
            await box.until("POST", "/callback")
            return box, tasks, posted, await box.until("PATCH", f"/messages/{shown['id']}")

    box, tasks, posted, edited = asyncio.run(talk())
    assert [(one.name, one.data) for one in tasks[0].files] == [
        ("train.log", b"CUDA out of memory"),
        ("message.md", b"it died"),
    ]
    assert posted["content"].startswith("**Diagnosed**")
    assert posted["allowed_mentions"]["parse"] == []
    assert posted["message_reference"]["message_id"] == 1
    assert posted["file"] == "diagnosis.md"
    names = [button["custom_id"] for button in posted["components"][0]["components"]]
    assert names == [f"trainrx:oom.growing={value}" for value in ("yes", "no", "unknown")]
    assert dict(tasks[1].answers) == {"oom.growing": "no"}
    assert (edited["components"], edited["file"]) == ([], "diagnosis.md")
    assert edited["allowed_mentions"]["parse"] == []
    assert box.identified["intents"] & discord.Intents(message_content=True).value == 0


def test_a_mention_begins_a_job_and_a_reply_to_its_answer_goes_on_with_it(monkeypatch):
    async def talk():
        async with bot(monkeypatch) as (box, tasks):
            await box.event("MESSAGE_CREATE", message(**{**MENTION, "mentions": [], "id": "2"}))
            await box.event("MESSAGE_CREATE", message(**MENTION, id="3"))
            await box.until("POST", "/messages")
            await asyncio.sleep(SOON)
            answered = {"message_id": str(900 + len(box.calls)), "channel_id": "31"}
            reply = {**MENTION, "content": "yes", "message_reference": answered, "type": 19}
            await box.event("MESSAGE_CREATE", message(**reply, id="4"))
            await box.until("PATCH", f"/messages/{answered['message_id']}")
            await box.event("MESSAGE_CREATE", message(**MENTION, id="5"))
            await box.until("POST", "/messages", 2)
            return tasks

    tasks = asyncio.run(talk())
    assert [dict(task.answers) for task in tasks] == [{}, {"oom.growing": "yes"}, {}]
    assert [file.data for file in tasks[0].files] == [b"it died"]


def test_what_bots_write_is_not_answered_and_a_limit_is_waited_for(monkeypatch):
    async def talk():
        async with bot(monkeypatch) as (box, tasks):
            box.limited = 1
            await box.event("MESSAGE_CREATE", message(author={**USER, "bot": True}, content="a"))
            await box.event("MESSAGE_CREATE", message(content="b", id="2"))
            await box.until("POST", "/messages")
            return box, tasks

    box, tasks = asyncio.run(talk())
    assert [file.data for task in tasks for file in task.files] == [b"b"]
    assert box.limited == 0


def test_a_check_names_each_permission_that_is_missing(monkeypatch):
    async def checked():
        async with platform(monkeypatch, servers=(SERVER,)) as box:
            box.permissions = str(discord.Permissions(view_channel=True, send_messages=True).value)
            return await check({"DISCORD_TOKEN": SHOWN})

    assert asyncio.run(checked()) == (
        "server box: permission send_messages_in_threads",
        "server box: permission attach_files",
        "server box: permission read_message_history",
    )


@pytest.mark.parametrize(
    ("token", "servers", "said"),
    [(SHOWN, (SERVER,), ""), ("MTA.x.y", (), "invalid token"), (SHOWN, (), "on no server")],
)
def test_a_check_says_what_is_missing_and_sends_nothing(token, servers, said, monkeypatch):
    async def checked():
        async with platform(monkeypatch, servers=servers) as box:
            return await check({"DISCORD_TOKEN": token}), box.calls

    found, calls = asyncio.run(checked())
    assert said in " ".join(found)
    assert bool(found) == bool(said)
    assert all(method == "GET" for method, _, _ in calls)
