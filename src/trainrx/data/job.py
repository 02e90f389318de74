"""What of a launch says how its data is read: arguments, limits, batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path

import msgspec

from trainrx.catalog.resolved import Resolved
from trainrx.frameworks import framework_of
from trainrx.frameworks.base import Framework
from trainrx.launch.places import started_in
from trainrx.model.facts import Facts, Origin
from trainrx.model.job import Argument, RawLaunch
from trainrx.model.pattern import late

LABELLED = frozenset({"seq_cls", "embedding", "reranker", "generative_reranker"})
"""Tasks that learn labels or likeness, not what an assistant says."""
_BETWEEN = late(r"[\s,\[\]'\"]+")


class DataJob(msgspec.Struct, frozen=True, kw_only=True):
    """A launch as far as its data is concerned.

    `brief`: nobody asked for its data, so little of it is read. `edited` are texts that count in
    place of those of files, by their path as the launch gives it. `folder` is that of its script,
    `start` the one it goes to first: paths are relative to them. `hidden` is the width of its
    model, where that is known. `named` is a file the user gave as the training data in place of
    what the launch names. `versions` are those of packages, as far as they are known.
    """

    framework: str
    version: str = ""
    arguments: Mapping[str, Argument]
    facts: Facts
    origin: Origin
    folder: Path | None = None
    start: Path | None = None
    named: str = ""
    hidden: int | None = None
    brief: bool = False
    edited: Mapping[str, str] = {}
    versions: Mapping[str, str] = {}

    @property
    def own(self) -> Framework:
        """Give what is known of the framework."""
        return framework_of(self.framework)

    @property
    def task(self) -> str:
        """Give what is trained: sft, dpo, grpo ..., or seq_cls and such where no text is learnt."""
        task, kind = self.facts.text("launch.task") or "sft", self.facts.text("task.type")
        return kind if kind in LABELLED and task == "sft" else task

    @property
    def tells_task(self) -> bool:
        """Tell whether the launch says what is trained."""
        return self.facts.text("launch.task") is not None

    def words(self, name: str) -> tuple[str, ...]:
        """Give the words of an argument; none where it is not known."""
        item = self.arguments.get(name)
        if item is None or not item.known or item.value is None:
            return ()
        given = item.value if isinstance(item.value, list) else [item.value]
        return tuple(word for text in given for word in _BETWEEN.split(str(text)) if word)

    def given(self, name: str) -> bool:
        """Tell whether the launch sets an argument."""
        item = self.arguments.get(name)
        return item is not None and item.via not in ("default", "computed")

    def text(self, name: str) -> str:
        """Give the only word of an argument, "" without one."""
        return next(iter(self.words(name)), "")

    def place(self, name: str) -> Origin:
        """Give where an argument stands, else where the launch does."""
        item = self.arguments.get(name)
        return item.origins[0] if item is not None and item.origins else self.origin

    def path(self, named: str) -> Path | None:
        """Find a file or folder the launch names: from where it starts, its script's, or above."""
        if not named or "\0" in named or "$" in named or named.startswith("~"):
            return None
        absolute = Path(named).is_absolute()
        paths = (Path(named),) if absolute else (root / named for root in self._roots())
        return next((path for path in paths if _is_there(path)), None)

    def matches(self, pattern: str) -> list[Path]:
        """Find the files of one folder whose names match the last part of a path."""
        folder, _, name = pattern.rpartition("/")
        if not {"*", "?", "["} & set(name) or {"*", "?", "["} & set(folder):
            return []
        there = self.path(folder) if folder else (self.folder or Path())
        if there is None or not there.is_dir():
            return []
        return sorted(path for path in there.iterdir() if fnmatch(path.name, name))

    def _roots(self) -> Iterator[Path]:
        """Give the folders that paths may be relative to, the likeliest first."""
        below = self.folder or Path()
        if self.start is not None:
            yield self.start
        yield from (below, *list(below.absolute().parents)[:_ABOVE], Path())


def data_job(
    raw: RawLaunch, resolved: Resolved, facts: Facts, folder: Path | None, *, named: str = ""
) -> DataJob:
    """Take of a launch what its data is read by."""
    return DataJob(
        framework=raw.framework,
        version=facts.text("launch.framework_version") or "",
        arguments=resolved.arguments,
        facts=facts,
        origin=raw.origin,
        folder=folder,
        start=started_in(raw.workdir, folder),
        named=named,
    )


_ABOVE = 3
"""Folders above the script's that a job may be started in."""


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False
