"""Ask real frameworks whether they take launches, and with which words they refuse them.

usage: judge.py LAUNCHES.jsonl VERDICTS.jsonl --python ms-swift==3.2.1=PYTHON [...]
                --weights DIR [--beside ms-swift==3.2.1=DIR] [--limit 90]

Each launch ({id, framework, version, kind, base, files}) is run by bash with stand-ins for the
framework's programs, which note what they are given; the framework of that version, imported once
in the environment of PYTHON, then runs its own entry point on it with the tiny model and rows in
that folder, up to its first training step (see `judge_inside.py`). A row of VERDICTS is the launch
with `verdict`: accepted, rejected-arguments (by the parser, or by a check on what it was told) or
rejected-other (a package, a card or a file is missing: nothing about the arguments), `message`,
the last line of what it said, and `at`, the file and function that said it.
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
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
NOTE = """#!{python}
import json, os, sys
if not os.path.exists({note!r}):
    json.dump({{"program": os.path.basename(sys.argv[0]), "argv": sys.argv[1:],
        "env": dict(os.environ), "cwd": os.getcwd()}}, open({note!r}, "w"))
"""
PROGRAMS = ("swift", "llamafactory-cli")
# what a check on the arguments raises; everything else is about the machine
REFUSALS = {"SystemExit", "ValueError", "AssertionError", "TypeError", "NotImplementedError"}
REFUSALS |= {"KeyError", "AttributeError", "JSONDecodeError", "HFValidationError", "NameError"}
REFUSALS |= {"InterpolationKeyError", "ScannerError", "ParserError", "UnboundLocalError"}
# refusals of the machine in the same classes
MACHINE = re.compile(
    r"pip install|is not installed|not available|requires? (the following|a GPU|CUDA)|No CUDA|"
    r"NVIDIA driver|not supported on your device|python package|can only be used on CUDA|"
    r"PackageNotFound|be installed|to be a GPU|device.*not support|requires.*package|"
    r"(file|path|folder|directory)\S* does(n't| not) exist|Couldn't find|"
    r"concatenate an empty list|Model layers \d+ should be divided|"
    r"'NoneType' object is not (callable|iterable)|your current version|update .* to|BitsAndBytes",
    re.IGNORECASE,
)


def main() -> int:
    """Judge all launches."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("launches", type=Path)
    parser.add_argument("verdicts", type=Path)
    parser.add_argument("--python", action="append", default=[], required=True)
    parser.add_argument("--beside", action="append", default=[])
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--rows", type=Path, help="folder of rows, laid beside each launch")
    parser.add_argument("--limit", type=float, default=90)
    parser.add_argument("--keep", type=Path, help="folder for what the frameworks printed")
    options = parser.parse_args()
    launches = [json.loads(line) for line in options.launches.read_text().splitlines()]
    beside = dict(item.rsplit("=", 1) for item in options.beside)
    done: list[dict[str, Any]] = []
    for key, python in (item.rsplit("=", 1) for item in options.python):
        own = [x for x in launches if f"{x['framework']}=={x['version']}" == key]
        if own:
            done += _judged(own, python, beside.get(key), options)
    order = {launch["id"]: number for number, launch in enumerate(launches)}
    done.sort(key=lambda row: order[row["id"]])
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in done)
    options.verdicts.write_text(text)
    for verdict in ("accepted", "rejected-arguments", "rejected-other"):
        print(verdict, sum(row["verdict"] == verdict for row in done))
    return 0


