"""What may be asked over HTTP, as JSON or as a form, and the question it makes."""

from __future__ import annotations

import base64
import binascii
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from tempfile import SpooledTemporaryFile
from typing import Annotated, Literal

from fastapi import HTTPException, Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from trainrx.model.text import Lang
from trainrx.sanitizer import Level
from trainrx.share.serve.service import LATER
from trainrx.share.spool import Spool
from trainrx.share.task import Kind, Role, Task, TaskFile

MOST_FILES, MOST_FIELDS = 256, 64
IN_MEMORY = 64 << 10
"""Bytes of a file or a request that are held in memory while it comes in; the rest is on disk."""
FORM = "multipart/form-data"
PASTED = "pasted"
"""The field of a form that holds a text, of which it is found out what it is."""
ANSWER = "answer."
"""What the name of a field begins with that answers a question."""


class SentFile(BaseModel):
    """A file: its text, or its bytes in base64."""

    model_config = ConfigDict(extra="forbid")
    name: Annotated[str, Field(max_length=500)] = "input"
    text: str | None = None
    base64: str | None = None
    role: Role = ""

    def file(self) -> TaskFile:
        """Give it as the question holds it."""
        if (self.text is None) == (self.base64 is None):
            raise HTTPException(422, f"{self.name}: expected either `text` or `base64`")
        try:
            data = base64.b64decode(self.base64 or "", validate=True)
        except binascii.Error as error:
            raise HTTPException(422, f"{self.name}: `base64` is none: {error}") from error
        if self.text is not None:
            data = self.text.encode("utf-8", "surrogatepass")
        return TaskFile(name=self.name, data=data, role=self.role)


class AskedBody(BaseModel):
    """A job: its files, and what is known of it besides."""

    model_config = ConfigDict(extra="forbid")
    files: Annotated[list[SentFile], Field(max_length=MOST_FILES)] = []
    gpu: Annotated[list[str], Field(max_length=16)] = []
    gpus: Annotated[int | None, Field(ge=1, le=1_000_000)] = None
    nodes: Annotated[int | None, Field(ge=1, le=100_000)] = None
    note: Annotated[str, Field(max_length=100_000)] = ""
    framework: Annotated[str | None, Field(max_length=200)] = None
    answers: Annotated[dict[str, str], Field(max_length=64)] = {}
    top: Annotated[int, Field(ge=1, le=50)] = 5
    lang: Literal["en", "zh"] | None = None
    redaction: Level = "secrets"

    def task(self, kind: Kind, files: tuple[TaskFile, ...], lang: Lang) -> Task:
        """Make the question of it, with the files as they were read."""
        return Task(
            kind=kind,
            files=files,
            gpu=tuple(self.gpu),
            gpus=self.gpus,
            nodes=self.nodes,
            note=self.note,
            framework=self.framework,
            answers=self.answers,
            top=self.top,
            lang=self.lang or lang,
            redaction=self.redaction,
        )


class RepliedBody(BaseModel):
    """What is replied to questions of an answer: the token it came with, and replies by id."""

    model_config = ConfigDict(extra="forbid")
    token: Annotated[str, Field(max_length=100)]
    answers: Annotated[dict[str, str], Field(min_length=1, max_length=64)]


async def asked(request: Request, spool: Spool, kind: Kind, lang: Lang) -> Task:
    """Read what is asked; its files are kept on disk.

    Args:
        request: with a form or JSON.
        spool: keeps the files.
        kind: the command that answers.
        lang: where the request names none.

    Raises:
        HTTPException: it is malformed, and what was expected; or there is no room for it.
    """
    try:
        if request.headers.get("content-type", "").startswith(FORM):
            body, files = await _form(request, spool)
        else:
            body = await _json(request)
            files = tuple(sent.file() for sent in body.files)
        return spool.kept(body.task(kind, files, lang))
    except ValidationError as error:
        raise HTTPException(422, error.errors(include_url=False, include_input=False)) from error
    except OSError as error:
        raise HTTPException(503, "there is no room for it now: try again", LATER) from error


async def _json(request: Request) -> AskedBody:
    with SpooledTemporaryFile(max_size=IN_MEMORY) as received:
        async for piece in request.stream():
            received.write(piece)
        received.seek(0)
        return AskedBody.model_validate_json(received.read())


class _FormParser(MultiPartParser):
    spool_max_size = IN_MEMORY


async def _form(request: Request, spool: Spool) -> tuple[AskedBody, tuple[TaskFile, ...]]:
    """Take a form apart: files by their role (`file` where none is meant), the rest by name."""
    parser = _FormParser(
        request.headers, request.stream(), max_files=MOST_FILES, max_fields=MOST_FIELDS
    )
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise HTTPException(400, error.message) from error
    files: list[TaskFile] = []
    fields: dict[str, object] = {}
    answers: dict[str, str] = {}
    async with _closed(form):
        for name, value in form.multi_items():
            if not isinstance(value, str):
                files += _sent(name, value, spool)
            elif name == PASTED:
                pasted = TaskFile(name=f"{PASTED}.txt", data=value.encode("utf-8", "replace"))
                files += [pasted] if value.strip() else []
            elif name.startswith(ANSWER):
                answers[name.removeprefix(ANSWER)] = value
            elif value and name != "gpu":
                fields[name] = value
        cards = [str(card) for card in form.getlist("gpu") if card]
    body = AskedBody.model_validate({**fields, "gpu": cards, "answers": answers, "files": []})
    return body, tuple(files)


def _sent(name: str, value: UploadFile, spool: Spool) -> Iterator[TaskFile]:
    # a browser sends a file without a name where none was chosen
    if value.filename:
        role = "" if name in ("file", "files") else name
        checked = SentFile.model_validate({"name": value.filename, "role": role})
        yield spool.copied(checked.name, checked.role, value.file)


@asynccontextmanager
async def _closed(form: FormData) -> AsyncIterator[None]:
    try:
        yield
    finally:
        await form.close()
