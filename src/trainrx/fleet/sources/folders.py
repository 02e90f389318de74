"""Run folders, logs and evidence bundles on a file system."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from trainrx.fleet.record import FleetJob
from trainrx.fleet.sources import state_digest
from trainrx.inputs.folder import SKIPPED_FOLDERS, is_wanted, wanted_files
from trainrx.model.bundle import MANIFEST

PACKED = (".tar.zst", ".tar.gz", ".tgz", ".tar", ".zip")
LAUNCHES = (".sh", ".bash", ".sbatch", ".slurm")
STARTS = frozenset({"args.json", "sft_args.json", "training_args.yaml", "config.yaml"})
DEEPEST = 6
"""Folders below one that is given in which jobs are looked for."""


class FolderSource:
    """Jobs below some paths.

    A folder that holds a launch, a log or a manifest is a job with all below it, but where several
    folders in it hold a launch of their own: then it is a folder of jobs.

    Args:
        paths: folders of jobs, jobs, bundles or logs.
    """

    at_once = 1

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = tuple(dict.fromkeys(path.absolute() for path in paths))

    def jobs(self, since: float | None) -> Iterator[FleetJob]:
        """List the jobs of which a file was written after a moment."""
        for path in self._paths:
            for job in _of_file(path) if path.is_file() else _below(path, DEEPEST):
                if since is None or job.ended is None or job.ended >= since:
                    yield job

    def prepared(self, job: FleetJob) -> FleetJob:
        """Add the digest of the files that are read."""
        place = Path(job.folder)
        if job.logs:
            files = [Path(log) for log in job.logs]
        elif place.is_file():
            files = [place]
        else:
            files = list(wanted_files(place, []))
        times = [file.stat().st_mtime for file in files if file.exists()]
        return msgspec.structs.replace(
            job, inputs_digest=state_digest(files), ended=max(times, default=job.ended)
        )


def _of_file(path: Path) -> Iterator[FleetJob]:
    if path.name.endswith(PACKED):
        yield _job(path, "bundle")
    else:
        yield msgspec.structs.replace(_job(path, "folder"), folder="", logs=(str(path),))


def _below(folder: Path, depth: int) -> Iterator[FleetJob]:
    """List the jobs in a folder, which may be one itself."""
    files, folders = _listed(folder)
    packed = [name for name in files if name.endswith(PACKED)]
    if MANIFEST in files:
        yield _job(folder, "bundle")
        return
    wanted = any(is_wanted(name) for name in files)
    if wanted and sum(_has_launch(folder / name) for name in folders) < 2:
        yield _job(folder, "folder")
        return
    yield from (_job(folder / name, "bundle") for name in packed)
    for name in folders if depth else ():
        yield from _below(folder / name, depth - 1)


def _has_launch(folder: Path) -> bool:
    files, _ = _listed(folder)
    return any(name.endswith(LAUNCHES) or name in STARTS for name in files)


def _listed(folder: Path) -> tuple[list[str], list[str]]:
    """Give the files and the folders in a folder, each sorted; none where it cannot be read."""
    files, folders = [], []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                elif not entry.name.startswith("."):
                    files.append(entry.name)
    except OSError:
        return [], []
    kept = (n for n in folders if not n.startswith(".") and n not in SKIPPED_FOLDERS)
    return sorted(files), sorted(kept)


def _job(path: Path, source: str) -> FleetJob:
    try:
        status = path.stat()
    except OSError:
        return FleetJob(key=str(path), name=path.name, source="folder", folder=str(path))
    return FleetJob(
        key=str(path),
        name=path.name,
        source="bundle" if source == "bundle" else "folder",
        folder=str(path),
        user=_user(status.st_uid),
        ended=status.st_mtime,
    )


@lru_cache(maxsize=4096)
def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)
