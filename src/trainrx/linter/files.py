"""The files a lint run looks at, and how they are shared out among cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from trainrx.frameworks import frameworks
from trainrx.model.errors import UsageError
from trainrx.model.job import COMMAND_LINE
from trainrx.model.progress import advance, observed

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
_MANIFEST = (b"apiVersion", b"services:", b"\nrun:")
_STARTS: tuple[bytes, ...] = (b"torchrun", b"accelerate", b"deepspeed", b"python", b"uv run")


class File(msgspec.Struct, frozen=True):
    """A file as text; `named` tells those the caller named from those a folder holds.

    `posted`: a part of a post, each line where it stands there, so that it cannot be written back.
    """

    name: str
    text: str
    kind: Literal["script", "config"]
    folder: Path | None
    named: bool
    posted: bool = False


Unreadable = tuple[str, str]
"""A name and why nothing could be made of it."""


def lint_files(
    paths: Sequence[str],
    stdin: bytes | None,
    exclude: Sequence[str],
    unread: list[Unreadable],
    *,
    only_launches: bool = False,
) -> Iterator[File]:
    """Give the files to look at, each once.

    Args:
        paths: files and folders; "-" is `stdin`.
        stdin: what stands on standard input.
        exclude: patterns of names that are left out of folders.
        unread: takes what could not be read.
        only_launches: whether files that are named count as those of a folder do.

    Raises:
        UsageError: a path that is named does not exist.
    """
    seen: set[str] = set()
    words, names = _apart(paths)
    if words:
        yield File(COMMAND_LINE, words, "script", Path(), named=True)
    for path in names:
        if path == "-":
            text = _decoded(stdin or b"")
            yield from _posted(File(STDIN, text, kind_of(STDIN, text), None, named=True))
            continue
        for name in _below(path, exclude):
            if name in seen:
                continue
            seen.add(name)
            found = _read(name, unread, named=name == path and not only_launches)
            if found is not None:
                yield from _posted(found) if found.named else (found,)


def _posted(file: File) -> Iterator[File]:
    """Give the launches and configurations of a post; a file that is none as it is."""
    if file.name.lower().endswith((*SCRIPTS, *CONFIGS)):
        yield file
        return
    from trainrx.inputs.containers.post import contained
    from trainrx.inputs.content import Content

    found = contained(Content(file.name, data=file.text.encode("utf-8", "replace")))
    if found is None:
        yield file
        return
    parts = [
        File(file.name, item.text or "", item.kind, file.folder, named=True, posted=True)
        for item in found[0]
        if item.kind in ("script", "config")
    ]
    yield from parts or [msgspec.structs.replace(file, text="", posted=True)]


def _apart(paths: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Take the commands given in words apart from the files that are named."""
    if not any(len(path.split()) > 1 for path in paths):
        return "", paths
    from trainrx.inputs.files import in_words

    return in_words(paths), [path for path in paths if not in_words((path,))]


def _below(path: str, exclude: Sequence[str]) -> Iterator[str]:
    if Path(path).is_file():
        yield path
        return
    if not Path(path).is_dir():
        raise UsageError(f"{path}: no such file or folder. Check the spelling and where you are.")
    for folder, names, files in os.walk(path):
        names[:] = sorted(n for n in names if not n.startswith(".") and n not in _SKIPPED)
        for name in sorted(files):
            full = f"{folder.rstrip('/')}/{name}"
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
        with Path(name).open("rb") as handle:
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
    manifest = config and any(word in data for word in _MANIFEST)
    if not named and not any(word in data for word in _telling(config=config and not manifest)):
        return None
    text = _decoded(data)
    kind = kind_of(name, text) if named or config else "script"
    return File(name, text, kind, Path(name).parent, named)


@lru_cache(maxsize=2)
def _telling(*, config: bool) -> tuple[bytes, ...]:
    """Give words of which one stands in every script, or configuration, that is a launch."""
    if not config:
        return (*_STARTS, *(name.encode() for one in frameworks() for name in one.programs))
    keys = (key for one in frameworks() if not one.only_assigns for key in one.telling_keys)
    return tuple(key.rpartition(".")[2].encode() for key in keys)


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


F = TypeVar("F")
MOST = 8
_PIECE = 1 << 16


def shared_out(files: Sequence[F], judge: Callable[[Sequence[F]], bytes]) -> list[bytes]:
    """Give what `judge` says of each share of the files, in any order.

    A share whose child did not answer is judged here.
    """
    count = min(_cores(), MOST, len(files) // (LEAST_FOR_TWO // 2))
    if count < 2 or len(files) < LEAST_FOR_TWO or not hasattr(os, "fork"):
        return [judge(files)]
    shares = [files[number::count] for number in range(count)]
    children = [_child(share, judge) for share in shares[1:]]
    answers = [judge(shares[0])]
    for share, (pid, pipe) in zip(shares[1:], children, strict=True):
        with os.fdopen(pipe, "rb") as stream:
            said = stream.read()
        _, status = os.waitpid(pid, 0)
        is_judged = status == 0 and bool(said)
        advance(len(share) if is_judged else 0)
        answers.append(said if is_judged else judge(share))
    return answers


def _child(share: Sequence[F], judge: Callable[[Sequence[F]], bytes]) -> tuple[int, int]:
    """Start a child that writes its answer into a pipe; give its number and the pipe."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    status = 1
    # whatever happens in the child, it must not go on as a second parent
    with suppress(BaseException):
        os.close(reading)
        with observed(None):
            said = memoryview(judge(share))
        while said:
            said = said[os.write(writing, said[:_PIECE]) :]
        status = 0
    os._exit(status)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
