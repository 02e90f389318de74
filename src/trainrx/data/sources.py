"""Which local data a launch names, and the layout its rows must have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from trainrx.data.job import DataJob
from trainrx.knowledge.formats import data_formats
from trainrx.model.facts import Origin
from trainrx.model.formats import DataFormat, DataLayout
from trainrx.versions.ranges import in_range

SUFFIXES = (".jsonl", ".json", ".csv", ".tsv", ".parquet", ".arrow")
MOST_INDEX = 8 << 20
MOST_FILES = 16
MOST_NAMES = 2_000
NEAR = 0.8
"""Likeness from which a name may be what was meant."""
"""Files of one folder that are read."""


class IndexEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of a list of data sets: what it says, and the list as text and as it is called."""

    name: str
    index: str
    text: str
    says: Mapping[str, object]

    def __hash__(self) -> int:
        """Tell entries apart by their list and name."""
        return hash((self.name, self.index))


class DataSource(msgspec.Struct, frozen=True, kw_only=True):
    """A file of data: as the launch calls it, and where it is (None: not at hand).

    `layouts` are those its rows may have, () where they are not known; `indexed` tells that a list
    of data sets says it is there. `at` is where the launch names it. `undefined` tells that the
    list does not have the name; `known` are those it has. `near` is a file that is there, or a name
    that is known, in nearly these words. `refused` says what its entry lacks for the stage, and
    what it has too much. `left_out` counts the files of a folder that are not read. `entry` is that
    of the list, where one says how the rows are read.
    """

    name: str
    path: Path | None
    split: Literal["train", "eval"]
    at: Origin
    layouts: tuple[DataLayout, ...] = ()
    indexed: bool = False
    undefined: bool = False
    near: str = ""
    known: tuple[str, ...] = ()
    refused: tuple[str, str] = ("", "")
    left_out: int = 0
    entry: IndexEntry | None = None


def data_format(job: DataJob) -> DataFormat | None:
    """Give the form the framework of a launch wants, where it is known for its version."""
    known = data_formats().get(job.framework)
    if known is None or any(job.words(name) for name in known.own_code):
        return None
    if known.versions and in_range(job.version, known.versions) is False:
        return None
    return known


def data_sources(job: DataJob) -> tuple[DataSource, ...]:
    """Give the data a launch names that is, or should be, on this machine."""
    if job.named:
        path, at = Path(job.named), Origin(source="--data", text=job.named)
        return (DataSource(name=job.named, path=path, split="train", at=at, layouts=_layouts(job)),)
    return tuple(dict.fromkeys(_all(job)))


def _all(job: DataJob) -> Iterator[DataSource]:
    splits: tuple[tuple[Literal["train", "eval"], tuple[str, ...]], ...] = (
        ("train", job.own.train_data),
        ("eval", job.own.eval_data),
    )
    for split, names in splits:
        for name in names:
            for word in job.words(name):
                yield from _named(job, word, split, job.place(name))


def _named(
    job: DataJob, word: str, split: Literal["train", "eval"], at: Origin
) -> Iterator[DataSource]:
    if job.own.data_index[1]:
        yield from _indexed(job, word, split, at)
        return
    exact = job.path(word)
    named = word if exact is not None else job.own.data_path(word)
    path = exact or job.path(named)
    if path is None and not _is_local(named):
        return
    found = _files(path) if path is not None and path.is_dir() else None
    if path is None and (matching := job.matches(named)):
        named = named.rpartition("/")[0]
        found = matching[:MOST_FILES], len(matching[MOST_FILES:])
    files, more = ([path], 0) if found is None else found
    for file in files:
        shown = named if file in (path, None) else f"{named.rstrip('/')}/{file.name}".lstrip("/")
        yield DataSource(
            name=shown,
            path=file,
            split=split,
            at=at,
            layouts=_layouts(job),
            near=_near_path(job, named) if file is None else "",
            left_out=more,
        )
        more = 0


def _is_local(name: str) -> bool:
    """Tell a path from the name of a data set on a hub."""
    return name.startswith(("/", "./", "../")) or name.lower().endswith(SUFFIXES)


def _files(folder: Path) -> tuple[list[Path], int]:
    """Give the files of a folder, and how many more there are; a test split is not trained on."""
    try:
        held = sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES)
    except OSError:
        return [], 0
    train = [path for path in held if path.stem.startswith("train")]
    files = train or held
    return files[:MOST_FILES], len(files[MOST_FILES:])


