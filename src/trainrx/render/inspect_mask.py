"""Mask secrets."""

from trainrx.render.redact import masked

__all__ = ["masked"]
