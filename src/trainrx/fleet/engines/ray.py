"""Ray: https://docs.ray.io; this machine, or a running cluster."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from trainrx.fleet.engines import Batch, EngineLostError, Finished, Work
from trainrx.fleet.record import JobAnswer, JobLimits
from trainrx.model.errors import UsageError


class RayEngine:
    """Batches as tasks of Ray."""

    def __init__(self) -> None:
        self._out: dict[object, Batch] = {}
        self._remote: dict[Work, Any] = {}

    @property
    def slots(self) -> int:
        """Count the processors of all nodes there are now."""
        import ray

        return max(1, int(ray.cluster_resources().get("CPU", 1)))

    def submit(self, work: Work, batch: Batch, limits: JobLimits) -> None:
        """Hand a batch over; it is tried once."""
        import ray

        if work not in self._remote:  # each one is exported to the cluster
            self._remote[work] = ray.remote(max_retries=0, num_cpus=1)(work)
        self._out[self._remote[work].remote(batch, limits)] = batch

    def finished(self) -> Iterator[Finished]:
        """Give batches as they come back, until none is out; more may be submitted meanwhile.

        Raises:
            EngineLostError: the cluster is gone.
        """
        import ray

        while self._out:
            ready, _ = ray.wait([*self._out], num_returns=1)
            for one in ready:
                yield self._fetched(one, self._out.pop(one))

    def _fetched(self, one: object, batch: Batch) -> Finished:
        import ray
        from ray import exceptions

        lost = (
            *(exceptions.WorkerCrashedError, exceptions.NodeDiedError),
            *(exceptions.LocalRayletDiedError, exceptions.OutOfMemoryError),
        )
        try:
            answers: tuple[JobAnswer, ...] = ray.get(one)
        except lost as error:
            return Finished(batch, None, _in_words(error), lost=True)
        except exceptions.RayTaskError as error:
            return Finished(batch, None, _in_words(error))
        except exceptions.RayError as error:
            raise EngineLostError(f"Ray is gone: {_in_words(error)}") from error
        return Finished(batch, answers)

    def close(self) -> None:
        """Leave the cluster; one that was started for this is ended."""
        import ray

        ray.shutdown()


def _in_words(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1] if lines else ''}"[:300]


def open_engine(address: str, slots: int) -> RayEngine:
    """Join a cluster, or start one on this machine.

    Raises:
        UsageError: Ray is not installed, or no cluster is at the address.
    """
    try:
        import ray
    except ImportError as error:
        raise UsageError(
            "`diagnose fleet --engine ray` needs Ray: pip install 'trainrx[ray]'"
        ) from error
    where = {"address": address} if address else {"num_cpus": slots, "include_dashboard": False}
    try:
        ray.init(**where, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise UsageError(f"--scheduler {address}: no cluster of Ray answers: {error}") from error
    return RayEngine()
