"""Check a built site: its size, and the way from each page to the other language.

python -m site_pages.check site
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

MOST_BYTES = 25_000_000
"""1,500 pages in two languages have 20 MB; what is far more has taken in what it should not."""
PAGES = ("index.html", "guides/hangs.html", "families/oom.html", "causes/fp16-overflow.html")
"""One of each kind."""


def problems(site: Path) -> Iterator[str]:
    """Name all that is wrong with a built site."""
    size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
    if size > MOST_BYTES:
        yield f"{size / 1e6:.1f} MB, more than {MOST_BYTES / 1e6:.0f}"
    for lang, other in (("en", "zh"), ("zh", "en")):
        for name in PAGES:
            if f"../{other}/" not in (site / lang / name).read_text(encoding="utf-8"):
                yield f"{lang}/{name}: no way to the other language"


def main() -> int:
    """Check the site that is named; 1 when something is wrong."""
    found = list(problems(Path(sys.argv[1])))
    for said in found:
        print(said)
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main())
