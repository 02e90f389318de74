"""From what the user names - files, folders, archives, patterns, stdin - to recognised inputs."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from pathlib import Path

from trainrx.inputs.encoding import decode_text, looks_binary
from trainrx.inputs.folder import is_archive, members, wanted_files
from trainrx.inputs.recognise import SAMPLE, is_command, recognise
from trainrx.inputs.stream import CHUNK, file_chunks
from trainrx.model.errors import NoInputError, UsageError
from trainrx.model.findings import Unread
from trainrx.model.job import Input, InputKind

LARGEST_TEXT = 1 << 24
"""Bytes of a script, configuration or list that is taken as text; nobody writes more."""
FENCES = ("```", "~~~")
"""What sets blocks of an issue or a chat apart."""
STREAMED: tuple[InputKind, ...] = ("log", "metrics")

Found = tuple[list[Input], list[Unread]]


def read_path(path: Path, *, kind: InputKind | None = None) -> Found:
    """Read one file, folder, archive or glob pattern, recognised by content.

    Args:
        path: what the user named.
        kind: what it must be, where the user said so (`--log FILE`).

    Raises:
        UsageError: nothing is there, or it is empty, binary, unreadable, or without anything we
            can use.
    """
    exists = _exists(path)
    if not exists and re.search(r"[*?[]", str(path)):
        return _read_pattern(path, kind)
    if not exists:
        raise UsageError(f"{path}: no such file or folder. Check the spelling and where you are.")
    if path.is_dir():
        return _read_folder(path)
    if not path.is_file():  # opening a pipe may wait for ever
        raise UsageError(f"{path}: {NO_FILE}.")
    return _read_file(path, kind)


def read_stdin(data: bytes, *, kind: InputKind | None = None, name: str = "<stdin>") -> Found:
    """Read what was piped in or pasted.

    Raises:
        UsageError: nothing came, or it is not text.
    """
    unread: list[Unread] = []
    if data.startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd")):
        raise UsageError(f"{name}: packed data. Unpack it first, e.g. `zcat FILE | diagnose -`.")
    if not data.strip(b"\0 \t\r\n"):
        raise UsageError(f"{name}: nothing came in. Pipe a log or a command into it.")
    if looks_binary(data[:SAMPLE]):
        raise UsageError(f"{name}: {NO_TEXT}.")
    post = None if kind is not None else _post(decode_text(data), name)
    if post is not None:
        return post
    found = _from_bytes(name, data, kind)
    if found is None:
        raise NoInputError(f"{name}: {NO_INPUT}.")
    return [found], unread


NO_INPUT = "is Python source or a data set, expected a log, a launch script or a configuration"
NO_FILE = "is a pipe or a device, expected a file. Pipe into `-` instead: `... | diagnose -`"
NO_TEXT = "is binary, expected a log, a script or a configuration as text"


def in_words(given: Iterable[str]) -> str:
    """Give what is a command itself and names no file, as the lines of one script; "" without."""
    lines = [text.strip() for text in given if is_command(text) and not _exists(Path(text))]
    return "\n".join((*lines, "")) if lines else ""


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name longer than the system allows, or with a NUL
        return False


def _read_pattern(path: Path, kind: InputKind | None) -> Found:
    try:
        names = sorted(Path(path.anchor or ".").glob(str(path.relative_to(path.anchor))))
    except (ValueError, OSError) as error:
        raise UsageError(f"{path}: is not a pattern of file names: {error}.") from error
    if not names:
        raise UsageError(f"{path}: no file matches this pattern. Quote it, or check the folder.")
    inputs: list[Input] = []
    unread: list[Unread] = []
    for name in names:
        found = _found_inside(name, unread, kind)
        inputs += [found] if found is not None else []
    if not inputs:
        raise UsageError(f"{path}: {len(names)} files match, but none is a log, script or config.")
    return inputs, unread


def _read_folder(path: Path) -> Found:
    unread: list[Unread] = []
    inputs = [
        found
        for place in wanted_files(path, unread)
        if (found := _found_inside(place, unread, None)) is not None
    ]
    if not inputs:
        raise UsageError(
            f"{path}: no log, script, config or metrics in this folder. Expected a run folder"
            " (args.json, logging.jsonl, *.log, *.sh); name the log or the script itself."
        )
    return inputs, unread


def _found_inside(place: Path, unread: list[Unread], kind: InputKind | None) -> Input | None:
    """Read one file that was come upon; what is wrong with it is noted, not raised.

    Empty files (most of what torchrun leaves per rank) and data sets are no loss.
    """
    found: list[Input] = []
    try:
        if place.stat().st_size and place.is_file():
            found, more = _read_file(place, kind)
            unread += more
    except UsageError as error:
        reason = str(error).removeprefix(f"{place}: ").removesuffix(".")
        if reason not in (NO_INPUT, EMPTY):
            unread.append(Unread(source=str(place), reason=reason))
    except OSError as error:
        unread.append(Unread(source=str(place), reason=f"cannot be read: {error.strerror}"))
    return found[0] if found else None


EMPTY = "is empty or blank. Check that it is the right file and was written to"


def _read_file(path: Path, kind: InputKind | None) -> Found:
    name = str(path)
    unread: list[Unread] = []
    if is_archive(path, _head(path)):
        return _read_archive(path)
    sample = next(file_chunks(path, name, unread.append, size=SAMPLE), b"")
    if unread:
        raise UsageError(f"{name}: {unread[0].reason}.")
    if not sample.strip(b" \t\r\n"):
        raise UsageError(f"{name}: {EMPTY}.")
    if looks_binary(sample):
        raise UsageError(f"{name}: {NO_TEXT}.")
    head = decode_text(sample)
    if kind is None and any(fence in head for fence in FENCES):
        post = _post(decode_text(_whole(path, name, unread)), name)
        if post is not None:
            return post[0], [*unread, *post[1]]
    said = _kind(head, kind)
    if said is None:
        raise NoInputError(f"{name}: {NO_INPUT}.")
    if said in STREAMED:
        return [Input(kind=said, name=name, path=path)], unread
    text = _lines(decode_text(_whole(path, name, unread)), said)
    return [Input(kind=said, name=name, path=path, text=text)], unread


def _post(text: str, name: str) -> Found | None:
    """Take a pasted post apart; None where a text is of one kind as a whole."""
    # most starts read no post
    from trainrx.inputs.paste.post import post_inputs

    return post_inputs(text, name)


def _kind(text: str, said: InputKind | None) -> InputKind | None:
    """Take the user's word for what an input is, but for metrics: they are not read as a log."""
    if said not in (None, "log"):
        return said
    seen = recognise(text)
    return seen if said is None or seen == "metrics" else said


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as handle:
            return handle.read(512)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}.") from error


