"""Install the built wheel in a clean venv and run tests on it, with no source tree in reach.

`python -m build` makes the wheel out of the sdist, so this proves both. What a wheel can lack are
modules and data: the tests that run whole commands ask for all of them, those of single functions
were passed by the checkout.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NEEDED = (
    *("httpx>=0.27", "hypothesis>=6.100", "jsonschema>=4.20", "lupa>=2"),
    *("pytest>=8.2", "pytest-randomly>=3.15", "pytest-xdist>=3.6"),
)
WHOLE = ("packaging", "cases", "healthy", "integration", "knowledge")
"""Folders of tests that run commands from the inputs to the answer, on all of the knowledge."""
COUNTED = ("cases/test_threads.py", "cases/test_posts.py")
"""Among them: how often the knowledge is right. The same knowledge answered in the checkout."""


def main(dist: Path) -> int:
    (wheel,) = dist.resolve().glob("*.whl")
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
        tests += [f"--ignore=tests/{name}" for name in COUNTED]
        command = [python, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal", *tests]
        return subprocess.run(command, cwd=work, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
