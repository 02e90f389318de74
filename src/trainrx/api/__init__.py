"""The pipeline: what was given in, a `Diagnosis` out; no printing, no exit."""

from __future__ import annotations

from trainrx.api.pipeline import diagnose

__all__ = ["diagnose"]
