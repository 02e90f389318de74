"""The files a lint run looks at: those that are named, and what folders hold of scripts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from trainrx.model.errors import UsageError

SCRIPTS = (".sh", ".bash", ".slurm", ".sbatch", ".sub", ".pbs", ".lsf", ".job")
CONFIGS = (".yaml", ".yml", ".json")
LARGEST = 1 << 20
"""Bytes of a file a person writes by hand; what is larger is left out, and told."""
LEAST_FOR_TWO = 64
"""Files from which on a second process is worth its start."""
STDIN = "<stdin>"
_SKIPPED = frozenset(
    {"node_modules", "site-packages", "__pycache__", "wandb", "checkpoints", "venv", "build"}
)
_TELLING: tuple[bytes, ...] = (
    *(b"swift", b"megatron", b"llamafactory", b"lmf", b"trl", b"verl", b"axolotl", b"vllm"),
    *(b"openrlhf", b"torchrun", b"accelerate", b"deepspeed", b"python", b"automodel"),
    b"examples/run_",
)
_KEYS: tuple[bytes, ...] = (
    *(b"finetuning_type", b"cutoff_len", b"lora_target", b"stage", b"base_model"),
    *(b"sequence_len", b"micro_batch_size", b"tuner_type", b"train_type", b"sft_type"),
    *(b"rlhf_type", b"dataset_name", b"max_completion_length", b"step_scheduler"),
)
"""One of these stands in every configuration that implies a launch."""


class File(msgspec.Struct, frozen=True):
    """A file as text; `named` tells those the caller named from those a folder holds."""

    name: str
    text: str
    kind: Literal["script", "config"]
    folder: str | os.PathLike[str] | None
    named: bool


Unreadable = tuple[str, str]
"""A name and why nothing could be made of it."""


def lint_files(
    paths: Sequence[str], stdin: bytes | None, exclude: Sequence[str], unread: list[Unreadable]
) -> Iterator[File]:
    """Give the files to look at, each once.

    Args:
        paths: files and folders; "-" is `stdin`.
        stdin: what stands on standard input.
        exclude: patterns of names that are left out of folders.
        unread: takes what could not be read.

    Raises:
        UsageError: a path that is named does not exist.
    """
    seen: set[str] = set()
    for path in paths:
        if path == "-":
            text = _decoded(stdin or b"")
            yield File(STDIN, text, kind_of(STDIN, text), None, named=True)
            continue
        for name in _below(path, exclude):
            if name in seen:
                continue
            seen.add(name)
            found = _read(name, unread, named=name == path)
            if found is not None:
                yield found


def _below(path: str, exclude: Sequence[str]) -> Iterator[str]:
    if os.path.isfile(path):
        yield path
        return
    if not os.path.isdir(path):
        raise UsageError(f"{path}: no such file or folder. Check the spelling and where you are.")
    for folder, names, files in os.walk(path):
        names[:] = sorted(n for n in names if not n.startswith(".") and n not in _SKIPPED)
        for name in sorted(files):
            full = os.path.join(folder, name)
            wanted = name.lower().endswith((*SCRIPTS, *CONFIGS))
            if wanted and not matches_any(full, exclude):
                yield full


def matches_any(path: str, patterns: Sequence[str]) -> bool:
    """Tell whether a path, or the name at its end, fits one of some shell patterns."""
    if not patterns:
        return False
    from fnmatch import fnmatch

    name = path.replace(os.sep, "/").rpartition("/")[2]
    return any(fnmatch(path, pattern) or fnmatch(name, pattern) for pattern in patterns)


def _read(name: str, unread: list[Unreadable], *, named: bool) -> File | None:
    try:
        with open(name, "rb") as handle:
            data = handle.read(LARGEST + 1)
    except OSError as error:
        unread.append((name, f"cannot be read: {error.strerror or error}"))
        return None
    if len(data) > LARGEST:
        if named:
            unread.append((name, f"is larger than {LARGEST >> 20} MiB: no script is"))
        return None
    if b"\0" in data[:4096] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        if named:
            unread.append((name, "is binary, expected a script or a configuration as text"))
        return None
    config = name.lower().endswith(CONFIGS)
    manifest = config and (b"apiVersion:" in data or b"services:" in data)
    if not named and not any(w in data for w in (_KEYS if config and not manifest else _TELLING)):
        return None
    text = _decoded(data)
    kind = kind_of(name, text) if named or config else "script"
    return File(name, text, kind, os.path.dirname(name) or ".", named)


def _decoded(data: bytes) -> str:
    if not data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")) and b"\0" not in data:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            pass
    # other encodings are rare enough to import their reader only here
    from trainrx.inputs.encoding import decode_text

    return decode_text(data)


def kind_of(name: str, text: str) -> Literal["script", "config"]:
    """Tell a configuration from a script, by what it says where the name does not."""
    if name.lower().endswith(CONFIGS):
        return "config"
    if name.lower().endswith(SCRIPTS) or text.startswith("#!"):
        return "script"
    from trainrx.inputs.recognise import recognise

    return "config" if recognise(text) in ("config", "args") else "script"
