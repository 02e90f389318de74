"""One job, asked about by itself: what a history knows of its failure, and how it gets there."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

import msgspec

from trainrx.fleet.history.store import Store
from trainrx.fleet.record import FleetJob, JobAnswer
from trainrx.fleet.work import kept_of
from trainrx.launch.request import Request
from trainrx.model.result import Diagnosis
from trainrx.verdict.run import JudgedJob


def recall(path: Path, request: Request, judged: JudgedJob, *, remember: bool = False) -> Diagnosis:
    """Add to an answer what a history knows of the failure; the history learns it where asked to.

    Args:
        path: of the history; one that is not there is begun only to remember something.
        request: what was asked.
        judged: the answer to it.
        remember: put the answer into the history as well.

    Raises:
        UsageError: the history cannot be opened or written.
    """
    if not (remember or path.exists()):
        return judged.answer
    answer = kept(request, judged)
    with Store.open(path) as store:
        seen = store.seen(store.group_of(answer), besides=answer.key)
        if remember:
            store.add([answer])
    return judged.answer if seen is None else msgspec.structs.replace(judged.answer, history=seen)


def kept(request: Request, judged: JudgedJob) -> JobAnswer:
    """Give of an answer what a history keeps."""
    files = [Path(name) for name in request.files if name != "-" and Path(name).exists()]
    folder = files[0] if len(files) == 1 and files[0].is_dir() else None
    inside = list(_inside(files))
    times = [file.stat().st_mtime for file in inside]
    job = FleetJob(
        key=" ".join(sorted(str(file.absolute()) for file in files)) or "-",
        name=files[0].resolve().name if files else "-",
        source="folder",
        folder="" if folder is None else str(folder.absolute()),
        gpus=request.gpus,
        ended=max(times, default=None),
        inputs_digest=_digest(inside, request),
    )
    return kept_of(job, judged.known)


def _inside(files: Iterable[Path]) -> Iterable[Path]:
    for file in files:
        if file.is_dir():
            yield from sorted(one for one in file.iterdir() if one.is_file())
        else:
            yield file


def _digest(files: Iterable[Path], request: Request) -> str:
    """Name the state of what is read: another one where a file was written to."""
    made = hashlib.sha256(repr((request.paths, request.cmd, request.notes)).encode())
    made.update(request.stdin or b"")
    for file in files:
        state = file.stat()
        made.update(f"{file.absolute()}\0{state.st_size}\0{state.st_mtime_ns}\0".encode())
    return made.hexdigest()[:16]
