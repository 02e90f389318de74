"""Run the launches that stand in guards, and beside the rules of lint."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

import msgspec

from trainrx.facts.all import derive
from trainrx.knowledge.guards import broken
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.knowledge.store import Knowledge
from trainrx.knowledge.yaml12 import read_yaml
from trainrx.launch.config_kinds import classify_config
from trainrx.launch.given import Given
from trainrx.launch.job import argument_facts, find_launch, launch_facts, settle
from trainrx.launch.request import Request
from trainrx.linter.check import Linter
from trainrx.linter.files import File
from trainrx.linter.jobs import around
from trainrx.linter.mend import mended
from trainrx.linter.run import groups, lint_file
from trainrx.linter.settings import Settings, chooser
from trainrx.model.errors import KnowledgeError
from trainrx.model.facts import Facts, Origin, fact
from trainrx.model.job import Input
from trainrx.model.levers import Guard, GuardExamples
from trainrx.reason.conditions import holds


def guard_problems(guard: Guard, knowledge: Knowledge) -> Iterator[str]:
    """Give a line for each example the guard does not judge as it says."""
    condition = broken(guard)
    if condition is None or guard.examples is None:
        return
    told = guard.examples
    judged = {
        text: holds(condition, _facts(text, told, knowledge), told.versions)
        for text in (*told.violates, *told.keeps)
    }
    for text in told.violates:
        if judged[text] is not True:
            yield f"{guard.id}: does not object to {text.strip()[:160]!r}"
    for text in told.keeps:
        if judged[text] is True:
            yield f"{guard.id}: objects to {text.strip()[:160]!r}"
    if False not in (judged[text] for text in told.keeps):
        yield f"{guard.id}: no example is known to keep it"


def _facts(text: str, told: GuardExamples, knowledge: Knowledge) -> Facts:
    is_config = classify_config(text) is not None
    item = Input(kind="config" if is_config else "script", name="example", text=text)
    given = Given(configs=(item,)) if is_config else Given(scripts=(item,))
    here = Origin(source="example")
    known = [fact(name, value, here, how="given") for name, value in told.facts.items()]
    raw, _ = find_launch(given)
    if raw is None:
        return Facts(known)
    launch = settle(raw, given, versions=told.versions, knowledge=knowledge)
    own = (*launch_facts(launch, told.versions), *argument_facts(launch, knowledge.arguments))
    return derive((*known, *own), knowledge, launch.shape)


class LintExpectation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What must come out: how often, the place and severity of the first, the text once mended."""

    found: int
    line: int | None = None
    column: int | None = None
    severity: str | None = None
    fixed: str | None = None


class LintCase(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One launch, as a script or as a configuration, and what is known beside it.

    `files` lie beside the script by their names, `binary` likewise in base64; where there are some,
    the data is read.
    """

    name: str
    expect: LintExpectation
    script: str = ""
    config: str = ""
    versions: dict[str, str] = {}
    gpu: str | None = None
    gpus: int | None = None
    nodes: int | None = None
    files: dict[str, str] = {}
    binary: dict[str, bytes] = {}


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


def case_problems(rule: str, case: LintCase, loaded: LoadedKnowledge) -> Iterator[str]:
    """Give a line for each expectation that does not hold."""
    if not case.files and not case.binary:
        yield from _judged(rule, case, loaded, None)
        return
    outside = [name for name in (*case.files, *case.binary) if _leaves(name)]
    if outside:
        yield f"{case.name}: {outside[0]} lies outside the folder of the test"
        return
    with TemporaryDirectory() as folder:
        texts = {name: text.encode() for name, text in case.files.items()}
        for name, held in (texts | case.binary).items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(held)
        yield from _judged(rule, case, loaded, Path(folder))


def _leaves(name: str) -> bool:
    path = PurePath(name)
    return path.is_absolute() or ".." in path.parts


def _judged(
    rule: str, case: LintCase, loaded: LoadedKnowledge, folder: Path | None
) -> Iterator[str]:
    settings = Settings(versions=case.versions)
    request = Request(
        cards=() if case.gpu is None else (case.gpu,),
        gpus=case.gpus,
        nodes=case.nodes,
        data=None if folder is None else "",
    )
    beside = around(settings, loaded, request)
    linter = Linter(loaded.lint, chooser(settings, groups(loaded.lint)), "en")
    file = (
        File("case.yaml", case.config, "config", folder, named=True)
        if case.config
        else File("case.sh", case.script, "script", folder, named=True)
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
