"""Install the built wheel in a clean venv and run tests on it, with no source tree in reach.

`python -m build` makes the wheel out of the sdist, so this proves both. What a wheel can lack are
modules and data: each file is compared with the checkout's, and tests that run whole commands show
that they are found where they lie. What the same files answer was told by the checkout.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NEEDED = (
    *("httpx>=0.27", "hypothesis>=6.100", "jsonschema>=4.20", "lupa>=2"),
    *("pytest>=8.2", "pytest-randomly>=3.15", "pytest-xdist>=3.6"),
)
SHIPPED = {"src/trainrx": "trainrx"} | {
    folder: f"trainrx/_data/{folder}"
    for folder in ("kb", "rules", "data/catalogs", "data/requires", "data/symbols")
}
"""Where the files of the checkout lie in the wheel."""
WHOLE = ("packaging", "integration", "cases/test_examples.py")
"""Tests that run commands from the inputs to the answer."""


def differing(wheel: Path) -> Iterator[str]:
    """Name the files of the checkout that the wheel lacks, or has otherwise."""
    with zipfile.ZipFile(wheel) as held:
        names = frozenset(held.namelist())
        for folder, place in SHIPPED.items():
            for name in _tracked(folder):
                inside = f"{place}/{name.relative_to(folder).as_posix()}"
                if inside not in names or held.read(inside) != (ROOT / name).read_bytes():
                    yield f"{name} is not as it is in the wheel at {inside}"


def _tracked(folder: str) -> list[Path]:
    command = ["git", "ls-files", "-z", folder]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [Path(name) for name in found.stdout.split("\0") if name]


def main(dist: Path) -> int:
    (wheel,) = dist.resolve().glob("*.whl")
    lost = [*differing(wheel)]
    if lost:
        sys.stderr.write("\n".join(lost) + "\n")
        return 1
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        for folder in ("tests", "docs", "examples", "integrations", "tools", "benchmarks"):
            shutil.copytree(ROOT / folder, work / folder)
        for file in (".pre-commit-hooks.yaml", "action.yml"):
            shutil.copyfile(ROOT / file, work / file)
        (work / "pytest.ini").write_text(
            "[pytest]\ntestpaths = tests\npythonpath = tools benchmarks\n"
            "addopts = --strict-markers -ra\nfilterwarnings =\n    error\n",
            encoding="utf-8",
        )
        venv.create(work / "venv", with_pip=True)
        python = work / "venv" / "bin" / "python"
        given = f"{wheel}[collect,data,durable,fleet,lsp,mcp,ray,serve]"
        subprocess.run([python, "-m", "pip", "install", "-q", given, *NEEDED], check=True)
        subprocess.run([python, "-m", "pip", "check"], check=True)
        tests = [f"tests/{name}" for name in WHOLE]
        command = [python, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal", *tests]
        return subprocess.run(command, cwd=work, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
