"""`python -m trainrx.cli` is `diagnose`."""

from __future__ import annotations

from trainrx.cli import program

program()
