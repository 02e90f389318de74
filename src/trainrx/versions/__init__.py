"""Releases, ranges of them, listings of installed packages."""
