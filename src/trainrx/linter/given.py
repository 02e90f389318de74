"""Lint what was read for another answer: no file is opened twice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.given import Given
from trainrx.launch.programs import runs
from trainrx.launch.python_source import is_program
from trainrx.linter.check import Linter, worst_first
from trainrx.linter.files import File
from trainrx.linter.jobs import RunContext
from trainrx.linter.run import groups, launches_in, lint_file
from trainrx.linter.settings import Settings, chooser
from trainrx.model.facts import STATED
from trainrx.model.findings import Finding
from trainrx.model.job import Input
from trainrx.model.text import Lang

NONE: Mapping[str, str] = {}
ESTIMATED = frozenset({"memory-exceeds-card"})
"""Rules that say what the memory model expects, not what a program refuses."""


def lint_given(
    given: Given,
    versions: Mapping[str, str],
    loaded: LoadedKnowledge,
    lang: Lang = "en",
    *,
    data: str | None = None,
    brief: bool = False,
    edited: Mapping[str, str] = NONE,
) -> tuple[Finding, ...]:
    """Judge the scripts and configurations of a job, the worst findings first.

    `versions` are those of the whole job: its log may tell more of them than was given. `data` is a
    file of data, "" for what the launch names, None where none is to be read; `brief`: little
    of it. `edited` are texts in place of those of files that say what data is.
    """
    programs = tuple(item for item in given.scripts if is_program(item.text or ""))
    beside = RunContext(
        loaded,
        versions,
        given.env.variables,
        given.env.complete,
        (*given.facts, *(item for item in given.stated.facts if item.kind.startswith(STATED))),
        given.configs if given.scripts else (),
        given.model_config,
        programs,
        data,
        brief,
        edited,
    )
    linter = Linter(loaded.lint, chooser(Settings(), groups(loaded.lint)), lang)
    written = [item for item in given.scripts if item.kind == "script" and item not in programs]
    scripts = [_as_file(item, "script", given) for item in written]
    started = [one for file in scripts if programs for one in launches_in(file, beside)[1]]
    files = (
        *scripts,
        *(
            _as_file(item, "script", given)
            for item in programs
            if not runs(started, item, programs)
        ),
        *(_as_file(item, "config", given) for item in given.configs),
    )
    return worst_first([item for file in files for item in lint_file(file, linter, beside, [])[0]])


def _as_file(item: Input, kind: Literal["script", "config"], given: Given) -> File:
    return File(item.name, item.text or "", kind, given.beside.get(item.name), named=True)
