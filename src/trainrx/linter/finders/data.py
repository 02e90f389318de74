"""What is wrong with the data and the checkpoints a launch names, where they are to be read."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.linter.job import LintedJob, RuleHit
from trainrx.linter.places import LineRange
from trainrx.model.facts import Origin


def find(job: LintedJob) -> Iterator[RuleHit]:
    """Give what a bounded sample of the data shows."""
    if job.data is None or job.launch.role != "trainer":
        return
    # the readers of data are loaded only where there is some to read
    from trainrx.data.checkpoints import checkpoint_findings
    from trainrx.data.findings import data_findings
    from trainrx.data.survey import surveyed

    found = data_findings(surveyed(job.data), job.data)
    for item in (*found, *checkpoint_findings(job.data)):
        yield RuleHit(item.rule, _place(item.at, job), item.values, severity=item.severity)


def _place(at: Origin, job: LintedJob) -> LineRange:
    """Point at the launch, or at a line of the data."""
    if at.line is not None and job.texts.line(at.source, at.line):
        return job.texts.whole(at)
    return LineRange(at.source, at.line)
