"""Run the launches that stand beside lint rules (`rules/lint/<id>.test.yaml`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from trainrx.knowledge.yaml12 import read_yaml
from trainrx.launch.request import Request
from trainrx.linter.check import Linter
from trainrx.linter.files import File
from trainrx.linter.jobs import around
from trainrx.linter.mend import mended
from trainrx.linter.run import groups, lint_file
from trainrx.linter.settings import Settings, chooser
from trainrx.model.errors import KnowledgeError
from trainrx.model.lint import LintKnowledge


class LintExpectation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What must come out: how often, the place and severity of the first, the text once mended."""

    found: int
    line: int | None = None
    column: int | None = None
    severity: str | None = None
    fixed: str | None = None


class LintCase(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One launch, as a script or as a configuration, and what is known beside it."""

    name: str
    expect: LintExpectation
    script: str = ""
    config: str = ""
    versions: dict[str, str] = {}
    gpu: str | None = None
    gpus: int | None = None
    nodes: int | None = None


class LintCases(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A test file."""

    cases: tuple[LintCase, ...]


def read_lint_cases(path: Path) -> tuple[LintCase, ...]:
    """Read a test file.

    Raises:
        KnowledgeError: it is malformed.
    """
    try:
        return msgspec.convert(read_yaml(path), LintCases).cases
    except msgspec.ValidationError as error:
        message, _, key = str(error).partition(" - at `")
        raise KnowledgeError(str(path), key.rstrip("`").removeprefix("$."), message) from error


def case_problems(rule: str, case: LintCase, knowledge: LintKnowledge) -> Iterator[str]:
    """Give a line for each expectation that does not hold."""
    settings = Settings(versions=case.versions)
    request = Request(gpu=case.gpu, gpus=case.gpus, nodes=case.nodes)
    beside = around(settings, knowledge, request)
    linter = Linter(knowledge, chooser(settings, groups(knowledge)), "en")
    file = (
        File("case.yaml", case.config, "config", None, named=True)
        if case.config
        else File("case.sh", case.script, "script", None, named=True)
    )
    found = [item for item in lint_file(file, linter, beside, [])[0] if item.rule == rule]
    expect, where = case.expect, f"{rule}: {case.name}"
    if len(found) != expect.found:
        yield f"{where}: found {len(found)} times, expected {expect.found}"
        return
    for key in ("line", "column", "severity"):
        wanted = getattr(expect, key)
        if wanted is not None and found and getattr(found[0], key) != wanted:
            yield f"{where}: {key} is {getattr(found[0], key)}, expected {wanted}"
    if expect.fixed is not None:
        text = mended(file, linter, beside, unsafe=False).text
        if text != expect.fixed:
            yield f"{where}: mended to {text!r}, expected {expect.fixed!r}"
