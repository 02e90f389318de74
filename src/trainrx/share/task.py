"""A question that came over a wire, and the answer to it: worked out in a process of its own."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from trainrx.api import SHARED
from trainrx.launch.request import Reply, Request
from trainrx.model.errors import KnowledgeError, UsageError
from trainrx.model.text import Lang
from trainrx.render import render
from trainrx.render.cards import card
from trainrx.render.chinese import said
from trainrx.render.document import View
from trainrx.render.screen.inquiry import open_questions
from trainrx.sanitizer import Level

Kind = Literal["diagnose", "paste", "lint", "estimate", "plan", "fix"]
Failure = Literal["", "time", "memory", "ended", "waited", "defect"]
Role = Literal["", "cmd", "config", "env", "versions", "log", "good", "model_config", "post"]
_NAME = re.compile(r"[^\w.+-]")
LONGEST_NAME = 50
"""Characters; a file system takes 255 bytes, of which a character has four at most."""


class TaskFile(msgspec.Struct, frozen=True, kw_only=True, weakref=True):
    """A file that was sent; without a role it is recognised by its content.

    A `post` is what somebody wrote, with whatever was pasted into it.

    Attributes:
        path: of this machine, where the data lies there instead; size: its bytes there.
    """

    name: str
    data: bytes = b""
    role: Role = ""
    path: str = ""
    size: int = 0


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody asks.

    Attributes:
        kind: the command that answers.
        files: the inputs; for `paste` they are whole posts.
        paths: files and folders of this machine, absolute; a confined process opens none.
        gpu: the card by name or memory; `plan` compares those after it too.
        gpus: of the whole job.
        answers: by the id of a question, what is replied.
        top: causes that are named.
        platform: the chat the answer is written for as well; "" for none.
        attached: all there is to say is wanted beside the message.
        redaction: what is masked in all that leaves.
        kb: folders of further knowledge of this machine; rules: of further rules.
    """

    kind: Kind
    files: tuple[TaskFile, ...] = ()
    paths: tuple[str, ...] = ()
    gpu: tuple[str, ...] = ()
    gpus: int | None = None
    nodes: int | None = None
    note: str = ""
    framework: str | None = None
    answers: Mapping[str, str] = {}
    top: int = 5
    lang: Lang = "en"
    platform: str = ""
    attached: bool = False
    redaction: Level = "secrets"
    kb: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()


class TaskOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it.

    Attributes:
        json: the answer as the contract has it, in UTF-8; b"" where there is an error.
        message: the same in short for the chat that was named; "" for none.
        whole: all there is to say, as Markdown; "" where it was not wanted.
        asked: the id of the question that the message puts; "" for none.
        patch: what `fix` would change, for `patch -p1`.
        error: what is wrong with the question and what to do; "" where it was answered.
        failure: why there is no answer, where that is not for the question itself.
    """

    json: bytes = b""
    message: str = ""
    whole: str = ""
    asked: str = ""
    patch: str = ""
    error: str = ""
    failure: Failure = ""


def perform(task: Task) -> TaskOutcome:
    """Answer a question in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="trainrx-") as folder:
        before = Path.cwd()
        os.chdir(folder)
        try:
            return _answer(task)
        except (UsageError, KnowledgeError) as error:
            return TaskOutcome(error=said(str(error), task.lang))
        finally:
            os.chdir(before)


def _answer(task: Task) -> TaskOutcome:
    found = ANSWERERS[task.kind](_request(task), task)
    view = View(task.lang, redaction=task.redaction)
    answer = render(found, "json", view).encode("utf-8", "replace")
    patch = render(found, "text", view) if task.kind == "fix" else ""
    if not task.platform:
        return TaskOutcome(json=answer, patch=patch)
    from trainrx.model.result import Diagnosis

    view = view._replace(chat=True)
    everything = view._replace(everything=True)
    whole = render(found, "markdown", everything) if task.attached else ""
    # a chat has a form of its own for a diagnosis alone
    if not isinstance(found, Diagnosis):
        message = render(found, "markdown", view)
        return TaskOutcome(json=answer, message=message, whole=whole, patch=patch)
    message = card(found, task.platform, view)
    asked = next((ask.id for ask in open_questions(found)), "")
    return TaskOutcome(json=answer, message=message, whole=whole, asked=asked)


def _request(task: Task) -> Request:
    """Write the files down and name them as the command line would."""
    named: dict[str, list[str]] = {}
    taken: set[str] = set()
    for file in task.files:
        name = _free(_NAME.sub("_", file.name.replace("\\", "/").rpartition("/")[2]), taken)
        if file.path:
            # a second name costs nothing, and a confined process opens what lies in its folder
            os.link(file.path, name)
        else:
            Path(name).write_bytes(file.data)
        named.setdefault(file.role, []).append(name)

    def one(role: Role) -> str | None:
        return next(iter(named.get(role, ())), None)

    paths = (*named.get("", ()), *task.paths)
    return Request(
        paths=() if task.kind == "paste" else paths,
        posts=paths if task.kind == "paste" else tuple(named.get("post", ())),
        cmd=tuple(named.get("cmd", ())),
        config=tuple(named.get("config", ())),
        logs=tuple(named.get("log", ())),
        env=one("env"),
        versions_file=one("versions"),
        good=one("good"),
        model_config=one("model_config"),
        cards=task.gpu,
        gpus=task.gpus,
        nodes=task.nodes,
        notes=(task.note,) if task.note else (),
        framework=task.framework,
        answers=tuple(Reply(id=ident, text=text) for ident, text in task.answers.items()),
        kb=task.kb,
        rules=task.rules,
        lang=task.lang,
    )


def _free(name: str, taken: set[str]) -> str:
    """Give a name of a file that no other one has, and that is no option and no folder."""
    name = name.lstrip(".-")[-LONGEST_NAME:] or "input"
    while name in taken:
        name = f"{len(taken)}-{name}"[:LONGEST_NAME]
    taken.add(name)
    return name


def _diagnose(request: Request, task: Task) -> msgspec.Struct:
    from trainrx.verdict import run

    return run.diagnose(request, SHARED.loaded(request), top=task.top)


def _lint(request: Request, _task: Task) -> msgspec.Struct:
    from trainrx.linter import run

    return run.lint(request, SHARED.loaded(request))


def _estimate(request: Request, _task: Task) -> msgspec.Struct:
    from trainrx.estimation import run

    return run.estimate(request, SHARED.loaded(request))


def _plan(request: Request, task: Task) -> msgspec.Struct:
    from trainrx.prove.hardware_plans import plan_job

    asked = tuple((card, task.gpus) for card in task.gpu)
    request = msgspec.structs.replace(request, cards=task.gpu[:1])
    return plan_job(request, SHARED.loaded(request), hardware=asked)


def _fix(request: Request, _task: Task) -> msgspec.Struct:
    from trainrx.verdict import fixing

    return fixing.fix_launch(request, SHARED.loaded(request))


ANSWERERS: Mapping[Kind, Callable[[Request, Task], msgspec.Struct]] = {
    "diagnose": _diagnose,
    "paste": _diagnose,
    "lint": _lint,
    "estimate": _estimate,
    "plan": _plan,
    "fix": _fix,
}
