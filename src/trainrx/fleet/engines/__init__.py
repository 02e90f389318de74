"""Where batches are worked on: the protocol of an engine, and its adapters, found by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Literal, NamedTuple, Protocol

from trainrx.fleet.record import FleetJob, JobAnswer, JobLimits

EngineKind = Literal["dask", "ray"]
Batch = tuple[FleetJob, ...]
Work = Callable[[Batch, JobLimits], tuple[JobAnswer, ...]]
"""A pure function of a batch, importable by its name wherever the engine runs it."""


class EngineLostError(RuntimeError):
    """The engine itself is gone; what was stored by then is done."""


class Finished(NamedTuple):
    """A batch that came back.

    Attributes:
        batch: what was submitted.
        answers: what came of it; None where there are none.
        said: why there are none.
        lost: its worker was lost with it; else the work raised an exception.
    """

    batch: Batch
    answers: tuple[JobAnswer, ...] | None
    said: str = ""
    lost: bool = False


class FleetEngine(Protocol):
    """Runs a function on batches somewhere else, a batch at a time on each of its slots."""

    @property
    def slots(self) -> int:
        """Count the batches that are worked on at the same time."""

    def submit(self, work: Work, batch: Batch, limits: JobLimits) -> None:
        """Hand a batch over; it is tried once."""

    def finished(self) -> Iterator[Finished]:
        """Give batches as they come back, until none is out; more may be submitted meanwhile.

        Raises:
            EngineLostError: nothing comes back any more.
        """

    def close(self) -> None:
        """Let go of it; processes it started itself are ended."""


def open_engine(kind: EngineKind, address: str, slots: int) -> FleetEngine:
    """Open an engine: a running one at an address, else one of its own on this machine.

    Args:
        kind: its name; `trainrx.fleet.engines.NAME` is its adapter.
        address: of its scheduler; "" starts one.
        slots: processes of one that is started.

    Raises:
        UsageError: it is not installed, or nothing answers at the address.
    """
    adapter = import_module(f"{__name__}.{kind}")
    opened: FleetEngine = adapter.open_engine(address, slots)
    return opened
