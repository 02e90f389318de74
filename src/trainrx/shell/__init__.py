"""Shell scripts evaluated without running them."""

from __future__ import annotations

from trainrx.shell.script import read_script

__all__ = ["read_script"]
