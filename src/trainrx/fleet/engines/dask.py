"""Dask: https://distributed.dask.org; a cluster on this machine, or a running one."""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from trainrx.fleet.engines import Batch, EngineLostError, Finished, Work
from trainrx.fleet.record import JobLimits
from trainrx.model.errors import UsageError

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster, Worker, as_completed

ANSWERS_WITHIN = 10
"""Seconds in which a scheduler is reached."""
RECOUNTED = 5.0
"""Seconds for which a count of workers holds."""
LOUD = ("asyncio", "distributed.client", "distributed.core", "tornado.application")
"""Loggers that report a lost connection at length; what it means is told by who drives this."""
OWN = {
    # a batch that ended its worker is not tried on the next ones, the driver looks into it
    "distributed.scheduler.allowed-failures": 0,
    # workers only wait for a process that answers: to sample what they do costs and tells nothing
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.terminate": False,
    "distributed.comm.retry.count": 2,
}
"""Settings of a cluster that is started here."""


class DaskEngine:
    """Batches as futures of `dask.distributed`.

    Args:
        client: of the scheduler.
        cluster: that was started for it.
    """

    def __init__(self, client: Client, cluster: LocalCluster | None = None) -> None:
        from distributed import as_completed

        self._client, self._cluster = client, cluster
        self._out: dict[Future[Any], Batch] = {}
        self._slots, self._counted_until = 1, 0.0
        self._coming: as_completed = as_completed(loop=client.loop)

    @property
    def slots(self) -> int:
        """Count the threads of all workers, anew every few seconds: they come and go.

        Raises:
            EngineLostError: the scheduler is gone.
        """
        if time.monotonic() >= self._counted_until:
            try:
                threads: Mapping[str, int] = self._client.nthreads()
            except OSError as error:
                raise EngineLostError(f"the scheduler of Dask is gone: {error}") from error
            self._slots = max(1, sum(threads.values()))
            self._counted_until = time.monotonic() + RECOUNTED
        return self._slots

    def submit(self, work: Work, batch: Batch, limits: JobLimits) -> None:
        """Hand a batch over; it is tried once."""
        future = self._client.submit(work, batch, limits, pure=False, retries=0)
        self._out[future] = batch
        self._coming.add(future)

    def finished(self) -> Iterator[Finished]:
        """Give batches as they come back, until none is out; more may be submitted meanwhile.

        Raises:
            EngineLostError: the scheduler is gone.
        """
        from distributed.scheduler import KilledWorker

        while self._out:
            future = next(self._coming)
            batch = self._out.pop(future)
            if future.status == "finished":
                yield Finished(batch, future.result())
            elif future.status == "error":
                error = future.exception()
                yield Finished(batch, None, _in_words(error), isinstance(error, KilledWorker))
            else:
                raise EngineLostError(f"the scheduler of Dask is gone (a batch is {future.status})")
            future.release()

    def close(self) -> None:
        """Leave the scheduler; a cluster that was started for this is ended."""
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()


def _in_words(error: BaseException | None) -> str:
    return f"{type(error).__name__}: {error}".split("\n", 1)[0][:300]


def dask_setup(_worker: Worker) -> None:
    """Leave Ctrl-C to the driver: a worker that is started here gets it, too, and ends with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def open_engine(address: str, slots: int) -> DaskEngine:
    """Reach a scheduler, or start a cluster of processes on this machine.

    Raises:
        UsageError: Dask is not installed, or nobody answers at the address.
    """
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise UsageError("`diagnose fleet` needs Dask: pip install 'trainrx[fleet]'") from error
    for name in LOUD:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    if address:
        try:
            return DaskEngine(Client(address, timeout=ANSWERS_WITHIN, set_as_default=False))
        except (OSError, ValueError) as error:
            raise UsageError(
                f"--scheduler {address}: no scheduler of Dask answers there: {error}"
            ) from error
    dask.config.set(OWN)
    cluster = LocalCluster(
        n_workers=slots,
        threads_per_worker=1,
        processes=True,
        dashboard_address="127.0.0.1:0",
        memory_limit=0,
        preload=[__name__],
        silence_logs=logging.CRITICAL,
    )
    return DaskEngine(Client(cluster, set_as_default=False), cluster)
