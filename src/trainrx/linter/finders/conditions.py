"""Rules that are a condition on what is known of the launch (`when`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainrx.linter.finders.guards import deciding, place
from trainrx.linter.job import LintedJob, RuleHit
from trainrx.model.lint import LintRule
from trainrx.reason.conditions import holds
from trainrx.versions.ranges import in_range


def judged(job: LintedJob, rules: Iterable[LintRule]) -> Iterator[RuleHit]:
    """Give each rule whose condition is surely true of the launch."""
    for rule in rules:
        if rule.when is None or not _lies_in(rule, job):
            continue
        if holds(rule.when, job.facts, job.versions) is True:
            named = [job.facts.get(name) for name in rule.points_at]
            pointed = [item for item in named if item is not None]
            decided = pointed or deciding(rule.when, job)
            values = {item.kind.replace(".", "_"): _plain(item.value) for item in decided}
            yield RuleHit(rule.id, place(decided, job), values)


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)[:80]


def _lies_in(rule: LintRule, job: LintedJob) -> bool:
    return all(
        package in job.versions and in_range(job.versions[package], spec) is True
        for package, spec in rule.versions.items()
    )
