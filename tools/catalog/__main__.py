"""Write data/catalogs from the releases in `releases.txt`.

python -m catalog            write
python -m catalog --check    compare with what is there, write nothing
python -m catalog --fresh    read every release again, also where this code read it before
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path

from catalog.build import build_all, read_all
from catalog.fetch import fetch
from catalog.releases import read_releases

_ROOT = Path(__file__).parents[2]


def main() -> int:
    """Run the command; 1 when a check found a difference."""
    parser = argparse.ArgumentParser(prog="catalog", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("--fresh", action="store_true", help="read every release again")
    parser.add_argument("--cache", type=Path, default=_ROOT / "build" / "catalog")
    parser.add_argument("--output", type=Path, default=_ROOT / "data" / "catalogs")
    given = parser.parse_args()
    if given.fresh:
        shutil.rmtree(given.cache / "read", ignore_errors=True)
    started = time.monotonic()
    releases = read_releases()
    count = fetch(releases, given.cache)
    print(f"{count} releases transferred, {time.monotonic() - started:.0f} s")
    reads = read_all(releases, given.cache)
    print(f"all releases read, {time.monotonic() - started:.0f} s")
    files = build_all(reads)
    different = [name for name, text in files.items() if not _holds(given.output / name, text)]
    for name, text in files.items():
        print(f"{len(text):8d} {name}{'  changed' if name in different else ''}")
        if not given.check:
            (given.output / name).write_bytes(text)
    print(f"{sum(map(len, files.values())):8d} in all, {time.monotonic() - started:.0f} s")
    return 1 if given.check and different else 0


def _holds(path: Path, text: bytes) -> bool:
    return path.is_file() and path.read_bytes() == text


if __name__ == "__main__":
    sys.exit(main())
