"""The files of one release, in memory or in the zip the cache keeps."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping
from fnmatch import fnmatch
from pathlib import Path

DATE = "catalog-date"
"""Extra member of a cached zip: the day the release was built, YYYY-MM-DD or empty."""


class Sources:
    """Text files of a release by path; the paths start at the top-level package folder.

    The package's own metadata is called `METADATA`, whatever the archive called it.
    """

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = dict(files)

    @classmethod
    def load(cls, path: Path) -> Sources:
        """Read a zip of the cache."""
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            return cls({n: archive.read(n).decode("utf-8", "replace") for n in names})

    def __contains__(self, path: str) -> bool:
        return path in self._files

    def read(self, path: str) -> str:
        """Give the text of a file, "" when there is none."""
        return self._files.get(path, "")

    def glob(self, *patterns: str) -> Iterable[str]:
        """Give the paths that match, sorted; `*` also crosses folders."""
        return sorted(p for p in self._files if any(fnmatch(p, x) for x in patterns))

    @property
    def date(self) -> str:
        """Day the release was built, "" when its files do not say."""
        return self.read(DATE)


def module_name(path: str) -> str:
    """Give the dotted name of a Python file."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