def _judged(
    launches: list[dict[str, Any]], python: str, beside: str | None, options: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="judge-") as scratch:
        jobs = [
            _job(launch, Path(scratch) / str(n), 29700 + n, options)
            for n, launch in enumerate(launches)
        ]
        (Path(scratch) / "jobs.json").write_text(json.dumps([job for job in jobs if job]))
        env = {"PATH": f"{Path(python).parent}:/usr/bin:/bin", "HOME": scratch}
        env |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "0"}
        env |= {"OMP_NUM_THREADS": "1", "MODELSCOPE_DOMAIN": "127.0.0.1:9"}
        if beside:
            env["PYTHONPATH"] = beside
        command = [python, str(HERE / "judge_inside.py"), str(Path(scratch) / "jobs.json")]
        subprocess.run(command, env=env, cwd=scratch, check=True)  # noqa: S603 - caller's Python
        if options.keep:
            for path in Path(scratch).glob("*/.verdict.json.log"):
                name = launches[int(path.parent.name)]["id"]
                options.keep.mkdir(exist_ok=True)
                shutil.copy(path, options.keep / f"{name}.log")
        for launch, job in zip(launches, jobs, strict=True):
            yield {**launch, **_verdict(job, scratch)}


def _verdict(job: dict[str, Any] | None, scratch: str) -> dict[str, str]:
    if job is None:
        return {"verdict": "rejected-other", "message": "the shell runs no framework", "at": "bash"}
    found = json.loads(Path(job["out"]).read_text())
    message = neutral(found["message"], job["cwd"], scratch)
    if found["type"] in {"Begun", "Returned"}:
        return {"verdict": "accepted", "message": "", "at": ""}
    kind = "rejected-other"
    if found["type"] in REFUSALS and not MACHINE.search(message):
        kind = "rejected-arguments"
    text = message if found["type"] == "SystemExit" else f"{found['type']}: {message}"
    return {"verdict": kind, "message": text, "at": found["at"]}


def neutral(text: str, folder: str, scratch: str) -> str:
    """Take out of a message what is this machine's."""
    text = text.replace(folder, "$PWD").replace(scratch, "$HOME")
    return re.sub(r"/[^\s'\"]*/site-packages", "$FRAMEWORK", text)


def _job(
    launch: dict[str, Any], work: Path, port: int, options: argparse.Namespace
) -> dict[str, Any] | None:
    """Run a launch with stand-ins; give what it hands the framework, None when it starts none."""
    work.mkdir()
    (work / "tiny").symlink_to(options.weights.resolve())
    if options.rows:
        shutil.copytree(options.rows, work, dirs_exist_ok=True)
    for name, text in launch["files"].items():
        (work / name).write_bytes(text.encode("utf-8"))
    note = work / ".note.json"
    bin_folder = work / ".bin"
    bin_folder.mkdir()
    for name in PROGRAMS:
        program = bin_folder / name
        program.write_text(NOTE.format(python=sys.executable + " -IS", note=str(note)))
        program.chmod(0o755)
    env = {"PATH": f"{bin_folder}:/usr/bin:/bin", "HOME": str(work)}
    subprocess.run(
        ["bash", "launch.sh"],  # noqa: S607
        cwd=work,
        env=env,
        check=False,
        capture_output=True,
        timeout=60,
    )
    if not note.exists():
        return None
    seen = json.loads(note.read_text())
    own = {k: v for k, v in seen["env"].items() if k not in {*os.environ, "_", "SHLVL", "OLDPWD"}}
    ranks, distributed = _placed(seen["argv"], own, seen["program"])
    return {
        "framework": launch["framework"],
        "command": seen["argv"][0].replace("_", "-") if seen["argv"] else "",
        "argv": seen["argv"][1:],
        "env": own,
        "cwd": seen["cwd"],
        "ranks": ranks,
        "distributed": distributed,
        "cards": len([x for x in own.get("CUDA_VISIBLE_DEVICES", "").split(",") if x]),
        "port": str(port),
        "limit": options.limit,
        "out": str(work / ".verdict.json"),
    }


def _placed(argv: list[str], env: dict[str, str], program: str) -> tuple[int, bool]:
    """Tell how many processes the program would start, as its main does."""
    number = env.get("NPROC_PER_NODE")
    if program == "swift":
        return (int(number), True) if number else (1, False)
    forced = env.get("FORCE_TORCHRUN", "0").lower() in {"1", "true", "y"}
    return (int(number or 1), True) if forced and argv[:1] == ["train"] else (1, False)


if __name__ == "__main__":
    sys.exit(main())
