"""Edits written into the user's files: all of them or none, the old ones kept as `.bak`."""

from __future__ import annotations

import contextlib
import difflib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from trainrx.model.errors import UsageError
from trainrx.model.planning import FilePatch, Patched

_NO_END = "\\ No newline at end of file\n"
_ODD = re.compile(r'[\x00-\x1f"\\\x7f]')


def unified_diff(patched: Patched) -> str:
    """Write the edits as git does, `a/` and `b/` in front of names; "" when there are none."""
    return "".join(part for item in patched.files for part in _one(item))


def _one(item: FilePatch) -> Iterator[str]:
    if item.before == item.after:
        return
    name = re.sub(r"^(?:[A-Za-z]:)?[/\\]+|^(?:\./)+", "", item.name)
    old, new = _quoted(f"a/{name}"), _quoted(f"b/{name}")
    yield f"diff --git {old} {new}\n"
    if item.before is None:
        yield "new file mode 100644\n"
    if item.before is None and not item.after:
        return
    before = "/dev/null" if item.before is None else _ended(old)
    yield f"--- {before}\n+++ {_ended(new)}\n"
    found = difflib.unified_diff(_lines(item.before or ""), _lines(item.after), n=3)
    for number, line in enumerate(found):
        if number > 1:
            yield line if line.endswith("\n") else f"{line}\n{_NO_END}"


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _ended(name: str) -> str:
    """End a name with a blank in it by a tab, which tells where it ends."""
    return f"{name}\t" if " " in name and not name.startswith('"') else name


def _quoted(name: str) -> str:
    if not _ODD.search(name):
        return name
    return '"' + _ODD.sub(lambda match: _escaped(match[0]), name) + '"'


def _escaped(char: str) -> str:
    known = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
    return known.get(char, f"\\{ord(char):03o}")


_MOST_BACKUPS = 10_000


class WriteRefusedError(UsageError):
    """The files are not what they were when the edits were made, or cannot be written."""


class SavedFile(NamedTuple):
    """A file that was written, and where its old text is kept (None: it is new)."""

    file: Path
    backup: Path | None


class _Ready(NamedTuple):
    place: Path
    staged: Path
    patch: FilePatch


def write_files(patched: Patched, folder: Path) -> tuple[SavedFile, ...]:
    """Write the edited files and keep the old ones beside them as `NAME.bak`, `NAME.bak.1` ...

    Each file is replaced in one step by one written beside it, with its mode. A link stays, the
    file it names is replaced. When one file cannot be written, those before it are put back.

    Args:
        patched: what `patch_launch` gave.
        folder: where names that are not absolute are looked up.

    Raises:
        Refused: a file is not what it was when it was read, is new and exists, or cannot be
            written. Nothing was changed then.
    """
    files = [item for item in patched.files if item.before != item.after]
    places = [_place(item, folder) for item in files]
    if len({str(place) for place in places}) < len(places):
        raise WriteRefusedError("two edits are for the same file: nothing was written")
    ready: list[_Ready] = []
    try:
        for item, place in zip(files, places, strict=True):
            ready.append(_Ready(place, _staged(item, place), item))
        return _replaced(ready)
    except OSError as error:
        where = error.filename or ""
        raise WriteRefusedError(
            f"{where}: cannot be written ({error.strerror}); nothing was changed"
        ) from error
    finally:
        for one in ready:
            one.staged.unlink(missing_ok=True)


def _place(item: FilePatch, folder: Path) -> Path:
    """Find a file and see that it is what it was."""
    named = folder / item.name
    place = Path(os.path.realpath(named))
    if item.before is None:
        if named.exists() or named.is_symlink():
            raise WriteRefusedError(
                f"{item.name}: exists already, and was to be a new file. Ask again."
            )
        return place
    try:
        present = place.read_bytes()
    except OSError as error:
        raise WriteRefusedError(
            f"{item.name}: cannot be read ({error.strerror}). Nothing was written."
        ) from error
    if present != item.before.encode("utf-8", "surrogateescape"):
        raise WriteRefusedError(
            f"{item.name}: was changed after it was read; expected the text the plan was made for. "
            "Nothing was written: ask again for a plan."
        )
    return place


def _staged(item: FilePatch, place: Path) -> Path:
    """Write the new text beside the file it is for."""
    handle, name = tempfile.mkstemp(prefix=f".{place.name[:100]}.", dir=place.parent)
    staged = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(item.after.encode("utf-8", "surrogateescape"))
            out.flush()
            os.fsync(out.fileno())
        if item.before is None:
            mask = os.umask(0)
            os.umask(mask)
            staged.chmod(0o666 & ~mask)
        else:
            shutil.copymode(place, staged)
            with contextlib.suppress(OSError):
                found = place.stat()
                os.chown(staged, found.st_uid, found.st_gid)
                staged.chmod(found.st_mode & 0o7777)
    except OSError:
        staged.unlink(missing_ok=True)
        raise
    return staged


def _replaced(ready: list[_Ready]) -> tuple[SavedFile, ...]:
    done: list[SavedFile] = []
    try:
        for one in ready:
            backup = None
            if one.patch.before is not None:
                backup = _backup(one.place)
            done.append(SavedFile(one.place, backup))
            one.staged.replace(one.place)
    except OSError:
        _put_back(done, ready)
        raise
    return tuple(done)


def _backup(place: Path) -> Path:
    """Copy a file to the first `.bak` name that is free."""
    for number in range(_MOST_BACKUPS):
        end = ".bak" if number == 0 else f".bak.{number}"
        backup = place.with_name(place.name + end)
        try:
            with backup.open("xb") as out:
                out.write(place.read_bytes())
        except FileExistsError:
            continue
        shutil.copystat(place, backup)
        return backup
    raise OSError(17, "too many backups", str(place))


def _put_back(done: list[SavedFile], ready: list[_Ready]) -> None:
    for one, was in zip(done, ready, strict=False):
        with contextlib.suppress(OSError):
            if one.backup is not None:
                one.backup.replace(one.file)
            elif not was.staged.exists():
                one.file.unlink(missing_ok=True)
