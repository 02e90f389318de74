"""What may be asked over HTTP, as JSON or as a form, and the question it makes."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Literal

from fastapi import HTTPException, Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.datastructures import FormData

from trainrx.sanitizer import Level
from trainrx.share.task import Kind, Role, Task, TaskFile

MOST_FILES = 256
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


class Asked(BaseModel):
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

    def task(self, kind: Kind) -> Task:
        """Make the question of it."""
        return Task(
            kind=kind,
            files=tuple(sent.file() for sent in self.files),
            gpu=tuple(self.gpu),
            gpus=self.gpus,
            nodes=self.nodes,
            note=self.note,
            framework=self.framework,
            answers=self.answers,
            top=self.top,
            lang=self.lang or "en",
            redaction=self.redaction,
        )


class RepliedBody(BaseModel):
    """What is replied to questions of an answer: the token it came with, and replies by id."""

    model_config = ConfigDict(extra="forbid")
    token: Annotated[str, Field(max_length=100)]
    answers: Annotated[dict[str, str], Field(min_length=1, max_length=64)]


async def asked(request: Request) -> Asked:
    """Read what is asked.

    Raises:
        HTTPException: it is malformed; says what was expected.
    """
    try:
        if request.headers.get("content-type", "").startswith(FORM):
            form = await request.form(max_files=MOST_FILES, max_fields=64, max_part_size=1 << 20)
            return Asked.model_validate(await _fields(form))
        return Asked.model_validate_json(await request.body())
    except ValidationError as error:
        raise HTTPException(422, error.errors(include_url=False, include_input=False)) from error


async def _fields(form: FormData) -> dict[str, object]:
    """Take a form apart: files by their role (`file` where none is meant), the rest by name."""
    found: dict[str, object] = {}
    answers: dict[str, str] = {}
    files: list[dict[str, str]] = []
    for name, value in form.multi_items():
        if not isinstance(value, str):
            data = await value.read()
            # a browser sends a file without a name where none was chosen
            if value.filename:
                sent = base64.b64encode(data).decode()
                role = "" if name in ("file", "files") else name
                files.append({"name": value.filename, "base64": sent, "role": role})
        elif name == PASTED:
            files += [{"name": f"{PASTED}.txt", "text": value}] if value.strip() else []
        elif name.startswith(ANSWER):
            answers[name.removeprefix(ANSWER)] = value
        elif value and name != "gpu":
            found[name] = value
    cards = [str(card) for card in form.getlist("gpu") if card]
    return {**found, "gpu": cards, "answers": answers, "files": files}
