"""Which releases the catalogs are made of: `releases.txt`, one `package==version` per line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from packaging.version import Version

HERE = Path(__file__).parent


def read_releases(path: Path = HERE / "releases.txt") -> dict[str, tuple[str, ...]]:
    """Read the list; per package the versions ascending, packages in the order they are named.

    Raises:
        ValueError: a line is not `package==version`, or stands there twice.
    """
    found: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        text = line.partition("#")[0].strip()
        if not text:
            continue
        package, _, version = text.partition("==")
        if not version or version in found.setdefault(package, []):
            raise ValueError(f"{path}: {line!r} is no package==version or is there twice")
        found[package].append(version)
    return {package: ascending(versions) for package, versions in found.items()}


def ascending(versions: Sequence[str]) -> tuple[str, ...]:
    """Order versions from the oldest to the newest."""
    return tuple(sorted(versions, key=Version))
