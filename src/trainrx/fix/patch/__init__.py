"""Edits of the user's own files: values, flags and variables where they stand."""

from __future__ import annotations

from trainrx.fix.patch.launch import patch_launch
from trainrx.fix.patch.write import WriteRefusedError, unified_diff, write_files

__all__ = ["WriteRefusedError", "patch_launch", "unified_diff", "write_files"]
