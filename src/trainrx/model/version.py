"""The version of this program; pyproject.toml states the same and a test compares them."""

from __future__ import annotations

__version__ = "0.1.0"
