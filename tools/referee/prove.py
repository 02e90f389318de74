"""Prove that the records are what the frameworks write: really run launches, compare args.json.

usage: prove.py PYTHON WEIGHTS FOLDER...

WEIGHTS is the folder of a tiny model with its tokenizer: the launches of the FOLDERs must be small
enough to train it on a CPU. Prints each argument in which args.json and expected.json differ.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from record import SHARED, normalised

NAMES = ("args.json", "sft_args.json")


def main() -> int:
    """Run every launch; 1 when one cannot be compared, or differs."""
    python, weights = Path(sys.argv[1]).absolute(), Path(sys.argv[2])
    wrong = 0
    for folder in map(Path, sys.argv[3:]):
        with tempfile.TemporaryDirectory(prefix="prove-") as scratch:
            found = _run(python, weights, folder, Path(scratch) / "work")
        expected = json.loads((folder / "expected.json").read_text())["args"]
        if found is None:
            print(f"{folder}: wrote no args.json")
            wrong += 1
            continue
        shared = sorted(expected.keys() & found.keys())
        different = [name for name in shared if expected[name] != found[name]]
        print(f"{folder}: {len(shared)} arguments, {len(different)} differ {different}")
        for name in different:
            print(f"    {name}: {found[name]!r} in the run, {expected[name]!r} in the record")
        wrong += bool(different)
    return 1 if wrong else 0


def _run(python: Path, weights: Path, folder: Path, work: Path) -> dict[str, object] | None:
    shutil.copytree(SHARED, work)
    shutil.copytree(weights, work / "tiny", dirs_exist_ok=True)
    shutil.copy(folder / "launch.sh", work)
    # 4 rows are fewer than some steps need
    env = {"PATH": f"{python.parent}:{os.environ['PATH']}", "HOME": str(work)}
    env |= {"CUDA_VISIBLE_DEVICES": "", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        ["bash", "launch.sh"],  # noqa: S607
        cwd=work,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    paths = [path for name in NAMES for path in sorted(work.rglob(name))]
    if not paths:
        print(done.stdout[-500:], done.stderr[-1500:])
        return None
    found: dict[str, object] = json.loads(normalised(paths[0].read_text(), str(work)))
    return found


if __name__ == "__main__":
    sys.exit(main())
