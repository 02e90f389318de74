"""A report as metrics of Prometheus: counts, with ids of our own as labels.

No job, host, user or text is a label: those would never end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

from trainrx.fleet.report.summary import FleetReport
from trainrx.model.errors import UsageError

if TYPE_CHECKING:
    from prometheus_client.core import GaugeMetricFamily

PREFIX = "trainrx_fleet_"
LABELS = ("cause", "family", "framework", "outcome")


def check_metrics() -> None:
    """Refuse to write metrics where the library is missing.

    Raises:
        UsageError: prometheus-client is not installed.
    """
    if find_spec("prometheus_client") is None:
        raise UsageError(
            "--format prometheus needs prometheus-client, which is not installed: "
            "pip install 'trainrx[report]'"
        )


def exposition(report: FleetReport) -> str:
    """Write the metrics in the text format."""
    from prometheus_client import CollectorRegistry, generate_latest

    registry = CollectorRegistry(auto_describe=False)
    registry.register(ReportCollector(report))
    return bytes(generate_latest(registry)).decode()


class ReportCollector:
    """Gives the metrics of a report."""

    def __init__(self, report: FleetReport) -> None:
        self._report = report

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Give the metrics."""
        from prometheus_client.core import GaugeMetricFamily

        jobs = GaugeMetricFamily(PREFIX + "jobs", "Jobs, by what came of them.", labels=LABELS)
        hours = GaugeMetricFamily(
            PREFIX + "gpu_hours_lost", "GPU hours of failed jobs.", labels=LABELS
        )
        for one in self._report.counts:
            labels = (one.cause, one.family, one.framework, one.outcome)
            jobs.add_metric(labels, one.jobs)
            if one.outcome == "failed":
                hours.add_metric(labels, one.gpu_hours)
        told = GaugeMetricFamily(
            PREFIX + "changes", "Changes people told the outcome of.", labels=("outcome",)
        )
        for outcome in ("failed", "worked"):
            told.add_metric((outcome,), self._report.told.get(outcome, 0))
        suspected = GaugeMetricFamily(
            PREFIX + "suspects", "Suspected nodes, cards, versions and images.", labels=("axis",)
        )
        for axis, count in sorted(Counter(one.axis for one in self._report.suspects).items()):
            suspected.add_metric((axis,), count)
        yield from (jobs, hours, told, suspected)
