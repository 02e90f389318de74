"""Start the job in a process of its own and take down what it prints and what its hooks tell."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from trainrx.dry_run.start import HOOKS, QUIET, DryStart

LOG = "dry-run.log"
_HOOK = re.compile(r'  File "[^"]*trainrx_hooks/[^"]*", line \d+')
_FRAME = re.compile(r'  File "')
MOST_EVENTS = 64 << 20
"""Bytes of what the hooks tell that are read."""


class DryOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it: its exit status (None: time was up), its output, what its hooks told."""

    status: int | None
    seconds: float
    log: str
    events: tuple[Mapping[str, Any], ...] = ()

    def told(self, kind: str) -> Iterator[Mapping[str, Any]]:
        """Give what was told of a kind."""
        return (item for item in self.events if item.get("kind") == kind)


def run_dry(start: DryStart, *, rows: int, world: int, seconds: float) -> DryOutcome:
    """Run it to its end, or until time is up.

    Args:
        start: what is started.
        rows: rows of each data set that are taken.
        world: processes the job has for real: batches stay as many rows as they are.
        seconds: how long it may take.
    """
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="trainrx-dry-run-") as name:
        place = Path(name)
        told, log, out = place / "events.jsonl", place / LOG, place / "output"
        out.mkdir()
        env = {
            **start.env,
            **QUIET,
            "HF_DATASETS_CACHE": str(place / "datasets"),
            "PYTHONPATH": os.pathsep.join(filter(None, (str(HOOKS), start.env.get("PYTHONPATH")))),
            "TRAINRX_DRY_RUN": str(told),
            "TRAINRX_DRY_RUN_OUT": str(out),
            "TRAINRX_DRY_RUN_ROWS": str(rows),
            "TRAINRX_DRY_RUN_WORLD": str(world),
        }
        more = (start.output_option, str(out)) if start.output_option else ()
        with log.open("wb") as file:
            status = _wait((*start.words, *more), start.folder, env, file, seconds)
        return DryOutcome(
            status=status,
            seconds=time.monotonic() - begun,
            log=without_hooks(log.read_text(encoding="utf-8", errors="replace")),
            events=tuple(_events(told)),
        )


def _wait(
    words: Sequence[str], folder: Path, env: Mapping[str, str], file: BinaryIO, seconds: float
) -> int | None:
    job = subprocess.Popen(  # noqa: S603 - the user's own job, which the user asked to start
        words,
        cwd=folder,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=file,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        return job.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(job.pid, signal.SIGKILL)
        job.wait()


def without_hooks(text: str) -> str:
    """Leave the frames of the hooks out of tracebacks: they are no part of the job."""
    kept: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        if _HOOK.match(line):
            inside = True
        elif inside and line.startswith("    ") and not _FRAME.match(line):
            continue
        else:
            inside = False
        if not inside:
            kept.append(line)
    return "".join(kept)


def _events(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        with path.open("rb") as file:
            lines = file.read(MOST_EVENTS).split(b"\n")
    except OSError:
        return
    for line in lines:
        with suppress(msgspec.DecodeError):
            found = msgspec.json.decode(line) if line else None
            if isinstance(found, dict):
                yield found
