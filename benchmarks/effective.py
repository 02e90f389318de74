"""Compare the arguments we resolve with those of the real frameworks, for every recorded launch.

usage: effective.py [WORD...]: only launches with one of these words in their name.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "effective"))

from comparison import compare, launches

WIDTH = 46


def main() -> int:
    """Print one line for each launch and the totals."""
    words = sys.argv[1:]
    print(f"{'launch':{WIDTH}} compared   equal unknown differ  volatile")
    total = equal = unknown = count = 0
    for folder in launches():
        if words and not any(word in str(folder) for word in words):
            continue
        with tempfile.TemporaryDirectory() as work:
            one = compare(folder, Path(work))
        total += one.compared
        equal += len(one.equal)
        unknown += len(one.unknown)
        count += 1
        sizes = (len(one.equal), len(one.unknown), len(one.different), len(one.volatile))
        print(
            f"{one.name:{WIDTH}} {one.compared:8} {sizes[0]:7} {sizes[1]:7} {sizes[2]:6} "
            f"{sizes[3]:9}"
        )
        if one.unknown:
            print(f"    unknown: {', '.join(one.unknown)}")
        for name, (wanted, found) in one.different.items():
            print(f"    {name}: {str(wanted)[:90]!r}, not {str(found)[:90]!r}")
        if one.not_in_catalog:
            print(f"    not in our catalog: {', '.join(one.not_in_catalog)}")
    share = equal / total if total else 0.0
    print(
        f"{count} launches: {total} arguments, {equal} equal ({share:.2%}), {unknown} unknown, "
        f"{total - equal - unknown} different"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