def _whole(path: Path, name: str, unread: list[Unread]) -> bytes:
    buffer = io.BytesIO()
    for chunk in file_chunks(path, name, unread.append, size=CHUNK):
        buffer.write(chunk)
        if buffer.tell() > LARGEST_TEXT:
            reason = f"is larger than {LARGEST_TEXT} bytes: only its beginning was read"
            unread.append(Unread(source=name, reason=reason))
            break
    return buffer.getvalue()[:LARGEST_TEXT]


def _read_archive(path: Path) -> Found:
    unread: list[Unread] = []
    inputs: list[Input] = []
    for name, data in members(path, unread):
        if data.strip() and not looks_binary(data[:SAMPLE]):
            found = _from_bytes(name, data, None)
            inputs += [found] if found is not None else []
    if not inputs:
        why = unread[0].reason if unread else "no log, script or config in it"
        raise UsageError(f"{path}: {why}. Expected a packed run folder.")
    return inputs, unread


def _from_bytes(name: str, data: bytes, kind: InputKind | None) -> Input | None:
    text = decode_text(data)
    said = _kind(text, kind)
    return None if said is None else Input(kind=said, name=name, text=_lines(text, said))


def _lines(text: str, kind: InputKind) -> str:
    r"""Make `\r\n` a plain line end, but not in a script: there it is a defect to be told."""
    return text if kind == "script" else text.replace("\r\n", "\n")
