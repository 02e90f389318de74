"""Say why a fine-tuning job failed, or will fail, and what exactly to change."""

from __future__ import annotations

__version__ = "0.1.0"
