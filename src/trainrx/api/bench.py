"""Try a set of changes: patch the user's files, read the launch again, check it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from trainrx.api.files import base, config_texts, script_file
from trainrx.api.inputs import Given
from trainrx.api.reread import Reader, Surroundings
from trainrx.fix import recheck
from trainrx.fix.recheck import IN_FILES, Reading
from trainrx.model.facts import Scalar
from trainrx.model.job import Input, RawLaunch, Script
from trainrx.model.memory import Refusal
from trainrx.model.planning import Check, FilePatch, Patched
from trainrx.model.result import Change
from trainrx.parse.shell import read_script
from trainrx.patch import patch_launch, unified_diff
from trainrx.read.recognise import is_manifest

MOST_SCALE = 3.0
"""How far the memory model may be off before its figures are left aside."""


class Promise(NamedTuple):
    """What a plan says of its launch: the effective batch in samples, GiB of the card.

    `scale`: the plan's figures over those of the memory model, where the log showed it wrong.
    """

    batch: int | None = None
    gib: float | None = None
    scale: float = 1.0


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """What came of some changes.

    `outcome` proved: all checks hold; failed: one does not; by-hand: what is to be changed does not
    stand in the files at hand, so there is nothing to check.
    """

    outcome: Literal["proved", "failed", "by-hand"]
    patched: Patched = Patched()
    diff: str = ""
    checks: tuple[Check, ...] = ()
    reading: Reading | None = None

    @property
    def failed(self) -> tuple[Check, ...]:
        """Give the checks that do not hold."""
        return tuple(check for check in self.checks if not check.holds)


class Bench:
    """Where changes of one launch are tried."""

    def __init__(self, around: Surroundings, launch: RawLaunch | None) -> None:
        self.around = around
        self._reader = Reader(around)
        self.before = self._reader.read()
        self.launch = self.before.launch or launch
        self.scale = 1.0
        self.texts = _texts(around, self.launch)
        self._script = _script(around.given, self.launch, self.texts)

    def failed(self) -> None:
        """Take it as known that the launch ran out of memory: the model may not say less.

        A model that is off by more than `MOST_SCALE` says nothing: `scale` is 0 then.
        """
        found = self.before.memory
        if isinstance(found, Refusal) or not found.limit_gib or not found.need_gib:
            return
        scale = max(1.0, found.limit_gib / found.need_gib)
        self.scale = scale if scale <= MOST_SCALE else 0.0

    def attempt(
        self,
        changes: Sequence[Change],
        wanted: Mapping[str, Scalar] | None = None,
        *,
        promise: Promise | None = None,
        must_fit: bool = False,
    ) -> Attempt:
        """Make changes in the files and check what comes of it.

        Args:
            changes: in the user's spelling.
            wanted: canonical parameter to the value it must have afterwards.
            promise: what a plan says of batch and memory.
            must_fit: a launch that does not fit its card, as far as that is known, fails.
        """
        inside = [change for change in changes if change.kind in IN_FILES]
        if not inside or self.launch is None or not self._is_editable(self.launch):
            return Attempt(outcome="by-hand")
        patched = patch_launch(
            self.launch, self._script, self.texts, inside, versions=self.around.versions
        )
        if not patched.files:
            return Attempt(outcome="by-hand", patched=patched)
        after = self._reader.read(patched.files, {change.param for change in inside})
        promised = promise or Promise(scale=self.scale)
        checks = tuple(
            check
            for check in (
                _written(patched),
                recheck.parsed(self.before, after),
                recheck.spelled(inside, after, wanted or {}),
                recheck.guards(self.before, after),
                recheck.lint(self.before, after),
                recheck.batch(self.before, after, promised.batch),
                recheck.memory(after, promised.gib, promised.scale)
                if must_fit and promised.scale
                else None,
            )
            if check is not None
        )
        patched = msgspec.structs.replace(patched, files=tuple(self._placed(patched.files)))
        return Attempt(
            outcome="proved" if all(check.holds for check in checks) else "failed",
            patched=patched,
            diff=unified_diff(patched),
            checks=checks,
            reading=after,
        )

    def _is_editable(self, launch: RawLaunch) -> bool:
        """Tell whether the files are at hand, and the words of the program are known."""
        known = bool(self.before.facts.text("launch.framework"))
        return known and launch.origin.source in self.texts

    def _placed(self, files: Iterable[FilePatch]) -> Iterable[FilePatch]:
        """Name files by where they lie from here, not by how the launch calls them."""
        given = self.around.given
        source = "" if self.launch is None else self.launch.origin.source
        folder = given.beside.get(source)
        named = {item.name for item in (*given.scripts, *given.configs)}
        for file in files:
            place = file.name if file.name in named else _place(file, folder)
            yield msgspec.structs.replace(file, name=place)


def _written(patched: Patched) -> Check:
    """Check that every change found its place in the files."""
    missing = [f"{item.change.param}: {item.reason}" for item in patched.left]
    names = ", ".join(file.name for file in patched.files)
    return Check(name="written", holds=not missing, detail="; ".join(missing) or names)


def _texts(around: Surroundings, launch: RawLaunch | None) -> dict[str, str]:
    """Give the texts of the script and of all configurations in play, by name, as they lie there.

    Bytes that are no UTF-8 become lone surrogates, so that they can be written back.
    """
    given: Given = around.given
    texts = {item.name: _as_is(item) for item in (*given.scripts, *given.configs)}
    if launch is None:
        return texts
    beside = given.beside.get(launch.origin.source)
    version = around.versions.get(launch.framework)
    found = config_texts(launch, given.configs, beside, version)
    inside = {name: text for name, text in found.texts.items() if name not in found.places}
    return {**inside, **texts}


def _as_is(item: Input) -> str:
    if item.path is None:
        return item.text or ""
    try:
        return item.path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return item.text or ""


def _script(given: Given, launch: RawLaunch | None, texts: Mapping[str, str]) -> Script | None:
    """Read the script a launch stands in; None where it is none (a manifest, a config alone)."""
    source = "" if launch is None else launch.origin.source
    if source not in {item.name for item in given.scripts} or is_manifest(texts[source]):
        return None
    told = given.env.variables
    inherited = {item.name: item.value for item in told if item.value is not None}
    beside = given.beside.get(source)
    files = None if beside is None else partial(script_file, beside=beside)
    return read_script(texts[source], source, inherited, files)


def _place(file: FilePatch, folder: Path | None) -> str:
    """Give the path of a file the launch names, from the folder of its script or of one above."""
    if folder is None:
        return file.name
    parts = [part for part in file.name.replace("\\", "/").split("/") if part not in ("", ".")]
    for start in range(len(parts)):
        path = folder.joinpath(*parts[start:])
        if file.before is not None and path.is_file():
            return str(path)
    return str(folder / base(file.name))
