"""Install the built wheel without its extra, from wheels alone, and let it answer the examples.

So it is installed where no compiler is: the reference engine stands in for durable_rules, says so,
and answers as the Python that runs this script does with the default engine.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

from trainrx.knowledge.yaml12 import read_yaml

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MISSING = "reference (durable_rules is not installed: extra `durable`)"


def main(dist: Path) -> int:
    (wheel,) = dist.resolve().glob("*.whl")
    with tempfile.TemporaryDirectory() as name:
        venv.create(name, with_pip=True)
        bare = Path(name) / "bin"
        install = [bare / "python", "-m", "pip", "install", "-q", "--only-binary", ":all:", wheel]
        subprocess.run(install, check=True)
        told = [example.parent for example in sorted(EXAMPLES.glob("*/expect.yaml"))]
        wrong = [folder.name for folder in told if not _same(folder, bare)]
    said = f"{len(told)} examples answered without durable_rules, different: {wrong or 'none'}"
    sys.stdout.write(f"{said}\n")
    return 1 if wrong or not told else 0


def _same(folder: Path, bare: Path) -> bool:
    without, default = _answer(folder, bare), _answer(folder, Path(sys.executable).parent)
    engines = without.pop("tool")["engine"], default.pop("tool")["engine"]
    return engines[0] == MISSING and engines[1].startswith("durable_rules") and without == default


def _answer(folder: Path, programs: Path) -> dict[str, Any]:
    words = [str(word) for word in read_yaml(folder / "expect.yaml")["args"]]
    command = [programs / "diagnose", *words, "--format", "json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    out: dict[str, Any] = json.loads(done.stdout)
    return out


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