def _layouts(job: DataJob) -> tuple[DataLayout, ...]:
    """Give the layouts of this version and task, with the columns the launch names itself.

    None where the task decides and is not known: a configuration of TRL may be of any command.
    """
    known = data_format(job)
    if known is None or (not job.tells_task and any(layout.tasks for layout in known.layouts)):
        return ()
    named = {name: text for name, arg in known.named_by.items() if (text := job.text(arg))}
    return tuple(
        _renamed(layout, named)
        for layout in known.layouts
        if (not layout.tasks or job.task in layout.tasks)
        and (not layout.versions or in_range(job.version, layout.versions) is True)
    )


def _renamed(layout: DataLayout, named: Mapping[str, str]) -> DataLayout:
    if not named:
        return layout
    talk = layout.conversation
    return msgspec.structs.replace(
        layout,
        needs=tuple(tuple(named.get(name, name) for name in group) for group in layout.needs),
        answers=tuple(named.get(name, name) for name in layout.answers),
        conversation=None
        if talk is None
        else msgspec.structs.replace(
            talk, columns=tuple(named.get(name, name) for name in talk.columns)
        ),
    )


def _indexed(
    job: DataJob, word: str, split: Literal["train", "eval"], at: Origin
) -> Iterator[DataSource]:
    """Look a name up in the list of data sets."""
    argument, file = job.own.data_index
    called = job.text(argument) or "data"
    folder = job.path(called)
    shown = f"{called.rstrip('/')}/{file}".removeprefix("./")
    text = "" if folder is None else job.edited.get(shown) or _text(folder / file)
    index = read_index(text)
    if folder is None or index is None:
        return
    entry = index.get(word)
    if not isinstance(entry, dict):
        near = _nearest(word, [name for name in index if name not in job.words(argument_of(job))])
        yield DataSource(
            name=word,
            path=folder / file,
            split=split,
            at=at,
            undefined=True,
            near=near,
            known=tuple(index),
        )
        return
    name = entry.get("file_name")
    if not isinstance(name, str) or any(key.endswith("_url") for key in entry):
        return
    known = data_format(job)
    layouts = {} if known is None else {layout.id: layout for layout in known.layouts}
    own = job.own.indexed_layout(entry, layouts)
    path = folder / name
    files, more = _files(path) if path.is_dir() else ([path], 0)
    for found in files:
        yield DataSource(
            name=name,
            path=found if found.is_file() else None,
            split=split,
            at=at,
            layouts=() if own is None else (own,),
            indexed=True,
            near="" if found.is_file() else _near_file(path),
            refused=job.own.refused_entry(entry, job.text("stage")),
            left_out=more,
            entry=IndexEntry(name=word, index=shown, text=text, says=entry),
        )
        more = 0


def argument_of(job: DataJob) -> str:
    """Give the argument that names the data a launch trains on."""
    return next(iter(job.own.train_data), "")


def _nearest(word: str, names: Sequence[str]) -> str:
    """Name what a word stands next to, "" when nothing does."""
    # only what is missing pays for this import
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, names, n=1, cutoff=NEAR)), "")


def _near_file(path: Path) -> str:
    """Name a file beside a missing one whose name is nearly the same."""
    try:
        names = sorted(item.name for item in path.parent.iterdir())[:MOST_NAMES]
    except OSError:
        return ""
    return _nearest(path.name, names)


def _near_path(job: DataJob, named: str) -> str:
    """Give a path as the launch writes it, to a file whose name is nearly the same."""
    folder, slash, name = named.rpartition("/")
    there = job.path(folder) if folder else job.folder
    found = "" if there is None else _near_file(there / name)
    return f"{folder}{slash}{found}" if found else ""


def _text(path: Path) -> str:
    """Read a list of data sets with its line ends; "" where there is none that a person wrote."""
    try:
        return path.read_bytes().decode() if path.stat().st_size <= MOST_INDEX else ""
    except (OSError, ValueError):
        return ""


def read_index(text: str) -> dict[str, object] | None:
    """Read the entries of a list of data sets; None where it is none."""
    try:
        held = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return None
    return held if isinstance(held, dict) else None
