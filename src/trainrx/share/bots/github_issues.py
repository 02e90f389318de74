"""Issues of a repository: one comment that says why a job failed, edited when more is known.

A step of GitHub Actions runs it once for an event: `python -m trainrx.share.bots.github_issues`.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from trainrx.model.errors import KnowledgeError, UsageError
from trainrx.model.text import Lang, Text
from trainrx.share.task import Task, TaskFile, TaskOutcome

if TYPE_CHECKING:
    from trainrx.share.bots._github_rest import GitHub, Sent

MARK = "<!-- trainrx: why it failed -->"
OURS = "github-actions[bot]"
"""Whose comments those with the token of a workflow are."""
MOST_POSTS = 50
MOST_TEXT = 4 << 20
CHINESE = re.compile(r"[\u3400-\u9fff]")
FOOT = Text(
    en="Edit the issue or reply to add what is asked for: this comment is brought up to date.",
    zh="请编辑本 issue 或在此回复以补充所问的内容，本条评论会随之更新。",
)
UNREAD = Text(
    en="Not read, too large or out of reach: {names}", zh="未读取（过大或无法获取）：{names}"
)
EVENTS = {"issues": ("opened", "edited", "reopened"), "issue_comment": ("created", "edited")}
UNKNOWN = "unknown"
"""In the file of labels: what is added where the cause is not found."""
Answerer = Callable[[Task], TaskOutcome]


class IssuePost(msgspec.Struct, frozen=True, kw_only=True):
    """An issue that is answered: its number, who wrote it, what, and the labels it has."""

    number: int
    author: str
    text: str
    labels: frozenset[str] = frozenset()


class IssueReply(msgspec.Struct, frozen=True, kw_only=True):
    """What is done about an issue; `edits` is the comment that is changed, 0 adds one."""

    body: str
    edits: int = 0
    labels: tuple[str, ...] = ()


class BotRun(msgspec.Struct, frozen=True, kw_only=True):
    """How issues are answered.

    Attributes:
        login: whose comments are ours.
        labels: by family of causes, or `unknown`.
        server: where the pages of GitHub are.
        dry: nothing is written.
    """

    login: str = OURS
    labels: Mapping[str, tuple[str, ...]] = {}
    server: str = "https://github.com"
    lang: Lang = "en"
    dry: bool = False


class _User(msgspec.Struct):
    login: str = ""
    type: str = ""


class _Label(msgspec.Struct):
    name: str = ""


class _Issue(msgspec.Struct):
    number: int
    title: str = ""
    body: str | None = None
    state: str = "open"
    locked: bool = False
    user: _User | None = None
    labels: tuple[_Label, ...] = ()
    pull_request: object = None


class _Comment(msgspec.Struct):
    user: _User | None = None


class _Event(msgspec.Struct):
    action: str
    issue: _Issue
    sender: _User | None = None
    comment: _Comment | None = None


def post_of(name: str, payload: bytes) -> IssuePost | str:
    """Give the issue that an event asks about, or say why it is not answered."""
    try:
        event = msgspec.json.decode(payload, type=_Event)
    except (msgspec.DecodeError, RecursionError):
        return "this event is of no issue"
    issue, author = event.issue, event.issue.user or _User()
    writers = [author, event.sender or author]
    if event.comment is not None:
        writers.append(event.comment.user or _User())
    if event.action not in EVENTS.get(name, ()):
        return f"{name} {event.action} is not answered"
    if issue.pull_request is not None:
        return "a pull request is not answered"
    if issue.state != "open" or issue.locked:
        return "the issue is closed or locked"
    if any(one.type == "Bot" for one in writers):
        return "a bot is not answered"
    if event.comment is not None and writers[-1].login != author.login:
        return "only what the author of the issue adds is read"
    return IssuePost(
        number=issue.number,
        author=author.login,
        text=f"# {issue.title}\n\n{issue.body or ''}",
        labels=frozenset(label.name for label in issue.labels),
    )


def reply_to(
    post: IssuePost,
    github: GitHub,
    answer: Answerer,
    fetch: Callable[[str], Attachments],
    run: BotRun,
) -> IssueReply | None:
    """Work out what is done about an issue; None where all is said already."""
    comments = github.comments(post.number)
    texts = [post.text, *(one.body for one in comments if one.user == post.author)][:MOST_POSTS]
    files, unread = fetch("\n".join(texts))
    lang: Lang = "zh" if any(map(CHINESE.search, texts)) else run.lang
    posts = (
        TaskFile(name="issue.md" if not at else f"comment-{at}.md", data=_bytes(text), role="post")
        for at, text in enumerate(texts)
    )
    task = Task(kind="diagnose", files=(*posts, *files), lang=lang, platform="github")
    outcome = answer(task)
    if outcome.error:
        raise UsageError(outcome.error)
    body = _body(outcome, unread, lang)
    ours = next((one for one in comments if is_ours(one, run.login)), None)
    labels = _labels(outcome, post, run)
    if labels:
        there = github.labels()
        labels = tuple(name for name in labels if name in there)
    if ours is not None and ours.body.strip() == body.strip() and not labels:
        return None
    return IssueReply(body=body, edits=0 if ours is None else ours.id, labels=labels)


Attachments = tuple[tuple[TaskFile, ...], tuple[str, ...]]
"""Files, and names of those that were not read."""


def is_ours(comment: Sent, login: str) -> bool:
    """Tell our own comment from one that only looks like it: anybody can write the mark."""
    return comment.user == login and comment.is_bot and comment.body.startswith(MARK)


def send(post: IssuePost, reply: IssueReply, github: GitHub) -> None:
    """Do it."""
    if reply.edits:
        github.edit_comment(reply.edits, reply.body)
    else:
        github.add_comment(post.number, reply.body)
    if reply.labels:
        github.add_labels(post.number, list(reply.labels))


def _body(outcome: TaskOutcome, unread: tuple[str, ...], lang: Lang) -> str:
    from trainrx.render.markup import load

    markup = load("github")
    said = [f"{MARK}\n{outcome.message.rstrip()}"]
    if unread:
        said.append(markup.prose(UNREAD.in_(lang).format(names=", ".join(unread))))
    said.append(f"_{FOOT.in_(lang)}_")
    longer = "\n\n".join(said)
    whole = markup.limit is None or markup.size(longer) <= markup.limit
    return longer if whole else outcome.message


def _labels(outcome: TaskOutcome, post: IssuePost, run: BotRun) -> tuple[str, ...]:
    """Give the labels that go with an answer and that the issue has not."""
    said = json.loads(outcome.json)
    found = [*said.get("causes", ()), *said.get("symptoms", ())]
    keys = [str(one.get("family", "")) for one in found[:1]]
    keys += [UNKNOWN] if said.get("verdict") == UNKNOWN else []
    names = dict.fromkeys(name for key in keys for name in run.labels.get(key, ()))
    return tuple(name for name in names if name not in post.labels)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")[:MOST_TEXT]


def labels_of(path: str) -> dict[str, tuple[str, ...]]:
    """Read the labels by family.

    Raises:
        UsageError: the file is not there, or is no mapping of families to lists of labels.
    """
    if not path:
        return {}
    from trainrx.knowledge.yaml12 import read_yaml

    try:
        return msgspec.convert(read_yaml(Path(path)), dict[str, tuple[str, ...]])
    except (OSError, KnowledgeError, msgspec.ValidationError) as error:
        raise UsageError(f"{path}: expected families with lists of labels: {error}") from error


def answer_event(environment: Mapping[str, str], say: Callable[[str], object]) -> int:
    """Answer the event that a workflow was started by; give the exit status.

    Raises:
        UsageError: something is missing, or GitHub refuses what is asked.
    """
    try:
        import httpx

        from trainrx.share.bots._github_rest import GitHub, attached
    except ImportError as error:
        raise UsageError(f"this bot needs trainrx[github]: {error}") from error

    run = BotRun(
        login=environment.get("TRAINRX_LOGIN") or OURS,
        labels=labels_of(environment.get("TRAINRX_LABELS", "")),
        server=environment.get("GITHUB_SERVER_URL", "https://github.com"),
        dry=environment.get("TRAINRX_DRY_RUN", "").lower() in ("1", "true", "yes"),
    )
    payload = Path(_needed(environment, "GITHUB_EVENT_PATH")).read_bytes()
    post = post_of(_needed(environment, "GITHUB_EVENT_NAME"), payload)
    if isinstance(post, str):
        say(f"nothing to do: {post}\n")
        return 0
    headers = {
        "Authorization": f"Bearer {_needed(environment, 'GITHUB_TOKEN')}",
        "Accept": "application/vnd.github+json",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    base = environment.get("GITHUB_API_URL", "https://api.github.com")
    with (
        httpx.Client(base_url=base, headers=headers, timeout=30) as asking,
        httpx.Client(timeout=30) as fetching,
    ):
        github = GitHub(asking, _needed(environment, "GITHUB_REPOSITORY"))

        def fetch(text: str) -> Attachments:
            found = attached(fetching, text, run.server)
            return found.files, found.unread

        reply = reply_to(post, github, confined, fetch, run)
        if reply is None:
            say("nothing to do: all is said already\n")
        elif run.dry:
            say(_foretold(post, reply))
        else:
            send(post, reply, github)
            say(f"issue {post.number} is answered\n")
    return 0


def _needed(environment: Mapping[str, str], name: str) -> str:
    if not environment.get(name):
        raise UsageError(f"{name} is not set: this bot runs as a step of GitHub Actions")
    return environment[name]


def _foretold(post: IssuePost, reply: IssueReply) -> str:
    what = f"edit comment {reply.edits}" if reply.edits else "add a comment"
    labels = f", add labels {', '.join(reply.labels)}" if reply.labels else ""
    return f"would {what} on issue {post.number}{labels}:\n\n{reply.body}\n"


def confined(task: Task) -> TaskOutcome:
    """Answer in a process that opens nothing here: whoever writes an issue names files."""
    from trainrx.share.workers import Limits, Workers

    workers = Workers(Limits(processes=1, seconds=120.0))
    try:
        return workers.submit(task).result()
    finally:
        workers.close()


def main() -> int:
    """Answer the event of this workflow."""
    environment = dict(os.environ)
    # no process that reads what strangers wrote has the token
    os.environ.pop("GITHUB_TOKEN", None)
    try:
        return answer_event(environment, sys.stdout.write)
    except UsageError as error:
        sys.stderr.write(f"trainrx: {error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
