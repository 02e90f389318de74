"""Who lists jobs: folders and bundles, Slurm's accounting, a Kubernetes cluster."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from trainrx.fleet.record import FleetJob
from trainrx.model.errors import UsageError

SACCT, KUBERNETES = "sacct", "k8s"


class JobSource(Protocol):
    """Lists jobs, and says what of a job is to be read.

    Attributes:
        at_once: jobs that are prepared at the same time; more than one where that waits for others.
    """

    at_once: int

    def jobs(self, since: float | None) -> Iterator[FleetJob]:
        """List the jobs that ended, or run, after a moment; cheap, for it is done at once.

        Raises:
            UsageError: nothing can be listed.
        """

    def prepared(self, job: FleetJob) -> FleetJob:
        """Add the digest of its inputs, and the files of one that lies in no file system."""


def sources_of(words: Sequence[str]) -> Iterator[JobSource]:
    """Say for each word who lists the jobs it means.

    Raises:
        UsageError: nothing is there.
    """
    from trainrx.fleet.sources.folders import FolderSource
    from trainrx.fleet.sources.sacct import SacctSource, is_sacct

    places: list[Path] = []
    for word in words:
        kind, _, rest = word.partition(":")
        if Path(word).exists():
            places.append(Path(word))
        elif word == SACCT:
            yield SacctSource()
        elif kind == KUBERNETES:
            from trainrx.fleet.sources.kubernetes import KubernetesSource

            yield KubernetesSource(rest)
        else:
            places += _matching(word)
    listings = [place for place in places if place.suffix == ".json" and is_sacct(place)]
    yield from (SacctSource(place) for place in listings)
    others = [place for place in places if place not in listings]
    if others:
        yield FolderSource(others)


def _matching(word: str) -> list[Path]:
    """Give the paths a pattern names.

    Raises:
        UsageError: there are none.
    """
    path = Path(word).expanduser()
    if not re.search(r"[*?[]", word):
        raise UsageError(f"{word}: no such file or folder. Check the spelling and where you are.")
    anchor = Path(path.anchor or ".")
    found = sorted(anchor.glob(str(path.relative_to(path.anchor))))
    if not found:
        raise UsageError(f"{word}: no file matches this pattern. Quote it, or check the folder.")
    return found


def state_digest(paths: Iterable[Path], *more: bytes) -> str:
    """Name the state of files by name, size and time; of what is no file by its bytes."""
    named = hashlib.sha256()
    for path in paths:
        try:
            status = path.stat()
        except OSError:
            continue
        line = f"{os.fspath(path)}\0{status.st_size}\0{status.st_mtime_ns}\n"
        named.update(line.encode("utf-8", "surrogateescape"))
    for data in more:
        named.update(data)
    return named.hexdigest()[:20]
