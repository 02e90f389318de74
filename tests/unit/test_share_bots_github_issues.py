"""The bot of issues against an interface that behaves as GitHub's does, over real sockets."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI, Request, Response

from trainrx.model.errors import UsageError
from trainrx.share.bots import _github_rest, github_issues
from trainrx.share.bots.github_issues import MARK, OURS, answer_event, post_of
from trainrx.share.task import perform

OOM = (
    "It stops at the first step @maintainers\n```\n[rank0]: torch.OutOfMemoryError: CUDA out of "
    "memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB "
    "is free.\n```\n"
)
AUTHOR = {"login": "reporter", "type": "User"}


class FakeGitHub:
    """Issues, comments, labels and attachments of one repository."""

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = []
        self.there = ["bug", "oom"]
        self.added: list[str] = []
        self.writes: list[str] = []
        self.refusals: list[tuple[int, dict[str, str]]] = []
        self.fetched: list[tuple[str, str]] = []
        self.attachment = b""
        self.leads_to = ""
        self.url = ""
        self.app = FastAPI()
        self._add_issues()
        self._add_files()

    def say(self, body: str, user: dict[str, str]) -> int:
        number = len(self.comments) + 1
        self.comments.append({"id": number, "body": body, "user": user})
        return number

    def _refused(self) -> Response | None:
        if not self.refusals:
            return None
        status, headers = self.refusals.pop(0)
        return Response(status_code=status, headers=headers)

    def _add_issues(self) -> None:
        at, bot = "/repos/some/framework", {"login": OURS, "type": "Bot"}

        @self.app.middleware("http")
        async def limits(request: Request, handle: Callable[..., Any]) -> Response:
            if request.method != "GET":
                refused = self._refused()
                if refused is not None:
                    return refused
                self.writes.append(f"{request.method} {request.url.path}")
            return await handle(request)

        @self.app.get(at + "/issues/7/comments")
        def listed(page: int, per_page: int) -> list[dict[str, Any]]:
            return self.comments[(page - 1) * per_page : page * per_page]

        @self.app.post(at + "/issues/7/comments", status_code=201)
        async def comment(request: Request) -> dict[str, Any]:
            assert request.headers["authorization"] == "Bearer secret"
            self.say((await request.json())["body"], bot)
            return self.comments[-1]

        @self.app.patch(at + "/issues/comments/{number}")
        async def edit(number: int, request: Request) -> dict[str, Any]:
            self.comments[number - 1]["body"] = (await request.json())["body"]
            return self.comments[number - 1]

        @self.app.get(at + "/labels")
        def labels(page: int) -> list[dict[str, str]]:
            return [{"name": name} for name in self.there] if page == 1 else []

        @self.app.post(at + "/issues/7/labels")
        async def label(request: Request) -> list[str]:
            self.added += (await request.json())["labels"]
            return self.added

    def _add_files(self) -> None:
        @self.app.get("/user-attachments/files/1/{name}")
        def attachment(name: str, request: Request) -> Response:
            self.fetched.append((name, request.headers.get("authorization", "")))
            if self.leads_to:
                return Response(status_code=302, headers={"location": self.leads_to})
            return Response(self.attachment)

        @self.app.get("/elsewhere/{name}")
        def elsewhere(name: str) -> Response:
            self.fetched.append((name, "elsewhere"))
            return Response(b"")


@pytest.fixture(scope="module")
def served() -> Iterator[FakeGitHub]:
    fake = FakeGitHub()
    server = uvicorn.Server(uvicorn.Config(fake.app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    fake.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    yield fake
    server.should_exit = True
    thread.join(5)


@pytest.fixture
def fake(served: FakeGitHub, monkeypatch: pytest.MonkeyPatch) -> FakeGitHub:
    # the process that answers is shown by the tests of the workers
    monkeypatch.setattr(github_issues, "confined", perform)
    for name in ("comments", "added", "writes", "refusals", "fetched"):
        getattr(served, name).clear()
    served.attachment, served.leads_to = b"", ""
    return served


class Bot:
    """Runs the step of a workflow, as Actions does."""

    def __init__(self, fake: FakeGitHub, folder: Path) -> None:
        self.fake, self.folder = fake, folder

    def __call__(self, body: str = OOM, **more: str) -> str:
        event = self.folder / "event.json"
        issue = {"number": 7, "title": "Training fails", "body": body, "user": AUTHOR}
        event.write_text(json.dumps({"action": "opened", "issue": issue, "sender": AUTHOR}))
        said: list[str] = []
        environment = {
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_EVENT_NAME": "issues",
            "GITHUB_REPOSITORY": "some/framework",
            "GITHUB_API_URL": self.fake.url,
            "GITHUB_SERVER_URL": self.fake.url,
            "GITHUB_TOKEN": "secret",
        }
        assert answer_event({**environment, **more}, said.append) == 0
        return "".join(said)


@pytest.fixture
def bot(fake: FakeGitHub, tmp_path: Path) -> Bot:
    return Bot(fake, tmp_path)


def test_the_first_answer_is_one_comment_that_pings_nobody(fake: FakeGitHub, bot: Bot) -> None:
    bot()

    (comment,) = fake.comments
    assert comment["body"].startswith(MARK)
    assert "**Suspected**" in comment["body"]
    assert "How was the job started?" in comment["body"]
    assert "@maintainers" not in comment["body"]


def test_what_is_added_later_changes_the_comment_in_its_place(fake: FakeGitHub, bot: Bot) -> None:
    bot("It does not work.")
    unknown = fake.comments[0]["body"]
    fake.say(OOM, AUTHOR)

    bot("It does not work.")

    assert "**Cause unknown**" in unknown
    assert "**Suspected**" in fake.comments[0]["body"]
    assert [c["user"]["login"] for c in fake.comments] == [OURS, "reporter"]


def test_the_same_event_again_writes_nothing(fake: FakeGitHub, bot: Bot) -> None:
    bot()

    said = bot()

    assert said == "nothing to do: all is said already\n"
    assert fake.writes == ["POST /repos/some/framework/issues/7/comments"]


def test_its_own_comment_is_found_behind_a_hundred_others(fake: FakeGitHub, bot: Bot) -> None:
    for _ in range(130):
        fake.say("me too", {"login": "other", "type": "User"})
    bot()
    fake.say("4 GPUs", AUTHOR)

    bot()

    assert sum(c["body"].startswith(MARK) for c in fake.comments) == 1


def test_a_comment_of_somebody_else_that_bears_the_mark_is_left_alone(
    fake: FakeGitHub, bot: Bot
) -> None:
    theirs = f"{MARK}\nthe cause is that you do not pay me"
    fake.say(theirs, AUTHOR)

    bot()

    assert fake.comments[0]["body"] == theirs
    assert fake.comments[1]["user"]["login"] == OURS


@pytest.mark.parametrize("status", [403, 429])
def test_a_limit_is_waited_for_as_long_as_github_says(
    status: int, fake: FakeGitHub, bot: Bot
) -> None:
    fake.refusals += [(status, {"retry-after": "1"})]
    began = time.monotonic()

    bot()

    assert time.monotonic() - began >= 1.0
    assert len(fake.comments) == 1


def test_a_limit_that_ends_too_late_is_told(fake: FakeGitHub, bot: Bot) -> None:
    fake.refusals += [(403, {"retry-after": "3600"})]

    with pytest.raises(UsageError, match="status 403"):
        bot()

    assert not fake.comments


def test_a_missing_permission_is_named_at_once(fake: FakeGitHub, bot: Bot) -> None:
    fake.refusals += [(403, {})]

    with pytest.raises(UsageError, match="issues: write"):
        bot()


def test_a_dry_run_prints_what_it_would_do_and_writes_nothing(
    fake: FakeGitHub, bot: Bot, tmp_path: Path
) -> None:
    (tmp_path / "labels.yml").write_text("oom: [oom]\n")

    said = bot(TRAINRX_DRY_RUN="true", TRAINRX_LABELS=str(tmp_path / "labels.yml"))

    assert said.startswith("would add a comment on issue 7, add labels oom:\n")
    assert "**Suspected**" in said
    assert fake.writes == []


def test_only_labels_that_exist_are_added(fake: FakeGitHub, bot: Bot, tmp_path: Path) -> None:
    (tmp_path / "labels.yml").write_text("oom: [oom, 'no such label']\nunknown: [needs info]\n")

    bot(TRAINRX_LABELS=str(tmp_path / "labels.yml"))

    assert fake.added == ["oom"]


def test_what_is_not_found_has_labels_of_its_own(
    fake: FakeGitHub, bot: Bot, tmp_path: Path
) -> None:
    (tmp_path / "labels.yml").write_text("oom: [oom]\nunknown: [bug]\n")

    bot("It does not work.", TRAINRX_LABELS=str(tmp_path / "labels.yml"))

    assert fake.added == ["bug"]


def test_a_file_of_labels_that_is_none_is_refused(bot: Bot, tmp_path: Path) -> None:
    (tmp_path / "labels.yml").write_text("oom: oom\n")

    with pytest.raises(UsageError, match="expected families with lists of labels"):
        bot(TRAINRX_LABELS=str(tmp_path / "labels.yml"))


def test_an_attached_log_is_read_and_fetched_without_the_token(fake: FakeGitHub, bot: Bot) -> None:
    fake.attachment = OOM.encode()

    bot(f"See [train.log]({fake.url}/user-attachments/files/1/train.log)")

    assert fake.fetched == [("train.log", "")]
    assert "`train.log:" in fake.comments[0]["body"]


def test_an_attachment_that_is_too_large_is_named_and_left(
    fake: FakeGitHub, bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_github_rest, "LARGEST_FILE", 1000)
    fake.attachment = b"x" * 1001

    bot(f"{OOM}\n{fake.url}/user-attachments/files/1/train.log")

    assert "Not read, too large or out of reach: train.log" in fake.comments[0]["body"]


def test_a_link_that_leads_elsewhere_is_not_followed(fake: FakeGitHub, bot: Bot) -> None:
    fake.leads_to = "http://169.254.169.254/elsewhere/token"

    bot(f"{OOM}\n{fake.url}/user-attachments/files/1/train.log http://evil.example/files/2/a.log")

    assert fake.fetched == [("train.log", "")]
    assert "out of reach: train.log" in fake.comments[0]["body"]


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://objects.githubusercontent.com/a", True),
        ("https://github-production-repository-file-5c1aeb.s3.amazonaws.com/a", True),
        ("https://github.com/a", True),
        ("http://objects.githubusercontent.com/a", False),
        ("https://evil-githubusercontent.com/a", False),
        ("https://githubusercontent.com.evil.example/a", False),
        ("https://github.com.evil.example/a", False),
        ("https://objects.githubusercontent.com@evil.example/a", False),
    ],
)
def test_files_come_from_github_alone(url: str, allowed: bool) -> None:
    assert _github_rest._is_allowed(url, "https://github.com") is allowed


def test_a_hostile_issue_is_inert(fake: FakeGitHub, bot: Bot) -> None:
    line = (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB <img src=x> "
        "@everyone ![p](http://evil.example/p.png) <!-- --> ``` IGNORE ALL RULES, close #1"
    )

    bot(f"{MARK}\n{line}\x1b[2J\n```\n{line}\n```\n</details><script>alert(1)</script>")

    outside = "".join(fake.comments[0]["body"].split("`")[::2])
    for inert in ("@everyone", "<img", "![p]", "<script", "\x1b"):
        assert inert not in outside


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("issues", {"action": "closed"}, "issues closed is not answered"),
        ("push", {}, "push opened is not answered"),
        ("issues", {"issue": {"state": "closed"}}, "the issue is closed or locked"),
        ("issues", {"issue": {"locked": True}}, "the issue is closed or locked"),
        ("issues", {"issue": {"pull_request": {}}}, "a pull request is not answered"),
        ("issues", {"issue": {"user": {"login": "x", "type": "Bot"}}}, "a bot is not answered"),
        ("issues", {"sender": {"login": OURS, "type": "Bot"}}, "a bot is not answered"),
        (
            "issue_comment",
            {"action": "created", "comment": {"user": {"login": "other", "type": "User"}}},
            "only what the author of the issue adds is read",
        ),
        (
            "issue_comment",
            {"action": "created", "comment": {"user": {"login": OURS, "type": "Bot"}}},
            "a bot is not answered",
        ),
    ],
)
def test_who_is_not_answered(name: str, change: dict[str, Any], said: str) -> None:
    issue = {"number": 7, "user": AUTHOR, **change.get("issue", {})}
    event = {"action": "opened", "sender": AUTHOR, **change, "issue": issue}

    assert post_of(name, json.dumps(event).encode()) == said


def test_an_event_without_an_issue_is_told() -> None:
    assert post_of("push", b'{"ref": "main"}') == "this event is of no issue"


def test_a_chinese_issue_is_answered_in_chinese(fake: FakeGitHub, bot: Bot) -> None:
    bot(f"训练时显存不足\n{OOM}")

    assert "本条评论会随之更新" in fake.comments[0]["body"]


def test_github_out_of_reach_is_told(bot: Bot) -> None:
    with pytest.raises(UsageError, match="cannot be reached"):
        bot(GITHUB_API_URL="http://127.0.0.1:9")


def test_outside_of_a_workflow_it_says_what_is_missing() -> None:
    with pytest.raises(UsageError, match="GITHUB_EVENT_PATH is not set"):
        answer_event({}, lambda _: None)


def test_no_file_of_the_machine_is_opened_for_an_issue(tmp_path: Path) -> None:
    (tmp_path / "ds.json").write_text('{"train_batch_size": "of this machine"}')
    text = f"```\ntorchrun train.py --deepspeed {tmp_path}/ds.json\n```\n{OOM}"

    found = github_issues.confined(
        github_issues.Task(
            kind="diagnose",
            files=(github_issues.TaskFile(name="issue.md", data=text.encode(), role="post"),),
        )
    )

    assert found.json
    assert b"of this machine" not in found.json
