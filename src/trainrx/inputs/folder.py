"""Which files of a run folder are worth reading, also of one that is packed as tar or zip."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from trainrx.inputs.stream import LIMIT
from trainrx.model.findings import Unread
from trainrx.model.pattern import late

MOST_FILES = 2000
MOST_ENTRIES = 100_000
MOST_DEPTH = 8
SKIPPED_FOLDERS = {"__pycache__", "wandb", "node_modules", "site-packages", ".git", "tokenizer"}
HYDRA = ".hydra"
"""Where Hydra (verl) leaves the configuration it composed."""
NAMES = {
    "args.json",
    "sft_args.json",
    "logging.jsonl",
    "trainer_log.jsonl",
    "trainer_state.json",
    "stdout",
    "stderr",
    "nohup.out",
    "environment.yaml",
    "requirements.txt",
    "pip_freeze.txt",
    "training_args.yaml",
}
WANTED = late(
    r"\.(?:log|out|err|sh|bash|sbatch|slurm|ya?ml|jsonl|txt|env)(?:\.(?:gz|zst|\d{1,3}))?$"
    r"|^(?:ds|deepspeed|zero|accelerate|fsdp|train|config_train)[\w.-]*\.json$",
    re.IGNORECASE,
)
UNWANTED = late(
    r"^(?:vocab|merges|special_tokens|added_tokens|tokenizer|README|LICENSE|latest)"
    r"|^(?:val_dataset|train_dataset|dataset)\S*\.jsonl$",
    re.IGNORECASE,
)
CHECKPOINT = late(r"^(?:checkpoint|global_step|epoch)[-_]?(\d{1,12})$")


def wanted_files(root: Path, unread: list[Unread]) -> Iterator[Path]:
    """Give the files of a folder that may tell something, in a stable order.

    Weights, tokenizers and data sets are passed over; of the checkpoints only the last is entered.
    """
    given = entries = 0
    for folder, names, files in os.walk(root, followlinks=False):
        place = Path(folder)
        depth = len(place.relative_to(root).parts)
        names[:] = sorted(_entered(names)) if depth < MOST_DEPTH else []
        for name in sorted(files):
            entries += 1
            if not is_wanted(name):
                continue
            if given == MOST_FILES or entries > MOST_ENTRIES:
                reason = f"holds more files than are read ({MOST_FILES}); name the logs themselves"
                unread.append(Unread(source=str(root), reason=reason))
                return
            given += 1
            yield place / name


def is_wanted(name: str) -> bool:
    """Tell by its name whether a file may be a log, a launch or metrics of a run."""
    if name in NAMES:
        return True
    return WANTED.search(name) is not None and UNWANTED.match(name) is None


def _entered(names: list[str]) -> list[str]:
    kept = [
        name
        for name in names
        if name not in SKIPPED_FOLDERS and (name == HYDRA or not name.startswith("."))
    ]
    steps = {name: int(found[1]) for name in kept if (found := CHECKPOINT.match(name))}
    last = max(steps, key=steps.__getitem__, default="")
    return [name for name in kept if name not in steps or name == last]


MOST_BYTES = 1 << 28
"""Bytes of all members together that are unpacked."""
MOST_MEMBER = 1 << 26
TAR_AT = 257


def is_archive(path: Path, head: bytes) -> bool:
    """Tell by content whether a file is a zip or a (packed) tar archive."""
    if head.startswith(b"PK\x03\x04"):
        return True
    if head[TAR_AT : TAR_AT + 5] == b"ustar":
        return True
    if not head.startswith((b"\x1f\x8b", b"BZh", b"\xfd7zXZ")):
        return False
    import tarfile  # hardly any input is an archive

    try:
        with tarfile.open(path, "r|*"):
            return True
    except (tarfile.TarError, OSError, EOFError, zlib.error):
        return False


def members(path: Path, unread: list[Unread]) -> Iterator[tuple[str, bytes]]:
    """Give name and bytes of the members worth reading; what stops it goes to `unread`."""
    import tarfile
    import zipfile

    left = MOST_BYTES
    given = 0
    try:
        for name, handle in _entries(path):
            if given >= MOST_FILES or left <= 0:
                unread.append(Unread(source=str(path), reason="the archive is larger than is read"))
                return
            data = handle.read(min(MOST_MEMBER, left) + 1)
            if len(data) > min(MOST_MEMBER, left):
                data = data[:-1]
                unread.append(Unread(source=name, reason=f"only the first {len(data)} bytes read"))
            left -= len(data)
            given += 1
            yield name, data
    except (tarfile.TarError, zipfile.BadZipFile, OSError, EOFError, zlib.error) as error:
        unread.append(Unread(source=str(path), reason=f"the archive is damaged: {error}"))
    except (RuntimeError, NotImplementedError) as error:
        unread.append(Unread(source=str(path), reason=f"the archive cannot be unpacked: {error}"))


def _entries(path: Path) -> Iterator[tuple[str, BinaryIO]]:
    import tarfile
    import zipfile

    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            for info in packed.infolist():
                if not info.is_dir() and is_wanted(PurePosixPath(info.filename).name):
                    with packed.open(info) as handle:
                        yield f"{path}!{info.filename}", cast("BinaryIO", handle)
        return
    with tarfile.open(path, "r|*") as archive:
        for member in archive:
            if member.offset > LIMIT:
                raise tarfile.ReadError(f"goes on beyond {LIMIT} bytes")
            if member.isfile() and is_wanted(PurePosixPath(member.name).name):
                found = archive.extractfile(member)
                if found is not None:
                    yield f"{path}!{member.name}", cast("BinaryIO", found)
