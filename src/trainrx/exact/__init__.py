"""Run the real model class without weights or a GPU and count what memory its storages take."""

from __future__ import annotations

from trainrx.exact.compare import compare
from trainrx.exact.record import Difference, ExactComparison, ExactResult
from trainrx.exact.run import run_exact

__all__ = ["Difference", "ExactComparison", "ExactResult", "compare", "run_exact"]
