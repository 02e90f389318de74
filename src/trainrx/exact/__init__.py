"""Run the real model class without weights or a GPU and count what memory its storages take."""

from __future__ import annotations

from trainrx.exact.record import ExactResult
from trainrx.exact.run import compare, run_exact

__all__ = ["ExactResult", "compare", "run_exact"]
