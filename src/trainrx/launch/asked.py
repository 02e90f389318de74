"""The inputs that several pipelines take, and the request they make."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from trainrx.launch.given import Request, many

PathLike = Path | str


class Inputs(TypedDict, total=False):
    """What is known of a job, by keyword; see `diagnose()` for what each is."""

    cmd: PathLike | Sequence[PathLike]
    config: Sequence[PathLike]
    env: PathLike | None
    versions: PathLike | dict[str, str] | None
    logs: Sequence[PathLike]
    gpu: str | None
    gpus: int | None
    nodes: int | None
    note: str | Sequence[str]
    model_config: PathLike | None
    stdin: bytes | None


def request_of(paths: PathLike | Sequence[PathLike], inputs: Inputs) -> Request:
    """Make a request of what the caller named."""
    versions, env = inputs.get("versions"), inputs.get("env")
    note, model_config = inputs.get("note", ()), inputs.get("model_config")
    listed = isinstance(versions, dict)
    return Request(
        paths=many(paths),
        cmd=many(inputs.get("cmd", ())),
        config=many(inputs.get("config", ())),
        env=None if env is None else str(env),
        versions=versions if isinstance(versions, dict) else None,
        versions_file=None if versions is None or listed else str(versions),
        logs=many(inputs.get("logs", ())),
        gpu=inputs.get("gpu"),
        gpus=inputs.get("gpus"),
        nodes=inputs.get("nodes"),
        notes=(note,) if isinstance(note, str) else tuple(note),
        model_config=None if model_config is None else str(model_config),
        stdin=inputs.get("stdin"),
    )
