"""Write data/symbols/*.jsonl; see README.md."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from packaging.version import Version

from catalog.companions import read_companions
from catalog.index import Index, open_index
from catalog.releases import ascending, read_releases
from symbols.archives import Store
from symbols.build import lines, written
from symbols.packages import PARTS
from symbols.tables import Tables

_ROOT = Path(__file__).parents[2]
_SAVE_AFTER = 20


def main() -> int:
    """Run the command; 1 when a check found a difference."""
    parser = argparse.ArgumentParser(prog="symbols", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("--cache", type=Path, default=_ROOT / "build" / "symbols")
    parser.add_argument("--output", type=Path, default=_ROOT / "data" / "symbols")
    given = parser.parse_args()
    listed = {**read_releases(), **read_companions()}
    with open_index() as index:
        tables = {
            package: _tables(package, listed.get(package, ()), given.cache, index)
            for package in PARTS
        }
    different = False
    for package, table in tables.items():
        others = {name: other for name, other in tables.items() if name != package}
        text = written(lines(package, table, others))
        path = given.output / f"{package}.jsonl"
        changed = not path.is_file() or path.read_bytes() != text
        different = different or changed
        print(f"{len(text):8d} {path.name}{'  changed' if changed else ''}")
        if not given.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
    return 1 if given.check and different else 0


def _tables(package: str, listed: Sequence[str], cache: Path, index: Index) -> Tables:
    """Read what is not in the cache yet, then put the releases side by side.

    Raises:
        LookupError: the index has no file for a release.
    """
    store = Store(cache / f"{package}.msgpack")
    files = index.files(package)
    versions = listed or ascending([v for v in files if not Version(v).is_prerelease])
    fresh = [version for version in versions if version not in store.releases]
    for at, version in enumerate(fresh, 1):
        if version not in files:
            raise LookupError(f"the index has no {package} {version}")
        store.add(package, version, index, files[version])
        if at % _SAVE_AFTER == 0 or at == len(fresh):
            store.save()
    read = tuple(version for version in versions if store.releases.get(version))
    tables = Tables(read)
    for at, version in enumerate(read):
        tables.add(at, store.of(version))
    return tables


if __name__ == "__main__":
    sys.exit(main())
