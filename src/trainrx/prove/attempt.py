"""Try a set of changes: patch the user's files, read the launch again, check it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from trainrx.fix.arguments import translations
from trainrx.fix.changes import Target, change_to
from trainrx.fix.patch import patch_launch, unified_diff
from trainrx.launch.places import found_file, started_in
from trainrx.linter.given import ESTIMATED
from trainrx.linter.places import apply
from trainrx.model.facts import Facts, Scalar
from trainrx.model.findings import Edit, Finding
from trainrx.model.job import Input, RawLaunch
from trainrx.model.memory import Refusal
from trainrx.model.planning import FilePatch, Patched, ProofCheck, Standing
from trainrx.model.result import Change
from trainrx.prove import recheck
from trainrx.prove.attempt_files import (
    as_is,
    as_named,
    left_open,
    place_of,
    script_of,
    texts_of,
    with_program,
)
from trainrx.prove.mending import JoinedFix, Ways, begun, join, standing_of, taken
from trainrx.prove.recheck import IN_FILES, LaunchReading
from trainrx.prove.reread import LaunchContext, LaunchReader, with_files

STANDS = frozenset({"guards", "lint"})
"""Checks of the launch as a whole: they may fail for what the edit has no part in."""
NEEDS = "package-not-listed"
"""What lint says of a setting whose package is not there."""
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

    `outcome` proved: all checks hold; not-enough: all but those that fail without the edit as well,
    `standing` by id; failed: another one does not; by-hand: what is to be changed does not stand in
    the files at hand, so there is nothing to check. `changes` are those that were made: what was
    asked for, with `joined` and `renamed`, without which the framework would refuse the launch.
    """

    outcome: Literal["proved", "not-enough", "failed", "by-hand"]
    patched: Patched = Patched()
    diff: str = ""
    checks: tuple[ProofCheck, ...] = ()
    reading: LaunchReading | None = None
    changes: tuple[Change, ...] = ()
    joined: tuple[JoinedFix, ...] = ()
    renamed: tuple[Change, ...] = ()
    standing: Mapping[str, str] | None = None

    @property
    def failed(self) -> tuple[ProofCheck, ...]:
        """Give the checks that do not hold on account of the edit."""
        lost = tuple(check for check in self.checks if not check.holds)
        own = tuple(check for check in lost if check.name not in STANDS)
        return own if own and self.standing is not None else lost


