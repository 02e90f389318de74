"""Plant faults of one line, one at a time, in a copy of a tree, and say which its tests find.

    python -m faults [--tree DIR] [--area WORD] [--suite] [--limit SECONDS]

Each fault of `faults.yaml` is planted in the copy, the tests of its area run until the first
failure, and the line is put back. With `--suite` what these tests miss is given to all others.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import yaml

HERE = Path(__file__).parent
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "__pycache__", "build", "dist", "site")
PACKAGE = Path("src", "trainrx")
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


class Fault(NamedTuple):
    """A line, what is put in its place, and the files of tests that should notice."""

    area: str
    at: str
    line: str
    fault: str
    tests: tuple[str, ...]


def main() -> int:
    """Plant the faults asked for; give 1 when one is missed or its line is not there."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path, default=HERE.parents[1], help="this one by default")
    parser.add_argument("--area", default="", help="only the areas that hold this word")
    parser.add_argument("--suite", action="store_true", help="what is missed: with all tests")
    parser.add_argument(
        "--limit", type=int, default=300, help="seconds of CPU for the tests of a fault"
    )
    said = parser.parse_args()
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        tests = Tests(Path(name, "tree"), said.limit)
        shutil.copytree(said.tree, tests.tree, ignore=LEFT_OUT, symlinks=True)
        for fault in read_faults(said.area):
            verdict = judge(fault, tests, suite=said.suite)
            counts[verdict] += 1
            print(f"{verdict:12} {fault.at}: {fault.line}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    return int(set(counts) != {"found"})


def read_faults(area: str) -> Iterator[Fault]:
    """Read the faults of the areas whose name holds a word."""
    for part in yaml.safe_load((HERE / "faults.yaml").read_text(encoding="utf-8")):
        if area in part["area"]:
            tests = tuple(part["tests"])
            yield from (Fault(part["area"], tests=tests, **item) for item in part["faults"])


def judge(fault: Fault, tests: Tests, *, suite: bool) -> str:
    """Say whether the tests of a tree find a fault."""
    path = place_of(fault, tests.tree)
    if path is None:
        return "not-there"
    tests.prepare(fault.tests)
    sound = path.read_text(encoding="utf-8")
    planted = [
        line.replace(fault.line, fault.fault) if line.strip() == fault.line else line
        for line in sound.splitlines(keepends=True)
    ]
    put(path, "".join(planted))
    try:
        if tests.fail(fault.tests):
            return "found"
        return "found-late" if suite and tests.fail(("**/test_*",)) else "missed"
    finally:
        put(path, sound)


def place_of(fault: Fault, tree: Path) -> Path | None:
    """Give the file that holds the line once: the one named, else the only one of the package."""
    named = tree / PACKAGE / fault.at
    holders = [path for path in (tree / PACKAGE).rglob("*.py") if _holds(path, fault.line)]
    if named in holders:
        return named
    return holders[0] if len(holders) == 1 else None


def _holds(path: Path, wanted: str) -> bool:
    lines = path.read_text(encoding="utf-8").splitlines()
    return sum(line.strip() == wanted for line in lines) == 1


def put(path: Path, text: str) -> None:
    """Write a module and drop its compiled form, which may bear the same time and size."""
    path.write_text(text, encoding="utf-8")
    for compiled in path.parent.glob(f"__pycache__/{path.stem}.*"):
        compiled.unlink()


class Tests:
    """The tests of a tree, but for those that fail without any fault."""

    def __init__(self, tree: Path, limit: int) -> None:
        self.tree = tree
        self._limit = limit
        self._failing: dict[tuple[str, ...], list[str]] = {}

    def prepare(self, stems: tuple[str, ...]) -> None:
        """Run some tests on the sound tree, once, and note those that fail."""
        if stems in self._failing:
            return
        status, said = self._run(stems, "-rfE")
        failing = [found[1] for found in FAILED.finditer(said)]
        if (status != 0) != bool(failing):
            raise RuntimeError(f"tests of {stems} cannot be run: {said[-2000:]}")
        for name in failing:
            print(f"fails without a fault: {name}")
        self._failing[stems] = [
            f"--deselect={name}" if "::" in name else f"--ignore={name}" for name in failing
        ]

    def fail(self, stems: tuple[str, ...]) -> bool:
        """Tell whether one of some tests fails, or does not end."""
        return self._run(stems, "-x", *self._failing.get(stems, ()))[0] != 0

    def _run(self, stems: tuple[str, ...], *options: str) -> tuple[int, str]:
        files = sorted({str(path) for stem in stems for path in self.tree.glob(f"tests/{stem}.py")})
        path = os.pathsep.join(str(self.tree / name) for name in ("src", "tools"))
        command = ["prlimit", f"--cpu={self._limit}", sys.executable, "-m", "pytest", "-q"]
        done = subprocess.run(  # noqa: S603 - our own command
            [*command, "-p", "no:randomly", *options, *files],
            cwd=self.tree,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout


if __name__ == "__main__":
    sys.exit(main())
