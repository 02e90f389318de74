"""Read `kb/` and `rules/` into records; refuse what is malformed, naming file and key path."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import TypeVar

import msgspec

from trainrx.knowledge.cache import compiled, is_entry
from trainrx.knowledge.cache import digest as folder_digest
from trainrx.knowledge.conditions import conditions_of, refuse_malformed, tests_of
from trainrx.knowledge.guards import spoken_of, with_guards
from trainrx.knowledge.lint import LINT
from trainrx.knowledge.packages import FOLDER as PACKAGES
from trainrx.knowledge.packages import add_ranges, range_entries, with_ranges
from trainrx.knowledge.places import shipped
from trainrx.knowledge.ranking import FILE as RANKING
from trainrx.knowledge.regexes import slowness, unbounded
from trainrx.knowledge.shorthand import FIXES, written_out
from trainrx.knowledge.store import Entry, Knowledge, LaunchKnowledge
from trainrx.knowledge.verified import FILE as VERIFIED
from trainrx.knowledge.verified import read_verified, unverified
from trainrx.knowledge.words import with_words
from trainrx.model.constants import FILE as MEMORY
from trainrx.model.constants import JUDGED, Constants, FittedConstants
from trainrx.model.errors import KnowledgeError
from trainrx.model.fitted import Fitted
from trainrx.model.hardware import Dataset, Gpu, ModelShape
from trainrx.model.knowledge import Cause, FactEntry, Fix, Rule, Symptom
from trainrx.model.levers import Guard, Lever
from trainrx.model.lint import LintRule
from trainrx.model.packages import PackageEntry, RangeEntry
from trainrx.model.parts import Param
from trainrx.model.protocols import Protocol
from trainrx.model.states import ThreadState

PART = "knowledge"
"""How the compiled form is called."""

E = TypeVar(
    "E", Symptom, Cause, Param, FactEntry, Rule, Guard, LintRule, Lever, Fix, Protocol, ThreadState
)
R = TypeVar("R")

_FOLDERS: dict[
    str, type[Symptom | Cause | Param | FactEntry | Guard | Lever | Fix | Protocol | ThreadState]
] = {
    "symptoms": Symptom,
    "causes": Cause,
    "params": Param,
    "facts": FactEntry,
    "guards": Guard,
    "levers": Lever,
    "protocols": Protocol,
    "states": ThreadState,
    FIXES: Fix,
}


def load(
    kb: Sequence[Path | str] = (),
    rules: Sequence[Path | str] = (),
    *,
    launches: bool = False,
) -> Knowledge:
    """Load the shipped knowledge and what the given folders add or replace (same id).

    Args:
        kb: folders of further entries.
        rules: folders of further rules.
        launches: only what it takes to read a launch is wanted: symptoms, causes and rules that
            are shipped may be missing. Takes a third of the time.

    Raises:
        KnowledgeError: an entry or one of its conditions is malformed.
    """
    base = _shipped(launches=launches)
    if not kb and not rules:
        return base
    extra = read_folders([Path(k) for k in kb], [Path(r) for r in rules])
    _refuse_slow(extra)
    ranges = base.ranges | extra.ranges
    symptoms, causes = with_guards(
        extra.guards.values(),
        base.symptoms | extra.symptoms,
        with_ranges(base.causes | extra.causes, ranges),
    )
    asked = [pair for cause in causes.values() for pair in conditions_of(cause)]
    refuse_malformed((*asked, *(pair for item in symptoms.values() for pair in tests_of(item))))
    return Knowledge(
        symptoms=symptoms,
        causes=causes,
        arguments=spoken_of(causes.values()),
        params=base.params | extra.params,
        facts=base.facts | extra.facts,
        rules=base.rules | extra.rules,
        ranges=ranges,
        gpus=extra.gpus + base.gpus,
        models=extra.models + base.models,
        datasets=extra.datasets + base.datasets,
        guards=base.guards | extra.guards,
        levers=base.levers | extra.levers,
        protocols=base.protocols | extra.protocols,
        states=base.states | extra.states,
        fitted=base.fitted,
        unverified=base.unverified - extra.causes.keys() - extra.guards.keys(),
        memory=base.memory if extra.memory == JUDGED else extra.memory,
        digest=hashlib.sha256((base.digest + extra.digest).encode()).hexdigest()[:12],
    )


def _refuse_slow(extra: Knowledge) -> None:
    """Look whether the expressions of further entries end in time, whatever a log holds.

    Raises:
        KnowledgeError: one does not, or is none; names it.
    """
    held = [(entry.id, entry.patterns) for entry in extra.symptoms.values()]
    held += [(entry.id, entry.patterns) for entry in extra.guards.values()]
    for ident, patterns in held:
        for at, pattern in enumerate(patterns):
            key = f"patterns[{at}].regex"
            try:
                said = next(iter(unbounded(pattern.regex)), "") or slowness(pattern.regex)
            except (re.error, RecursionError, OverflowError) as error:
                raise KnowledgeError(ident, key, f"is not a regex: {error}") from error
            if said:
                raise KnowledgeError(ident, key, said)


def read_folders(kb: Sequence[Path], rules: Sequence[Path]) -> Knowledge:
    """Parse YAML folders as they stand, kept nowhere; `complete` adds what entries say of others.

    Raises:
        KnowledgeError: a folder is missing or an entry is malformed.
    """
    for folder in (*kb, *rules):
        if not folder.is_dir():
            raise KnowledgeError(str(folder), "", "is not a folder")
    return _as_they_stand(tuple(kb), tuple(rules), folder_digest((*kb, *rules)))


@lru_cache(maxsize=2)
def _as_they_stand(kb: Sequence[Path], rules: Sequence[Path], digest: str) -> Knowledge:
    """Parse folders in one state; what judges a job and what lints its launch ask for the same."""
    return Knowledge(
        symptoms=_entries(kb, "symptoms", Symptom),
        causes=_entries(kb, "causes", Cause),
        params=_entries(kb, "params", Param),
        facts=_entries(kb, "facts", FactEntry),
        rules=_by_id((p, read_entry(p, Rule)) for r in rules for p in _rule_files(r)),
        ranges=_ranges(kb),
        gpus=_table(kb, "gpus.yaml", Gpu),
        models=_table(kb, "models.yaml", ModelShape),
        datasets=_table(kb, "datasets.yaml", Dataset),
        guards=_entries(kb, "guards", Guard),
        levers=_entries(kb, "levers", Lever),
        protocols=_entries(kb, "protocols", Protocol),
        states=_entries(kb, "states", ThreadState),
        fitted=_fitted(kb),
        memory=_memory(kb),
        digest=digest,
    )


def complete(knowledge: Knowledge) -> Knowledge:
    """Add to symptoms and causes what guards and ranges of versions say of them.

    Raises:
        KnowledgeError: a guard or range takes the id of something else, or names a cause that is
            not there.
    """
    ranged = add_ranges(knowledge.causes, knowledge.ranges)
    symptoms, causes = with_guards(knowledge.guards.values(), knowledge.symptoms, ranged)
    return msgspec.structs.replace(
        knowledge, symptoms=symptoms, causes=causes, arguments=spoken_of(causes.values())
    )


def read_entry(path: Path, kind: type[R]) -> R:
    """Read one entry and check that it is named like its file.

    Raises:
        KnowledgeError: it is malformed; the message names file and key path.
    """
    entry = _convert(path, written_out(path, _yaml(path)), kind)
    ident = getattr(entry, "id", path.stem)
    if ident != path.stem:
        raise KnowledgeError(str(path), "id", f"is {ident!r}, the file name says {path.stem!r}")
    return entry


def shared_fixes(kb: Sequence[Path | str] = ()) -> dict[str, Fix]:
    """Read the fixes that several entries offer, by id; a folder given replaces what is shipped.

    Raises:
        KnowledgeError: one is malformed.
    """
    roots = (shipped()[0], *map(Path, kb))
    return {name: fix for root in roots for name, fix in _entries([root], FIXES, Fix).items()}


def find_entry(
    ident: str, kb: Sequence[Path] = (), rules: Sequence[Path] = ()
) -> tuple[Entry | None, tuple[str, ...]]:
    """Find one entry by id or alias, reading only its file; else the nearest ids.

    Raises:
        KnowledgeError: the entry is malformed.
    """
    own_kb, own_rules = shipped()
    known: dict[str, tuple[Path, type[Entry]]] = {}
    for root in (*kb, own_kb):
        for name, kind in _FOLDERS.items():
            for path in _files(root / name):
                known.setdefault(path.stem, (path, kind))
    for root in (*rules, own_rules):
        for path in _rule_files(root):
            known.setdefault(path.stem, (path, Rule))
        for path in _files(root / LINT):
            known.setdefault(path.stem, (path, LintRule))
    if ident in known:
        path, found = known[ident]
        return read_entry(path, found), ()
    # to parse all entries takes a second: only a file that holds the word can name it as an alias
    for path, found in known.values() if ident else ():
        if ident in path.read_text(encoding="utf-8"):
            entry = read_entry(path, found)
            if ident in getattr(entry, "aliases", ()):
                return entry, ()
    ranges = _ranges([own_kb]) | _ranges(kb)
    if ident in ranges:
        return ranges[ident], ()
    # only a miss pays for this import
    from difflib import get_close_matches

    return None, tuple(get_close_matches(ident, (*known, *ranges), n=5, cutoff=0.4))


def entry_path(ident: str) -> Path | None:
    """Give the file of a shipped entry."""
    for root in shipped():
        for path in root.rglob(f"{ident}.yaml") if re.fullmatch(r"[\w.-]+", ident) else ():
            return path
    return None


@cache
def _shipped(*, launches: bool) -> Knowledge:
    """Read once per process, as installed: in a checkout, to see it unchanged asks 2,800 files."""
    return read_cached(*shipped(), launches=launches)


def read_cached(kb: Path, rules: Path, *, launches: bool = False) -> Knowledge:
    """Give the knowledge of two folders; what an installed copy carries goes before.

    Raises:
        KnowledgeError: an entry is malformed.
    """
    make = partial(compile_knowledge, kb, rules)
    places = (kb, rules, kb / VERIFIED)
    if not launches:
        return compiled(PART, places, Knowledge, make)
    found = compiled(PART, places, LaunchKnowledge, make)
    return found.alone() if isinstance(found, LaunchKnowledge) else found


def compile_knowledge(kb: Path, rules: Path) -> Knowledge:
    """Read two folders, with what entries say of others, the index of words, and who looked."""
    written = read_folders([kb], [rules])
    judged = (*written.causes.values(), *written.guards.values())
    return msgspec.structs.replace(
        with_words(complete(written)), unverified=unverified(judged, read_verified(kb))
    )


def _files(folder: Path) -> list[Path]:
    """List the entries below a folder, their tests left out, in a fixed order."""
    found: list[Path] = []
    for base, folders, names in os.walk(folder):
        folders.sort()
        found += [Path(base, name) for name in sorted(names) if is_entry(name)]
    return found


def _rule_files(folder: Path) -> list[Path]:
    """List the rules the engine reasons with; those of lint are entries of another kind."""
    return [path for path in _files(folder) if path.parent.name != LINT]


def read_entries(folders: Iterable[Path], kind: type[E]) -> dict[str, E]:
    """Read all entries of some folders, by id.

    Raises:
        KnowledgeError: an entry is malformed, or an id stands twice.
    """
    return _by_id((p, read_entry(p, kind)) for folder in folders for p in _files(folder))


def _entries(roots: Iterable[Path], name: str, kind: type[E]) -> dict[str, E]:
    return read_entries((root / name for root in roots), kind)


def _ranges(roots: Iterable[Path]) -> dict[str, RangeEntry]:
    paths = (path for root in roots for path in _files(root / PACKAGES))
    return range_entries((path, _convert(path, _yaml(path), PackageEntry)) for path in paths)


def _fitted(roots: Iterable[Path]) -> Fitted | None:
    paths = [root / RANKING for root in roots]
    found = [_convert(path, _yaml(path), Fitted) for path in paths if path.is_file()]
    return found[0] if found else None


def _memory(roots: Iterable[Path]) -> Constants:
    paths = [root / MEMORY for root in roots]
    found = [_convert(path, _yaml(path), FittedConstants) for path in paths if path.is_file()]
    return found[0].constants if found else JUDGED


def _by_id(pairs: Iterable[tuple[Path, E]]) -> dict[str, E]:
    out: dict[str, E] = {}
    for path, entry in pairs:
        if entry.id in out:
            raise KnowledgeError(str(path), "id", f"{entry.id!r} stands twice")
        out[entry.id] = entry
    return out


def _table(roots: Iterable[Path], name: str, kind: type[R]) -> tuple[R, ...]:
    out: list[R] = []
    for root in roots:
        path = root / name
        if path.is_file():
            rows = _convert(path, _yaml(path), list)
            out += [_convert(path, row, kind) for row in rows]
    return tuple(out)


def _yaml(path: Path) -> object:
    # PyYAML costs 16 ms; the compiled form does without it
    from trainrx.knowledge.yaml12 import read_yaml

    return read_yaml(path)


def _convert(path: Path, data: object, kind: type[R]) -> R:
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        message, _, key = str(error).partition(" - at `")
        raise KnowledgeError(str(path), key.rstrip("`").removeprefix("$."), message) from error