class TrialLaunch:
    """Where changes of one launch are tried."""

    def __init__(self, around: LaunchContext, launch: RawLaunch | None) -> None:
        self.before = LaunchReader(around).read()
        self.launch = self.before.launch or launch
        self.around = around = with_program(around, self.launch)
        self._reader = LaunchReader(around)
        self.scale = 1.0
        self.ran_out = False
        self.keep: Sequence[str] = ()
        self._void = _void(self.before, around)
        self.texts = texts_of(around, self.launch)
        self._script = script_of(around.given, self.launch, self.texts)

    def failed(self) -> None:
        """Take it as known that the launch ran out of memory: the model may not say less.

        A model that is off by more than `MOST_SCALE` says nothing: `scale` is 0 then.
        """
        self.ran_out = True
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

        Where a check of the framework refuses the launch with them, a remedy of that check joins
        them, if there is one.

        Args:
            changes: in the user's spelling.
            wanted: canonical parameter to the value it must have afterwards.
            promise: what a plan says of batch and memory.
            must_fit: a launch that does not fit its card, as far as that is known, fails.
        """
        inside = [change for change in changes if change.kind in IN_FILES]
        if not inside or self.launch is None or not self._is_editable(self.launch):
            return Attempt(outcome="by-hand", changes=tuple(changes))
        made = self._attempt(self.launch, inside, wanted or {}, promise, must_fit=must_fit)
        if made.reading is not None and (made.outcome == "not-enough" or _is_refused(made)):
            joined = self._joined(inside, made.reading)
            values = {name: value for one in joined for name, value in one.values.items()}
            renamed = self._renamed(inside)
            more = (*inside, *self._spelled(values), *renamed)
            if joined or renamed:
                wanted = {**(wanted or {}), **values}
                whole = self._attempt(self.launch, more, wanted, promise, must_fit=must_fit)
                mended = _is_refused(made) and not _is_refused(whole)
                if whole.outcome in ("proved", "not-enough") or mended:
                    made = msgspec.structs.replace(whole, joined=joined, renamed=renamed)
        beside = tuple(change for change in changes if change.kind not in IN_FILES)
        return msgspec.structs.replace(made, changes=(*made.changes, *beside))

    def _attempt(
        self,
        launch: RawLaunch,
        inside: Sequence[Change],
        wanted: Mapping[str, Scalar],
        promise: Promise | None,
        *,
        must_fit: bool,
    ) -> Attempt:
        patched = patch_launch(
            launch, self._script, self.texts, inside, versions=self.around.versions
        )
        if not patched.files:
            return Attempt(outcome="by-hand", patched=patched, changes=tuple(inside))
        files, opened = left_open(patched.files, inside, self.texts, self.before.facts)
        patched = msgspec.structs.replace(patched, files=files)
        made = self._read_again(patched, inside, wanted, promise, must_fit=must_fit)
        return msgspec.structs.replace(made, changes=(*as_named(inside, patched), *opened))

    def attempt_edits(self, edits: Sequence[Edit]) -> Attempt:
        """Make edits of the texts themselves, such as lint proposes, and check what comes of it."""
        files = tuple(
            FilePatch(name=name, before=text, after=apply(text, own)[0])
            for name, text in {**self.texts, **self._beside(edits)}.items()
            if (own := [edit for edit in edits if edit.file == name])
        )
        if not files or self.launch is None:
            return Attempt(outcome="by-hand")
        return self._read_again(Patched(files=files), (), {}, None, must_fit=False)

    def _beside(self, edits: Sequence[Edit]) -> dict[str, str]:
        """Read files that are edited and that no launch reads, such as a list of data sets."""
        if self.launch is None:
            return {}
        folder = self.around.given.beside.get(self.launch.origin.source)
        names = {edit.file for edit in edits} - self.texts.keys()
        if folder is None:
            return {}
        start = started_in(self.launch.workdir, folder)
        found = {name: found_file(name, folder, start=start) for name in names}
        return {
            name: as_is(Input(kind="config", name=name, text=file.text, path=file.path))
            for name, file in found.items()
            if file is not None
        }

    def mended(self, findings: Sequence[Finding]) -> TrialLaunch:
        """Give the launch with all that lint mends safely; itself where that does not help."""
        errors = (item.fix for item in findings if item.severity == "error")
        edits = [edit for fix in errors if fix and fix.safety == "safe" for edit in fix.edits]
        made = self.attempt_edits(edits) if edits else None
        if made is None or made.reading is None:
            return self
        left, stood = recheck.objections(made.reading), recheck.objections(self.before)
        if not left.keys() - ESTIMATED < stood.keys() - ESTIMATED:
            return self
        files = made.patched.files
        around = msgspec.structs.replace(
            self.around,
            given=with_files(self.around.given, files),
            found=None,
            unmended={file.name: file.before for file in files if file.before is not None},
        )
        return TrialLaunch(around, self.launch)

    def _read_again(
        self,
        patched: Patched,
        inside: Sequence[Change],
        wanted: Mapping[str, Scalar],
        promise: Promise | None,
        *,
        must_fit: bool,
    ) -> Attempt:
        edited = {file.name: file.after for file in patched.files if self._is_of_data(file)}
        read = self._reader.read(
            [file for file in patched.files if file.name not in edited],
            {change.param for change in inside},
            edited=edited,
        )
        after = _with_needs(self.before, read)
        promised = promise or Promise(scale=self.scale)
        checks = tuple(
            check
            for check in (
                _written(patched),
                recheck.parsed(self.before, after),
                recheck.spelled(inside, after, wanted),
                recheck.guards(after, self._void),
                recheck.lint(after, self._void),
                recheck.batch(self.before, after, promised.batch),
                recheck.memory(after, promised.gib, promised.scale)
                if must_fit and promised.scale
                else None,
            )
            if check is not None
        )
        patched = msgspec.structs.replace(patched, files=tuple(self._placed(patched.files)))
        standing = recheck.standing(self.before, after, self._void)
        return Attempt(
            outcome=_outcome(checks, standing),
            patched=patched,
            diff=unified_diff(patched),
            checks=checks,
            reading=after,
            standing=standing,
        )

    def standing(self, ids: Mapping[str, str]) -> tuple[Standing, ...]:
        """Say what still stops the launch: of checks what to do, of lint what it says."""
        known, lang = self.around.knowledge, self.around.lang
        return tuple(
            standing_of(ident, known, lang)
            if ident in known.guards
            else Standing(id=ident, title=text.removeprefix(f"{ident}: "))
            for ident, text in ids.items()
        )

    def overruled(self, after: LaunchReading) -> tuple[Standing, ...]:
        """Say what is objected to by the book before and after an edit, and did not stop the job.

        What the memory model expects is left out: every proposal says its own figure.
        """
        left = {i: text for i, text in recheck.objections(after).items() if i in self._void}
        return self.standing({i: text for i, text in left.items() if i not in ESTIMATED})

    def stops(self) -> tuple[Standing, ...]:
        """Say what stops the launch as it is."""
        found = recheck.objections(self.before)
        return self.standing({i: text for i, text in found.items() if i not in self._void})

    def _joined(self, changes: Sequence[Change], after: LaunchReading) -> tuple[JoinedFix, ...]:
        """Find remedies for what refuses the launch with some changes made."""
        launch, names = self.launch, {change.param for change in changes}
        if launch is None:
            return ()

        def read(values: Mapping[str, Scalar]) -> Facts | None:
            more = self._spelled(values)
            if any(pinned(change, self.keep) for change in more):
                return None
            made = patch_launch(
                launch,
                self._script,
                self.texts,
                (*changes, *more),
                versions=self.around.versions,
            )
            added = {change.param for change in more}
            return self._reader.read(made.files, names | added, lint=False).facts

        ways = Ways(
            job=self._target(after),
            read=read,
            refused=lambda facts: self._reader.refused(facts).keys() - self._void.keys(),
            held=frozenset(change.canonical for change in changes),
        )
        return join(after.facts, ways)

    def _renamed(self, changes: Sequence[Change]) -> tuple[Change, ...]:
        """Give what this version has for arguments and values in play that it does not take."""
        if taken(self.around.known):
            return ()  # they were taken, whatever the catalogs say
        names = {_plain(change.param) for change in changes}
        job = msgspec.structs.replace(self._target(self.before), facts=self.around.known)
        found = translations(job)
        return tuple(change for change in found if _plain(change.param) not in names)

    def _target(self, read: LaunchReading) -> Target:
        around = self.around
        return Target(
            facts=read.facts,
            knowledge=around.knowledge,
            versions=around.versions,
            style=read.style,
            lang=around.lang,
            launch=read.launch,
            refused=around.refused,
        )

    def _spelled(self, values: Mapping[str, Scalar]) -> tuple[Change, ...]:
        """Spell values as changes of the launch as it is."""
        job = self._target(self.before)
        return tuple(c for name, value in values.items() if (c := change_to(name, value, job)))

    def _is_editable(self, launch: RawLaunch) -> bool:
        """Tell whether the files are at hand, and the words of the program are known."""
        known = bool(self.before.facts.text("launch.framework"))
        return known and launch.origin.source in self.texts

    def _is_of_data(self, file: FilePatch) -> bool:
        """Tell whether a file is there, and is none that the launch reads."""
        return file.before is not None and file.name not in self.texts

    def _placed(self, files: Iterable[FilePatch]) -> Iterable[FilePatch]:
        """Name files by where they lie from here, not by how the launch calls them."""
        given = self.around.given
        source = "" if self.launch is None else self.launch.origin.source
        folder = given.beside.get(source)
        named = {item.name for item in (*given.scripts, *given.configs)}
        for file in files:
            place = file.name if file.name in named else place_of(file, folder)
            before = self.around.unmended.get(file.name, file.before)
            yield msgspec.structs.replace(file, name=place, before=before)


def _void(before: LaunchReading, around: LaunchContext) -> Mapping[str, str]:
    """Give what is objected to by the book and did not stop the job.

    A job that was seen to train had been taken, the arguments of one that filled a card had; one
    that was seen to fail of something else is no proof of an estimate.
    """
    found = recheck.objections(before)
    if begun(around.known):
        return found
    ids = set(ESTIMATED if around.known.value("log.given") is True else ())
    if taken(around.known) and around.linted is not None:
        ids |= {rule.id for rule in around.linted.lint.rules.values() if rule.group == "arguments"}
    return {i: text for i, text in found.items() if i in ids}


def _with_needs(before: LaunchReading, after: LaunchReading) -> LaunchReading:
    """Leave out that a package is not there which the edit itself needs: its line goes with it."""
    if NEEDS in (before.findings or {}) or NEEDS not in (after.findings or {}):
        return after
    left = {rule: text for rule, text in (after.findings or {}).items() if rule != NEEDS}
    return msgspec.structs.replace(after, findings=left)


def _is_refused(made: Attempt) -> bool:
    """Tell whether a check of the framework refuses what it did not refuse before."""
    return any(check.name == "guards" and not check.holds for check in made.checks)


def _outcome(
    checks: Iterable[ProofCheck], standing: Mapping[str, str] | None
) -> Literal["proved", "not-enough", "failed"]:
    lost = {check.name for check in checks if not check.holds}
    if not lost:
        return "proved"
    return "not-enough" if standing is not None and lost <= STANDS else "failed"


def pinned(change: Change, keep: Iterable[str]) -> bool:
    """Tell whether a change is of what the user wants to keep, by any of its names."""
    kept = {_plain(name) for name in keep}
    return _plain(change.param) in kept or change.canonical in kept


def _plain(name: str) -> str:
    return name.lstrip("-").replace("-", "_")


def _written(patched: Patched) -> ProofCheck:
    """Check that every change found its place in the files."""
    missing = [f"{item.change.param}: {item.reason}" for item in patched.left]
    names = ", ".join(file.name for file in patched.files)
    return ProofCheck(name="written", holds=not missing, detail="; ".join(missing) or names)
