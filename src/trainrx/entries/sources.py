"""The files of knowledge folders, one by one: what each holds, what is wrong, where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec
import yaml

from trainrx.entries.problem import DataPlace, Problem, error, find, key_at, warning
from trainrx.entries.structure import mend
from trainrx.knowledge.shorthand import FIXES, written_out
from trainrx.knowledge.yaml12 import read_nodes
from trainrx.model.errors import KnowledgeError
from trainrx.model.fixing import RetryRule
from trainrx.model.hardware import Gpu, ModelShape
from trainrx.model.knowledge import Cause, FactEntry, Fix, Rule, Symptom
from trainrx.model.levers import Guard, Lever
from trainrx.model.lint import LintRule
from trainrx.model.packages import PackageEntry
from trainrx.model.parts import Param
from trainrx.model.protocols import Protocol
from trainrx.model.safety import SafetyRule
from trainrx.model.states import ThreadState

PLACEHOLDER = "FILL_IN"
"""What `diagnose kb new` writes where a person has to decide; a comment may hold it too."""
TEST = ".test.yaml"

FOLDERS: Mapping[str, type[msgspec.Struct]] = {
    "symptoms": Symptom,
    "causes": Cause,
    "params": Param,
    "facts": FactEntry,
    "guards": Guard,
    "levers": Lever,
    "protocols": Protocol,
    "states": ThreadState,
    "packages": PackageEntry,
    FIXES: Fix,
}
TABLES: Mapping[str, type[msgspec.Struct]] = {
    "gpus.yaml": Gpu,
    "models.yaml": ModelShape,
    "retry.yaml": RetryRule,
    "safety.yaml": SafetyRule,
}


class EntrySource(NamedTuple):
    """One file: its records (one, or the rows of a table) and how to find a key in it.

    `records` is empty when the file is no YAML or no mapping. `broken` are the places where a
    record holds a stand-in or a placeholder, so that nothing said of them counts.
    """

    path: Path
    root: Path
    records: tuple[msgspec.Struct, ...]
    problems: tuple[Problem, ...]
    broken: tuple[DataPlace, ...]
    node: yaml.Node | None
    data: object

    @property
    def ident(self) -> str:
        """Give the id the file name stands for."""
        return self.path.name.removesuffix(TEST).removesuffix(".yaml")

    def line(self, problem: Problem) -> int:
        """Give the line a problem is on; what is no YAML names its own."""
        told = re.fullmatch(r"line (\d+)", problem.key)
        return int(told[1]) if told and self.node is None else find(self.node, problem.key).line

    def counts(self, problem: Problem) -> bool:
        """Tell whether a problem is about what somebody wrote."""
        if not problem.key:
            return True
        spot = find(self.node, problem.key)
        return not any(spot.touches(broken) for broken in self.broken)


def kb_sources(root: Path) -> Iterator[EntrySource]:
    """Read the entries and tables of a folder laid out like `kb/`."""
    for name, kind in FOLDERS.items():
        for path in _files(root / name):
            yield read_source(path, root, kind)
    for name, kind in TABLES.items():
        if (root / name).is_file():
            yield read_source(root / name, root, kind, table=True)


def rule_sources(root: Path) -> Iterator[EntrySource]:
    """Read the rules of a folder laid out like `rules/`, those of lint as what they are."""
    for path in _files(root):
        yield read_source(path, root, LintRule if path.parent.name == "lint" else Rule)


def sibling_sources(
    roots: Iterable[Path], kind: type[msgspec.Struct] | None = None
) -> Iterator[EntrySource]:
    """Read the tests that stand beside entries, against their record where it is given."""
    for root in roots:
        for path in sorted(root.rglob(f"*{TEST}")):
            # a test of a lint rule holds launches; it has its own record and its own runner
            yield read_source(path, root, None if path.parent.name == "lint" else kind)


def read_source(
    path: Path, root: Path, kind: type[msgspec.Struct] | None, *, table: bool = False
) -> EntrySource:
    """Read one file against its record (or the record of its rows); nothing about it raises."""
    try:
        data, node = read_nodes(path)
    except KnowledgeError as refused:
        problem = error(refused.key, refused.message)
        return EntrySource(path, root, (), (problem,), (), None, None)
    records: list[msgspec.Struct] = []
    open_places = tuple(_placeholders(path, node))
    problems = [problem for problem, _ in open_places]
    broken = [spot for _, spot in open_places]
    if isinstance(data, dict) and "status" in data:
        problems.append(warning("status", "says nothing any more: leave it out"))
    try:
        full = data if table else written_out(path, data)
    except KnowledgeError as refused:
        problems.append(error(refused.key, refused.message))
        return EntrySource(path, root, (), tuple(problems), tuple(broken), node, data)
    rows = list(enumerate(data)) if table and isinstance(data, list) else [(-1, full)]
    for index, row in rows if kind is not None else ():
        at = f"[{index}]" if index >= 0 else ""
        if not isinstance(row, dict):
            problems.append(error(at, "must be a mapping of keys to values"))
            continue
        mended = mend(row, kind) if kind is not None else None
        if mended is not None and kind is not None:
            records.append(msgspec.convert(mended.data, kind))
            problems += (p._replace(key=_under(at, p.key)) for p in mended.problems)
            broken += (find(node, _under(at, key)) for key in mended.broken)
    return EntrySource(path, root, tuple(records), tuple(problems), tuple(broken), node, data)


def _under(at: str, key: str) -> str:
    return f"{at}.{key}" if at and key else at + key


def _placeholders(path: Path, node: yaml.Node | None) -> Iterator[tuple[Problem, DataPlace]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        for hit in re.finditer(rf"{PLACEHOLDER}\b", line):
            key, text = key_at(node, number, hit.start())
            _, _, what = (line[hit.start() :] if text is None else text).partition(PLACEHOLDER)
            said = f"{_OPEN}: {what.strip()}" if what.strip() else _OPEN
            yield Problem(key, said), DataPlace(find(node, key).path, number + 1)


_OPEN = "is still to be filled in"


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*.yaml")):
        if not path.name.endswith(TEST):
            yield path
