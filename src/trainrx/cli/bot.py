"""`diagnose bot`: the answer in a chat, on the platform's own connection."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated

import typer

from trainrx.cli import make_app
from trainrx.cli._options import KNOWN, takes
from trainrx.cli._output import complain
from trainrx.launch.request import Request
from trainrx.model.errors import UsageError
from trainrx.share import bots

HELP = """\
Answer in a chat: slack, discord, feishu, dingtalk, wecom.

Who mentions the bot or writes to it directly gets the short answer in the thread, with the whole
page as a file where the platform takes one; replies and files there go on with the job. Secrets of
the platform are read from the environment alone: SLACK_BOT_TOKEN and SLACK_APP_TOKEN,
DISCORD_TOKEN, FEISHU_APP_ID and FEISHU_APP_SECRET, DINGTALK_CLIENT_ID and DINGTALK_CLIENT_SECRET,
WECOM_TOKEN and WECOM_ENCODING_AES_KEY, for an application WECOM_CORP_ID, WECOM_AGENT_ID and
WECOM_CORP_SECRET too. Nothing that is sent is written down; it is kept in memory
for an hour. Needs trainrx[bots].

\b
  diagnose bot slack --check
  diagnose bot slack
"""

Platform = Annotated[str, typer.Argument(metavar="PLATFORM", help="The chat it answers in.")]
Check = Annotated[
    bool, typer.Option("--check", help="Say what is missing and end; nothing is sent to anybody.")
]
Processes = Annotated[
    int | None, typer.Option("--processes", min=1, help="Answers at a time; one for each core.")
]
Seconds = Annotated[float, typer.Option("--seconds", min=1, help="An answer may take so long.")]

app = make_app()


@app.command(help=HELP)
@takes(*KNOWN)
def bot(
    request: Request,
    platform: Platform,
    *,
    check: Check = False,
    processes: Processes = None,
    seconds: Seconds = 60.0,
) -> int:
    """Answer until it is told to stop.

    Raises:
        UsageError: there is no such bot, or it lacks what it works with.
    """
    adapter = _adapter(platform)
    missing = [name for name in adapter.VARIABLES if not os.environ.get(name)]
    if missing:
        raise UsageError(f"bot {platform} needs in the environment: {', '.join(missing)}")
    if check:
        return _checked(adapter, platform, request)
    from trainrx.share.bots.core import Core, answering
    from trainrx.share.task import Task
    from trainrx.share.workers import Limits, Workers

    folders = (*request.kb, *request.rules)
    limits = Limits(seconds=seconds, processes=processes or Limits().processes, folders=folders)
    known = Task(kind="diagnose", kb=request.kb, rules=request.rules)
    workers = Workers(limits)
    complain(f"answering in {platform}", request.lang)
    try:
        asyncio.run(
            adapter.run(Core(answering(workers), platform, request.lang, known), os.environ)
        )
    finally:
        workers.close()
    return 0


def _adapter(platform: str) -> bots.Adapter:
    if platform not in bots.names():
        raise UsageError(
            f"there is no bot for {platform}: expected one of {', '.join(bots.names())}"
        )
    try:
        return bots.load(platform)
    except ImportError as error:
        raise UsageError(f"bot {platform} needs trainrx[bots]: {error}") from error


def _checked(adapter: bots.Adapter, platform: str, request: Request) -> int:
    """Say what is missing, one a line."""
    try:
        missing = asyncio.run(adapter.check(os.environ))
    except OSError as error:
        raise UsageError(f"{platform} cannot be reached: {error}") from error
    for line in missing:
        complain(f"missing: {line}", request.lang)
    if not missing:
        complain(f"bot {platform}: nothing is missing", request.lang)
    return 2 if missing else 0
