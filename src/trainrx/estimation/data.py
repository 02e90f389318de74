"""The lengths and images of the data a launch names, in place of what would be assumed."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.data.findings import data_findings
from trainrx.data.job import DataJob
from trainrx.data.statistics import train_stats
from trainrx.data.survey import Survey, surveyed
from trainrx.linter.check import filled
from trainrx.model.findings import Unread
from trainrx.model.hardware import TokenStats
from trainrx.model.lint import LintKnowledge
from trainrx.model.text import Lang


def measured(
    job: DataJob, rules: LintKnowledge, lang: Lang
) -> tuple[TokenStats | None, tuple[Unread, ...]]:
    """Read a sample of the data of a launch: its statistics, and what is wrong with it in words."""
    surveys = surveyed(job)
    return train_stats(surveys), tuple(_in_words(surveys, job, rules, lang))


def _in_words(
    surveys: tuple[Survey, ...], job: DataJob, rules: LintKnowledge, lang: Lang
) -> Iterator[Unread]:
    for item in data_findings(surveys, job):
        rule = rules.rules.get(item.rule)
        if rule is not None:
            reason = filled(rule.message.in_(lang), item.values)
            yield Unread(source=item.at.source, line=item.at.line, reason=reason)
