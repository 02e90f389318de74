from __future__ import annotations

from trainrx.knowledge.load import load
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.config_kinds import classify_config
from trainrx.linter.check import Linter
from trainrx.linter.files import File
from trainrx.linter.jobs import RunContext
from trainrx.linter.run import groups, lint_file
from trainrx.linter.settings import Settings, chooser
from trainrx.model.facts import Origin, fact
from trainrx.model.levers import Guard

LOADED = LoadedKnowledge()
NOT_ALONE = {"swift-argument-misspelt", "swift-argument-of-another-version"}
"""Lint has rules of its own for names."""
GUARDS = sorted(
    (g for g in load().guards.values() if g.when and g.examples and g.id not in NOT_ALONE),
    key=lambda guard: guard.id,
)


def _rules(guard: Guard, text: str) -> set[str]:
    assert guard.examples is not None
    versions = guard.examples.versions
    here = Origin(source="example")
    given = tuple(fact(n, v, here, how="given") for n, v in guard.examples.facts.items())
    kind = "config" if classify_config(text) is not None else "script"
    file = File("example", text, kind, None, named=True)
    linter = Linter(LOADED.lint, chooser(Settings(), groups(LOADED.lint)), "en")
    return {
        f.rule for f in lint_file(file, linter, RunContext(LOADED, versions, given=given), [])[0]
    }


def test_lint_never_objects_to_what_keeps_a_guard() -> None:
    found = [
        (guard.id, text)
        for guard in GUARDS
        if guard.examples is not None
        for text in guard.examples.keeps
        if guard.id in _rules(guard, text)
    ]

    assert found == []


def test_lint_objects_to_what_violates_a_guard() -> None:
    missed = [
        (guard.id, text)
        for guard in GUARDS
        if guard.examples is not None
        for text in guard.examples.violates
        if guard.id not in _rules(guard, text)
    ]

    assert missed == []
