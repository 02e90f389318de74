"""Discord by its gateway: a connection the bot opens, so it needs no address.

No privileged intent is asked for: texts of direct messages and of mentions come without one.
https://docs.discord.com/developers/events/gateway
"""

from __future__ import annotations

import asyncio
import io
import logging
import re
from collections.abc import Mapping

import discord

from trainrx.render.markup import load
from trainrx.share.bots.core import LARGEST_FILE, Core, Incoming, Outgoing
from trainrx.share.bots.questions import Button
from trainrx.share.task import TaskFile

VARIABLES = ("DISCORD_TOKEN",)
LONGEST_NAME, LONGEST_LABEL = 100, 80
"""Characters of the name of a button, and of what stands on it."""
MOST_SERVERS = 200
NEEDED = (
    "view_channel",
    "send_messages",
    "send_messages_in_threads",
    "attach_files",
    "read_message_history",
)
"""Permissions of the bot on a server, as the SDK names them."""
REPLY = "trainrx:"
"""What the name of a button begins with."""
_MENTION = re.compile(r"<@[!&]?\d+>")
LOG = logging.getLogger("trainrx.bots.discord")


class Discord(discord.Client):
    """Answers mentions and direct messages; a reply to an answer goes on with its job."""

    def __init__(self, core: Core) -> None:
        intents = discord.Intents(guilds=True, guild_messages=True, dm_messages=True)
        super().__init__(intents=intents, allowed_mentions=discord.AllowedMentions.none())
        self._core = core

    async def on_message(self, message: discord.Message) -> None:
        """Answer what somebody wrote to the bot."""
        if message.author.bot or message.is_system() or not self._is_meant(message):
            return
        files = await asyncio.gather(*(_file(one) for one in message.attachments))
        sent = zip(message.attachments, files, strict=True)
        incoming = Incoming(
            thread=self._thread(message),
            message=str(message.id),
            text=_MENTION.sub("", message.content).strip(),
            files=tuple(file for file in files if file is not None),
            is_cut=len(message.content) >= (load("discord").limit or 0),
            unread=tuple(one.filename for one, file in sent if file is None),
        )

        await self._answer(incoming, message)

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Take the reply that was pressed; what the button says stands in its name."""
        name = str(interaction.data.get("custom_id", "")) if interaction.data else ""
        question, _, value = name.removeprefix(REPLY).partition("=")
        if interaction.message is None or not name.startswith(REPLY):
            return
        await interaction.response.defer()
        incoming = Incoming(
            thread=self._core.thread_of(str(interaction.message.id)) or name,
            message=str(interaction.id),
            pressed=Button(question=question, value=value),
        )
        await self._answer(incoming, interaction.message)

    def _is_meant(self, message: discord.Message) -> bool:
        is_direct = isinstance(message.channel, discord.DMChannel)
        return is_direct or (self.user is not None and self.user in message.mentions)

    def _thread(self, message: discord.Message) -> str:
        """Give what is about one job: a thread, a direct chat, or a chain of replies."""
        if isinstance(message.channel, discord.DMChannel | discord.Thread):
            return str(message.channel.id)
        replied = message.reference.message_id if message.reference else None
        known = self._core.thread_of(str(replied)) if replied else ""
        return known or f"{message.channel.id}:{message.id}"

    async def _answer(self, incoming: Incoming, asked: discord.Message) -> None:
        async def send(outgoing: Outgoing) -> str:
            view, files = _view(outgoing), _attached(outgoing)
            # bots are in no chats of a group
            if outgoing.replaces and not isinstance(asked.channel, discord.GroupChannel):
                earlier = asked.channel.get_partial_message(int(outgoing.replaces))
                try:
                    await earlier.edit(content=outgoing.text, view=view, attachments=files)
                except discord.NotFound:
                    LOG.info("an answer is gone: it is sent anew")
                else:
                    return outgoing.replaces
            posted = await asked.channel.send(
                content=outgoing.text,
                view=view,
                files=_attached(outgoing),
                reference=asked.to_reference(fail_if_not_exists=False),
                mention_author=False,
                suppress_embeds=True,
            )
            return str(posted.id)

        await self._core.reply(incoming, send)


def _view(outgoing: Outgoing) -> discord.ui.View:
    view = discord.ui.View(timeout=None)
    for button in outgoing.buttons:
        name = f"{REPLY}{button.question}={button.value}"
        if len(name) <= LONGEST_NAME:
            label = button.label[:LONGEST_LABEL]
            shown: discord.ui.Button[discord.ui.View] = discord.ui.Button(
                label=label, custom_id=name
            )
            view.add_item(shown)
    # presses are read from the names: the client need not remember what it sent
    view.stop()
    return view


def _attached(outgoing: Outgoing) -> list[discord.File]:
    if outgoing.whole is None:
        return []
    return [discord.File(io.BytesIO(outgoing.whole.data), filename=outgoing.whole.name)]


async def _file(sent: discord.Attachment) -> TaskFile | None:
    """Fetch what was attached; None where it cannot be had."""
    if sent.size > LARGEST_FILE:
        return None
    try:
        return TaskFile(name=sent.filename, data=await sent.read())
    except (discord.HTTPException, OSError):
        return None


async def run(core: Core, environment: Mapping[str, str]) -> None:
    """Answer until it is told to stop; the SDK connects again and waits where it must."""
    async with Discord(core) as client:
        await client.start(environment["DISCORD_TOKEN"])


async def check(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Name the permissions that are missing on each server; nothing is sent to anybody."""
    async with discord.Client(intents=discord.Intents.none()) as client:
        try:
            await client.login(environment["DISCORD_TOKEN"])
            servers = await client.http.get_guilds(limit=MOST_SERVERS)
        except discord.LoginFailure:
            return ("DISCORD_TOKEN: invalid token",)
    if not servers:
        return ("DISCORD_TOKEN: the bot is on no server: open its invitation",)
    return tuple(
        f"server {one['name']}: permission {name}"
        for one in servers
        for name in _lacking(discord.Permissions(int(one["permissions"])))
    )


def _lacking(given: discord.Permissions) -> tuple[str, ...]:
    return () if given.administrator else tuple(one for one in NEEDED if not getattr(given, one))
