"""Where a file lies that a script names: from the folder it is started in, its own, those above."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from trainrx.frameworks.common.saved import FILES
from trainrx.model.job import Workdir

MAX_CONFIG = 4 << 20
MOST_ENTRIES = 3000
MOST_DEPTH = 4
MOST_ABOVE = 6
MOST_PATH = 1024
MOST_UP = 2
"""Folders above the script's that it may go to by itself (`cd "$(dirname "$0")/.."`)."""
_ROOTS = (".git", "pyproject.toml", "setup.py", "requirements.txt")
"""What lies in the root of a repository: jobs are mostly started there."""
_SKIPPED = frozenset({"node_modules", "site-packages", "__pycache__", "wandb", "checkpoints"})


class FoundFile(NamedTuple):
    """A file and where it was found."""

    text: str
    path: Path


def base(name: str) -> str:
    """Give the last part of a path, however its separators are written."""
    return name.replace("\\", "/").rsplit("/", 1)[-1]


def started_in(workdir: Workdir, beside: Path | None) -> Path | None:
    """Give the folder a command is started in that is not where its script is; None: not at hand.

    A path of another machine is followed from the folder of the repository that has the name of
    one of its parts.
    """
    if beside is None or workdir.since == "unknown" or not workdir.is_elsewhere:
        return None
    if "\0" in workdir.path or len(workdir.path) > MOST_PATH:
        return None
    root = beside.resolve()
    around = (root, *above(root))
    if workdir.since == "script":
        paths = [root / workdir.path]
    elif workdir.path.startswith("/"):
        paths = [Path(workdir.path), *_of_another_machine(workdir.path, around)]
    else:
        paths = [place / workdir.path for place in around]
        paths += _of_another_machine(workdir.path, around)
    return next((path for path in paths if _is_open(path, around)), None)


def _of_another_machine(path: str, around: tuple[Path, ...]) -> Iterator[Path]:
    parts = [part for part in path.split("/") if part]
    for place in around:
        if place.name in parts:
            at = len(parts) - parts[::-1].index(place.name)
            yield place.joinpath(*parts[at:])


def _is_open(path: Path, around: tuple[Path, ...]) -> bool:
    """Tell whether files may be read in a folder: inside the repository, or where it is above."""
    try:
        place = path.resolve()
        inside = place.is_relative_to(around[-1]) or place in around[0].parents[:MOST_UP]
        return inside and place.is_dir()
    except OSError:
        return False


def path_in(start: Path | None, named: str) -> FoundFile | None:
    """Read a file by its path from the folder a command is started in."""
    if start is None or not named or named.startswith(("~", "/")) or "\0" in named:
        return None
    place = start.resolve()
    return read_inside(place / named, [place, *above(place)][-1])


def script_file(named: str, beside: Path, start: Path | None = None) -> str | None:
    """Read a script that another one sources or starts, see `found_file`."""
    file = found_file(named, beside, start=start)
    return None if file is None else file.text


def found_file(
    named: str, beside: Path, least: int = 1, start: Path | None = None
) -> FoundFile | None:
    """Read a file a script names.

    It lies where the command is started, else in the script's folder, or where a job that is
    started further up finds it: at the path from a folder above, as far as the repository goes. Of
    a path of another machine what is left of it folder by folder will do, in the folders above with
    a folder at least. Nothing else is read.

    Args:
        named: the path, as written.
        beside: the folder of the script.
        least: parts of the path that must be left.
        start: the folder the script goes to first, see `started_in`.
    """
    if not named or named.startswith("~") or "\0" in named:
        return None
    exact = path_in(start, named)
    if exact is not None:
        return exact
    root = beside.resolve()
    own = (read_inside(root / place, root) for place in _tails(named, least))
    higher = [*above(root)]
    started = (read_inside(folder / named, higher[-1]) for folder in (root, *higher) if higher)
    moved = (
        read_inside(folder / place, higher[-1])
        for folder in (higher if named.startswith("/") else ())
        for place in _tails(named, max(least, 2))
    )
    return next((file for file in chain(own, started, moved) if file is not None), None)


def above(folder: Path) -> Iterator[Path]:
    """Give the folders above one up to the root of its repository; none where there is no root."""
    higher = folder.parents[:MOST_ABOVE]
    roots = [place for place in (folder, *higher) if any((place / m).exists() for m in _ROOTS)]
    if roots:
        yield from higher[: (folder, *higher).index(roots[0])]


def _tails(named: str, fewest: int = 1) -> Iterator[str]:
    """Give a path and what is left of it folder by folder; of saved arguments never the name only.

    Which run a bare args.json beside the script is of, its name does not tell.
    """
    yield named
    parts = [part for part in named.replace("\\", "/").split("/") if part not in ("", ".")]
    least = max(fewest, 2) if parts and parts[-1] in FILES else fewest
    for start in range(1, len(parts) - least + 1):
        if ".." not in parts[start:]:
            yield "/".join(parts[start:])


def only_below(named: str, root: Path) -> Path | None:
    """Find the only file of that name in the folders below, as far as a few thousand entries go."""
    wanted = base(named)
    tail = [part for part in named.split("/") if part not in ("", ".", "..")]
    found: list[Path] = []
    entries = 0
    for folder, names, files in os.walk(root, followlinks=False):
        depth = len(Path(folder).relative_to(root).parts)
        kept = sorted(n for n in names if not n.startswith(".") and n not in _SKIPPED)
        names[:] = kept if depth < MOST_DEPTH else []
        entries += len(files) + len(names)
        if wanted in files:
            found.append(Path(folder, wanted))
        if entries > MOST_ENTRIES:
            return None
    full = [path for path in found if list(path.parts[-len(tail) :]) == tail]
    fitting = full or found
    return fitting[0] if len(fitting) == 1 else None


def read_inside(path: Path, root: Path) -> FoundFile | None:
    """Read a file that lies in a folder, links followed."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_CONFIG:
            return None
        real = path.resolve()
        if real.is_relative_to(root):
            return FoundFile(real.read_text(encoding="utf-8", errors="replace"), real)
    except (OSError, ValueError):
        return None
    return None
