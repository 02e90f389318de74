"""What a caller asks: one record that every command and every function makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike as OsPath
from os import fspath
from typing import TypeAlias, TypedDict

import msgspec

from trainrx.model.facts import Fact, Origin, fact
from trainrx.model.text import Lang

PathLike: TypeAlias = str | OsPath[str]
Paths: TypeAlias = PathLike | Sequence[PathLike]
Answers: TypeAlias = Mapping[str, PathLike]
"""Texts are what is replied, paths are files that hold it."""


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What is replied to the question `id`: a text, or the file that holds it ("-": stdin)."""

    id: str
    text: str = ""
    path: str | None = None

    @property
    def lines(self) -> int:
        """Count the lines of the text."""
        return self.text.count("\n") + 1

    @property
    def spelled(self) -> str:
        """Write it as `--answer` takes it; a text of several lines as a file that is to hold it."""
        if self.path is not None:
            return f"{self.id}={'-' if self.path == '-' else f'@{self.path}'}"
        return f"{self.id}=@{self.id}.txt" if self.lines > 1 else f"{self.id}={self.text}"


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the caller asked, as given.

    `posts` are paths that are read as pasted posts, whatever they look like. `versions` are stated
    one by one, `versions_file` is a listing of them. `cards` are several only
    where a command compares them; the first is the job's own. `data` is a file of training data, ""
    for what the launch names, None where none is to be read. `stdin` is what "-" stands for, `kb`
    and `rules` are folders of further knowledge.
    """

    paths: tuple[str, ...] = ()
    posts: tuple[str, ...] = ()
    cmd: tuple[str, ...] = ()
    config: tuple[str, ...] = ()
    env: str | None = None
    versions: Mapping[str, str] | None = None
    versions_file: str | None = None
    logs: tuple[str, ...] = ()
    cards: tuple[str, ...] = ()
    gpus: int | None = None
    nodes: int | None = None
    notes: tuple[str, ...] = ()
    framework: str | None = None
    good: str | None = None
    answers: tuple[Reply, ...] = ()
    model_config: str | None = None
    data: str | None = None
    stdin: bytes | None = None
    kb: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    lang: Lang = "en"

    @property
    def gpu(self) -> str | None:
        """Give the card of the job itself: the first that is named."""
        return self.cards[0] if self.cards else None

    @property
    def files(self) -> tuple[str, ...]:
        """Give the files that hold the job itself."""
        return (*self.paths, *self.posts, *self.cmd, *self.config, *self.logs)

    def count_facts(self) -> tuple[Fact, ...]:
        """Give the number of GPUs and of machines as facts, where they are said."""
        counts = (
            ("hardware.gpus", self.gpus, "--gpus"),
            ("hardware.nodes", self.nodes, "--nodes"),
        )
        return tuple(
            fact(kind, value, Origin(source=flag, text=str(value)), how="given")
            for kind, value, flag in counts
            if value is not None
        )


class Inputs(TypedDict, total=False):
    """What every function takes by keyword.

    Attributes:
        cmd: launch scripts, or configs a framework takes.
        config: further config files.
        env: `KEY=VALUE` lines of where the job runs.
        versions: any listing of package versions, or a mapping name to version.
        logs: files, folders, glob patterns, "-": what the job printed.
        gpu: a card by name ("A100-80G") or its memory ("24GiB"); several only for
            `estimate` and `plan_job`, which compare them.
        gpus: number of GPUs of the whole job.
        nodes: number of machines.
        note: what the user saw, in English or Chinese.
        framework: what trains, with or without its version ("ms-swift", "verl 0.5"), where no
            launch tells.
        model_config: `config.json` of the model, for a model that is not known here.
        data: the training data (JSON lines, JSON, CSV, Parquet, Arrow), for the tokens of its
            samples; "" for what the launch names.
        stdin: the bytes "-" stands for.
        kb: folders of further knowledge.
        rules: folders of further rules.
        lang: language of all text in the answer.
    """

    cmd: Paths
    config: Paths
    env: PathLike | None
    versions: PathLike | dict[str, str] | None
    logs: Paths
    gpu: str | Sequence[str] | None
    gpus: int | None
    nodes: int | None
    note: str | Sequence[str]
    framework: str | None
    model_config: PathLike | None
    data: PathLike | None
    stdin: bytes | None
    kb: Paths
    rules: Paths
    lang: Lang


class FailureInputs(Inputs, total=False):
    """What functions that judge a failure take.

    Attributes:
        good: a launch that worked, to compare with.
        answers: by the id of a question (`Diagnosis.asks`): "yes", "no", "unknown", a value, or
            what its command printed; a path is a file that holds that.
    """

    good: PathLike | None
    answers: Answers


def request_of(
    paths: Paths, inputs: Inputs, good: PathLike | None = None, answers: Answers | None = None
) -> Request:
    """Make a request of what the caller named."""
    versions, gpu = inputs.get("versions"), inputs.get("gpu")
    note = inputs.get("note", ())
    cards = () if gpu is None else (gpu,) if isinstance(gpu, str) else tuple(dict.fromkeys(gpu))
    return Request(
        paths=_many(paths),
        cmd=_many(inputs.get("cmd", ())),
        config=_many(inputs.get("config", ())),
        env=_one(inputs.get("env")),
        versions=versions if isinstance(versions, dict) else None,
        versions_file=None if isinstance(versions, dict) else _one(versions),
        logs=_many(inputs.get("logs", ())),
        cards=cards,
        gpus=inputs.get("gpus"),
        nodes=inputs.get("nodes"),
        notes=(note,) if isinstance(note, str) else tuple(note),
        framework=inputs.get("framework"),
        good=_one(good),
        answers=tuple(_reply(ident, given) for ident, given in (answers or {}).items()),
        model_config=_one(inputs.get("model_config")),
        data=_one(inputs.get("data")),
        stdin=inputs.get("stdin"),
        kb=_many(inputs.get("kb", ())),
        rules=_many(inputs.get("rules", ())),
        lang=inputs.get("lang", "en"),
    )


def _many(given: Paths) -> tuple[str, ...]:
    return (
        (fspath(given),)
        if isinstance(given, (str, OsPath))
        else tuple(fspath(item) for item in given)
    )


def _one(given: PathLike | None) -> str | None:
    return None if given is None else fspath(given)


def _reply(ident: str, given: PathLike) -> Reply:
    return (
        Reply(id=ident, text=given)
        if isinstance(given, str)
        else Reply(id=ident, path=fspath(given))
    )
