"""A job that is followed, as metrics of Prometheus: numbers, with ids of our own as labels.

No name of a job, host or file and no text of a log is a label: those would never end.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from trainrx.collect.state import WatchState
from trainrx.model.errors import UsageError

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.core import GaugeMetricFamily

GIB = 1 << 30
PREFIX = "trainrx_"
LABELS = ("outcome", "family", "cause", "framework")


class Publisher(Protocol):
    """What metrics are handed to."""

    def publish(self, state: WatchState) -> None:
        """Take the newest state."""


def check_client() -> None:
    """Refuse to publish where the library is missing, before anything is followed.

    Raises:
        UsageError: prometheus-client is not installed.
    """
    if find_spec("prometheus_client") is None:
        raise UsageError(
            "--prometheus needs prometheus-client, which is not installed: "
            "pip install 'trainrx[watch]'"
        )


class JobCollector:
    """Gives the metrics of the newest state each time they are asked for."""

    def __init__(self) -> None:
        self._state: WatchState | None = None

    def publish(self, state: WatchState) -> None:
        """Take the newest state."""
        self._state = state

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Give the metrics."""
        if self._state is not None:
            yield from metrics_of(self._state)


class TextFile:
    """A file for the textfile collector of node_exporter: it is replaced in one piece.

    Args:
        path: of the file; it has to end in `.prom` for that collector.
    """

    def __init__(self, path: Path) -> None:
        if not path.parent.is_dir():
            raise UsageError(f"--prometheus {path}: there is no folder {path.parent}")
        self._path = path
        self._job = JobCollector()
        self._registry = _registry(self._job)

    def publish(self, state: WatchState) -> None:
        """Write the metrics of a state.

        Raises:
            UsageError: the file cannot be written.
        """
        from prometheus_client import write_to_textfile

        self._job.publish(state)
        try:
            write_to_textfile(str(self._path), self._registry)
        except OSError as error:
            reason = error.strerror or error
            raise UsageError(f"--prometheus {self._path} cannot be written: {reason}") from error


class Port:
    """A port of this machine that gives the metrics out.

    Args:
        number: of the port.

    Raises:
        UsageError: the port cannot be had.
    """

    def __init__(self, number: int) -> None:
        from prometheus_client import start_http_server

        self._job = JobCollector()
        try:
            self._server, _ = start_http_server(number, registry=_registry(self._job))
        except OSError as error:
            reason = error.strerror or error
            raise UsageError(f"--prometheus-port {number} cannot be had: {reason}") from error

    def publish(self, state: WatchState) -> None:
        """Take the newest state."""
        self._job.publish(state)

    def close(self) -> None:
        """Give nothing out any more."""
        self._server.shutdown()
        self._server.server_close()


def _registry(job: JobCollector) -> CollectorRegistry:
    from prometheus_client import CollectorRegistry

    registry = CollectorRegistry(auto_describe=False)
    registry.register(job)
    return registry


def metrics_of(state: WatchState) -> Iterator[GaugeMetricFamily]:
    """Give the metrics of a state; what is not known is left out."""
    from prometheus_client.core import GaugeMetricFamily

    info = GaugeMetricFamily(PREFIX + "job", "How the job stands: 1.", labels=LABELS)
    cause = state.cause
    family = state.alerts[0].family if state.alerts else ""
    named = (state.outcome, family, "" if cause is None else cause.id, state.framework or "")
    info.add_metric(named, 1.0)
    yield info
    alerts = GaugeMetricFamily(PREFIX + "alert", "An alert that stands: 1.", labels=("family",))
    for found in sorted({alert.family for alert in state.alerts}):
        alerts.add_metric((found,), 1.0)
    yield alerts
    for name, said, value in _numbers(state):
        if value is not None:
            yield GaugeMetricFamily(PREFIX + name, said, value=value)
    yield from _ranks(state)


def _numbers(state: WatchState) -> Iterator[tuple[str, str, float | None]]:
    forecast = None if state.forecast is None else state.forecast.step
    stalled = 0.0 if state.stall is None else state.stall.silent
    yield "step", "Steps done.", state.step
    yield "steps", "Steps of the whole training.", state.total
    yield "step_seconds", "Seconds of a step.", state.seconds_per_step
    yield "left_seconds", "Seconds until the last step.", state.eta_seconds
    yield "silent_seconds", "Seconds since the last line of any rank.", state.silent
    yield "stalled_seconds", "Seconds the job has stood still.", stalled
    yield "memory_bytes", "Memory of a card that was logged last.", _bytes(state.memory_gib)
    yield "memory_capacity_bytes", "Memory of the card.", _bytes(state.capacity_gib)
    yield "memory_full_step", "The step at which the card is full.", forecast


def _ranks(state: WatchState) -> Iterator[GaugeMetricFamily]:
    from prometheus_client.core import GaugeMetricFamily

    described = {
        "rank_step": "Steps a rank has done.",
        "rank_silent_seconds": "Seconds since the last line of a rank.",
        "rank_memory_bytes": "Memory a rank has logged last.",
    }
    found = {
        name: GaugeMetricFamily(PREFIX + name, said, labels=("rank",))
        for name, said in described.items()
    }
    for one in state.ranks:
        values = (one.step, one.silent, _bytes(one.memory_gib))
        for family, value in zip(found.values(), values, strict=True):
            if value is not None:
                family.add_metric((str(one.rank),), value)
    yield from (family for family in found.values() if family.samples)


def _bytes(gib: float | None) -> float | None:
    return None if gib is None else gib * GIB
