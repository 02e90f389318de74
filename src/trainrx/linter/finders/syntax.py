"""Files of a launch that no reader takes: the program stops before it has begun."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainrx.linter.job import LintedJob, RuleHit
from trainrx.linter.places import LineRange
from trainrx.model.findings import Unread


def find(job: LintedJob) -> Iterator[RuleHit]:
    """Give the configuration files that are not what their form demands, with the line."""
    yield from not_valid(job.unread)


def not_valid(unread: Iterable[Unread]) -> Iterator[RuleHit]:
    """Give what could not be read because it breaks the rules of its form."""
    for item in unread:
        # PyYAML is imported already where a file was found unfit
        from trainrx.inputs.config_yaml import NOT_YAML

        if item.reason.startswith(NOT_YAML):
            problem = item.reason.removeprefix(NOT_YAML).lstrip(": ")
            form = "JSON" if item.source.endswith(".json") else "YAML"
            at = LineRange(item.source, item.line)
            yield RuleHit("config-not-valid", at, {"form": form, "problem": problem})
