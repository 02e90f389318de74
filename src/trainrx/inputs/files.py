"""From what the user names - files, folders, archives, patterns, stdin - to recognised inputs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from trainrx.inputs.archives import is_archive, members
from trainrx.inputs.budget import ReadingBudget
from trainrx.inputs.bundle import read_bundle_folder, read_bundle_members
from trainrx.inputs.containers import EMPTY, read_content, read_member, reasons
from trainrx.inputs.content import PICKLED, Content, Found, is_torch_archive
from trainrx.inputs.folder import wanted_files
from trainrx.inputs.recognise import is_command
from trainrx.knowledge.regular import open_regular
from trainrx.model.bundle import MANIFEST
from trainrx.model.errors import UnknownContentError, UsageError
from trainrx.model.findings import Unread
from trainrx.model.job import Input, InputKind


def read_path(
    path: Path,
    *,
    kind: InputKind | None = None,
    pasted: bool = False,
    budget: ReadingBudget | None = None,
) -> Found:
    """Read one file, folder, archive or glob pattern, recognised by content.

    Args:
        path: what the user named.
        kind: what it must be, where the user said so (`--log FILE`).
        pasted: whether the user said that it is a post, whatever it looks like.
        budget: what reading may take; that of this path alone where nothing is said.

    Raises:
        UsageError: nothing is there, or it is empty, binary, unreadable, or without anything we
            can use.
    """
    budget = budget or ReadingBudget()
    exists = _exists(path)
    if not exists and re.search(r"[*?[]", str(path)):
        return _read_pattern(path, kind, budget)
    if not exists:
        raise UsageError(f"{path}: no such file or folder. Check the spelling and where you are.")
    if path.is_dir():
        return _read_folder(path, budget)
    if not path.is_file():  # opening a pipe may wait for ever
        raise UsageError(f"{path}: {NO_FILE}.")
    return _read_file(path, kind, budget, pasted=pasted)


def read_stdin(
    data: bytes,
    *,
    kind: InputKind | None = None,
    name: str = "<stdin>",
    pasted: bool = False,
    budget: ReadingBudget | None = None,
) -> Found:
    """Read what was piped in or pasted; the arguments are those of `read_path`.

    Raises:
        UsageError: nothing came, or it is not text.
    """
    if data.startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd")):
        raise UsageError(f"{name}: packed data. Unpack it first, e.g. `zcat FILE | diagnose -`.")
    if not data.strip(b"\0 \t\r\n"):
        raise UsageError(f"{name}: nothing came in. Pipe a log or a command into it.")
    return read_content(Content(name, data=data, pasted=pasted, budget=budget), kind)


LATE = "was not read: reading what stands before it took all the time there is for it"
NO_FILE = "is a pipe or a device, expected a file. Pipe into `-` instead: `... | diagnose -`"


def in_words(given: Iterable[str]) -> str:
    """Give what is a command itself and names no file, as the lines of one script; "" without."""
    lines = [text.strip() for text in given if is_command(text) and not _exists(Path(text))]
    return "\n".join((*lines, "")) if lines else ""


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name longer than the system allows, or with a NUL
        return False


def _read_pattern(path: Path, kind: InputKind | None, budget: ReadingBudget) -> Found:
    try:
        names = sorted(Path(path.anchor or ".").glob(str(path.relative_to(path.anchor))))
    except (ValueError, OSError) as error:
        raise UsageError(f"{path}: is not a pattern of file names: {error}.") from error
    if not names:
        raise UsageError(f"{path}: no file matches this pattern. Quote it, or check the folder.")
    each = budget.shared(len(names))
    inputs, unread = _gathered(_inside(name, kind, each) for name in names)
    unread += _passed(path, budget)
    if _is_unknown(inputs):
        said = f"{path}: {len(names)} files match, but none is a log, script or config."
        raise UnknownContentError(said, inputs)
    return inputs, unread


def _read_folder(path: Path, budget: ReadingBudget) -> Found:
    if (bundle := read_bundle_folder(path)) is not None:
        return bundle
    stopped: list[Unread] = []
    places = list(wanted_files(path, stopped, budget.limits))
    each = budget.shared(len(places))
    inputs, unread = _gathered(_inside(place, None, each) for place in places)
    unread += _passed(path, budget)
    if not inputs and unread:
        raise UsageError(f"{unread[0].source}: {unread[0].reason}.")
    if _is_unknown(inputs):
        raise UnknownContentError(
            f"{path}: no log, script, config or metrics in this folder. Expected a run folder"
            " (args.json, logging.jsonl, *.log, *.sh); name the log or the script itself.",
            inputs,
        )
    return inputs, [*unread, *stopped, *_pickled(path, inputs)]


def _passed(path: Path, budget: ReadingBudget) -> list[Unread]:
    """Say how many files were passed over since nobody asked last."""
    count, budget.left.passed = budget.left.passed, 0
    if not count:
        return []
    reason = (
        f"{count} of its files do not show in their first {budget.limits.brief} bytes what they "
        "are and were not read, as many before them; name those that matter"
    )
    return [Unread(source=str(path), reason=reason)]


def _pickled(path: Path, inputs: Iterable[Input]) -> Iterator[Unread]:
    """Name the arguments of a run that only a pickle holds."""
    if all(item.kind in ("log", "metrics", "versions", "env") for item in inputs):
        folders = dict.fromkeys((path, *(i.path.parent for i in inputs if i.path is not None)))
        found = (folder / "training_args.bin" for folder in folders)
        yield from (Unread(source=str(p), reason=PICKLED) for p in found if p.is_file())


def _is_unknown(inputs: Iterable[Input]) -> bool:
    return all(item.kind == "other" for item in inputs)


def _gathered(all_found: Iterable[Found]) -> Found:
    inputs: list[Input] = []
    unread: list[Unread] = []
    for found, more in all_found:
        inputs += found
        unread += more
    return inputs, unread


def _inside(place: Path, kind: InputKind | None, budget: ReadingBudget) -> Found:
    """Read one file that was come upon; what is wrong with it is noted, not raised."""
    if not budget.left.is_timely:
        return [], [Unread(source=str(place), reason=LATE)]
    try:
        if place.is_file():
            return _read_file(place, kind, budget, named=False)
    except UnknownContentError as error:
        return list(error.others), []
    except UsageError as error:
        return [], reasons(error, str(place))
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
        return [], [Unread(source=str(place), reason=reason)]
    return [], []


def _read_file(
    path: Path,
    kind: InputKind | None,
    budget: ReadingBudget,
    *,
    pasted: bool = False,
    named: bool = True,
) -> Found:
    with _opened(path) as handle:
        try:
            packed = is_archive(handle) and not is_torch_archive(handle.read(512))
        except OSError as error:  # it can be opened, and its disk gives nothing
            reason = f"cannot be read: {error.strerror or error}"
            raise UsageError(f"{path}: {reason}.") from error
        if packed:
            return _read_archive(path, handle, budget)
    content = Content(str(path), path=path, pasted=pasted, budget=budget)
    blank = not content.sample.strip(b" \t\r\n")
    if content.unread:
        raise UsageError(f"{path}: {content.unread[0].reason}.")
    if blank:
        raise UsageError(f"{path}: {EMPTY}.")
    if not named and kind is None and budget.left.plain <= 0 and content.is_plain:
        budget.left.passed += 1
        return [], []
    return read_content(content, kind)


def _opened(path: Path) -> BinaryIO:
    try:
        return open_regular(path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}.") from error


def whole_contents(names: Iterable[str]) -> Iterator[Input]:
    """Give files, and members of archives, as they are: those of which parts were made inputs."""
    packed: dict[str, set[str]] = {}
    for name in names:
        if Path(name).is_file():
            yield Input(kind="log", name=name, path=Path(name))
        elif "!" in name:
            packed.setdefault(name.partition("!")[0], set()).add(name)
    for archive, wanted in packed.items():
        if not Path(archive).is_file():
            continue
        with _opened(Path(archive)) as handle:
            for name, data in members(archive, handle, [], ReadingBudget()):
                if name in wanted:
                    yield Input(kind="log", name=name, data=data)


def _read_members(
    source: str, members: Iterator[tuple[str, bytes]], budget: ReadingBudget
) -> Found:
    first = next(members, None)
    if first is None:
        return [], []
    if PurePosixPath(first[0].partition("!")[2]).name == MANIFEST:
        return read_bundle_members(source, (first, *members))
    return _gathered(read_member(one, budget) for one in chain((first,), members))


def _read_archive(path: Path, handle: BinaryIO, budget: ReadingBudget) -> Found:
    stopped: list[Unread] = []
    found = members(str(path), handle, stopped, budget)
    inputs, unread = _read_members(str(path), found, budget)
    unread += stopped
    if _is_unknown(inputs):
        why = unread[0].reason if unread else "no log, script or config in it"
        raise UnknownContentError(f"{path}: {why}. Expected a packed run folder.", inputs)
    return inputs, unread
