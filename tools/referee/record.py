"""Record what real frameworks make of the launches under tests/effective.

usage: record.py PYTHON FOLDER... [--model-weights DIR] [--deepspeed DIR]

PYTHON is that of an environment with the framework; a FOLDER holds launch.sh (and the configs it
names). launch.sh really runs, with stand-ins for the framework's programs that note argv and
environment; from these the framework's own classes then make the arguments, which are written to
expected.json. Paths of this machine become ${PWD} and ${FRAMEWORK}, times ${TIME}.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SHARED = HERE.parents[1] / "tests" / "effective" / "files"
RUN_TIME = re.compile(r"\bv\d+-\d{8}-\d{6}\b")
FILE_TIME = re.compile(r"\b\d{8}-\d{6}(?=\.jsonl)")
LOG_TIME = re.compile(r"/runs/\w+_\d\d-\d\d-\d\d_[\w.-]+")
NOTE = """#!{python}
import json, os, sys
json.dump({{"program": os.path.basename(sys.argv[0]), "argv": sys.argv[1:],
    "env": dict(os.environ), "cwd": os.getcwd()}}, open({note!r}, "w"))
"""
PROGRAMS = ("swift", "llamafactory-cli", "torchrun")


def main() -> int:
    """Record every folder; 1 when one could not be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python", type=Path)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--deepspeed", type=Path, help="folder with the deepspeed package")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="referee-") as scratch:
        jobs = [
            _job(folder.resolve(), Path(scratch) / str(i), 29511 + i)
            for i, folder in enumerate(options.folders)
        ]
        (Path(scratch) / "jobs.json").write_text(json.dumps(jobs))
        _run(options, Path(scratch))
        failed = [f for f, job in zip(options.folders, jobs, strict=True) if not _keep(f, job)]
    return 1 if failed else 0


def _run(options: argparse.Namespace, scratch: Path) -> None:
    python = options.python.absolute()
    env = {"PATH": f"{python.parent}:/usr/bin:/bin", "HOME": str(scratch), "HF_HUB_OFFLINE": "1"}
    env |= {"CUDA_VISIBLE_DEVICES": "", "TOKENIZERS_PARALLELISM": "false"}
    if options.deepspeed:
        env["PYTHONPATH"] = str(options.deepspeed)
    command = [str(python), str(HERE / "dump.py"), str(scratch / "jobs.json")]
    done = subprocess.run(  # noqa: S603 - the caller's own environment
        command, env=env, cwd=scratch, capture_output=True, text=True, check=False
    )
    (Path(tempfile.gettempdir()) / "referee.log").write_text(done.stdout + done.stderr)


def _job(folder: Path, work: Path, port: int) -> dict[str, Any]:
    """Run a launch with stand-ins; give what it hands the framework."""
    shutil.copytree(SHARED, work, symlinks=False)
    for item in folder.iterdir():
        if item.name not in {"expected.json", "explained.yaml"}:
            shutil.copy(item, work)
    bin_folder = work / ".bin"
    bin_folder.mkdir()
    note = work / ".note.json"
    for name in PROGRAMS:
        program = bin_folder / name
        program.write_text(NOTE.format(python=sys.executable, note=str(note)))
        program.chmod(0o755)
    env = {"PATH": f"{bin_folder}:/usr/bin:/bin", "HOME": str(work)}
    subprocess.run(["bash", "launch.sh"], cwd=work, env=env, check=True)  # noqa: S607
    seen = json.loads(note.read_text())
    argv, ranks, distributed = _placed(seen["argv"], seen["env"], seen["program"])
    framework = "ms-swift" if folder.parent.name.startswith("ms-swift") else "llamafactory"
    own = {k: v for k, v in seen["env"].items() if k not in {*os.environ, "_", "SHLVL", "OLDPWD"}}
    return {
        "framework": framework,
        "command": argv[0].replace("_", "-"),
        "argv": argv[1:],
        "env": own,
        "cwd": seen["cwd"],
        "ranks": ranks,
        "distributed": distributed,
        "port": str(port),
        "out": str(work / ".values.json"),
    }


def _placed(argv: list[str], env: dict[str, str], program: str) -> tuple[list[str], int, bool]:
    """Tell how many processes the program would start: NPROC_PER_NODE, as its main does."""
    number = env.get("NPROC_PER_NODE")
    multi = ("pt", "sft", "rlhf", "dpo", "orpo", "simpo", "infer")
    if program == "swift" and number and argv[0] in multi:
        return argv, int(number), True
    if program == "llamafactory-cli" and argv[0] == "train":
        forced = env.get("FORCE_TORCHRUN", "0").lower() in {"1", "true", "y"}
        return argv, int(number or 1) if forced else 1, forced
    return argv, 1, False


def _keep(folder: Path, job: dict[str, Any]) -> bool:
    out = Path(job["out"])
    if not out.exists():
        errors = [path.read_text() for path in out.parent.glob(".values.json.error*")]
        sys.stderr.write(f"{folder}: {''.join(errors)[-1500:]}\n")
        return False
    values = json.loads(out.read_text())
    text = json.dumps(values, indent=0, sort_keys=True, ensure_ascii=False)
    text = normalised(text, job["cwd"])
    (folder / "expected.json").write_text(text + "\n")
    return True


def normalised(text: str, folder: str) -> str:
    """Take out of a text what is this machine's, or this moment's."""
    text = text.replace(folder, "${PWD}")
    text = re.sub(r'"/[^"]*/site-packages', '"${FRAMEWORK}', text)
    text = FILE_TIME.sub("${TIME}", text)
    return LOG_TIME.sub("/runs/${TIME}", RUN_TIME.sub("v0-${TIME}", text))


if __name__ == "__main__":
    sys.exit(main())
