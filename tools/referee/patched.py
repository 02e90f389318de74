"""Record whether real frameworks take the launches that `diagnose fix` proposes.

usage: patched.py FOLDER --python ms-swift==3.2.1=PYTHON [...] --weights NAME=DIR [...]
                  --rows DIR [--beside ms-swift==3.2.1=DIR] [--logs | --run N] [--only ID,...]

FOLDER holds launches/ID/: launch.sh with its configs, and case.yaml (framework, version, and the
job as one would tell it: gpu, gpus, note). With `reject: true` the framework refuses the launch as
it is; `--logs` records what it prints then as train.log. Without it, each launch and what each
proposal makes of it go to `judge.py`: the framework's own entry point, up to its first training
step. A folder named as a model is (Qwen/Qwen2.5-7B-Instruct) is laid beside a launch, with the
weights of the --weights whose NAME is part of that name: the launches stay as they are. The
verdicts go to FOLDER/verdicts.jsonl; with --only those of other launches stay. With `--run N` the
launches that were taken are really run, N steps on this processor.
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
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from trainrx.api import fix_launch
from trainrx.model.errors import UsageError
from trainrx.model.fixing import Proposal

HERE = Path(__file__).resolve().parent
JOB = ("gpu", "gpus", "nodes", "note")
TOLD = ("case.yaml", "train.log")
LAST_LINES = 14
# what one processor without a card can do instead
ON_CPU = {
    "ms-swift": "--torch_dtype float32 --bf16 false --fp16 false --use_cpu true"
    " --max_steps {steps}",
    "llamafactory": "bf16=false fp16=false max_steps={steps} use_cpu=true",
}


def main() -> int:
    """Judge what is proposed for every launch; 1 when a patched one was refused."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", action="append", default=[], required=True)
    parser.add_argument("--beside", action="append", default=[])
    parser.add_argument("--weights", action="append", default=[], required=True)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--logs", action="store_true")
    parser.add_argument("--run", type=int, default=0)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    folders = sorted(x.parent for x in options.folder.resolve().glob("launches/*/case.yaml"))
    if options.only:
        folders = [path for path in folders if path.name in options.only.split(",")]
    if options.run:
        return _really(options, folders)
    if options.logs:
        refused = [path for path in folders if case_of(path).get("reject")]
        rows = [_row(path, 0) | {"files": files_of(path)} for path in refused]
        _judged(rows, options, refused)
        return 0
    rows = [row for folder in folders for row in proposed(folder)]
    verdicts = options.folder / "verdicts.jsonl"
    others = [] if not options.only else _kept(verdicts, {path.name for path in folders})
    found = sorted((*others, *_judged(rows, options)), key=lambda row: (row["launch"], row["plan"]))
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in found)
    verdicts.write_text(text, encoding="utf-8")
    return _told(found)


def _kept(verdicts: Path, judged: set[str]) -> list[dict[str, Any]]:
    """Give the verdicts on launches that are not judged now."""
    rows = [json.loads(line) for line in verdicts.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["launch"] not in judged]


def case_of(folder: Path) -> dict[str, Any]:
    """Read what is said of a launch."""
    case: dict[str, Any] = yaml.safe_load((folder / "case.yaml").read_text(encoding="utf-8"))
    return case


def files_of(folder: Path) -> dict[str, str]:
    """Read the files of a launch."""
    paths = sorted(path for path in folder.iterdir() if path.name not in TOLD)
    return {path.name: path.read_text(encoding="utf-8") for path in paths}


def proposed(folder: Path) -> Iterator[dict[str, Any]]:
    """Give a launch as it is, then as each proposal of `diagnose fix` makes it."""
    files = files_of(folder)
    yield _row(folder, 0) | {"files": files}
    with tempfile.TemporaryDirectory(prefix="patched-") as scratch:
        work = Path(scratch) / folder.name
        shutil.copytree(folder, work)
        with _standing_in(work):
            found = proposals(case_of(folder), logged=(work / "train.log").exists())
            # a change of packages alone leaves the files as they are
            for item in (item for item in found if item.patched.files):
                row = _row(folder, item.number) | {"proposal": item.id}
                changes = {"changes": [change.spelled for change in item.changes]}
                after = {Path(patch.name).name: patch.after for patch in item.patched.files}
                yield row | changes | {"files": {**files, **after}}


@contextmanager
def _standing_in(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def proposals(case: dict[str, Any], *, logged: bool) -> tuple[Proposal, ...]:
    """Ask for what is in the folder one stands in."""
    inputs = {name: case[name] for name in JOB if name in case}
    inputs["versions"] = {case["framework"]: case["version"]}
    if logged:
        inputs["logs"] = ["train.log"]
    try:
        return fix_launch("launch.sh", **inputs).proposals
    except UsageError as error:
        raise SystemExit(f"{Path.cwd().name}: {error}") from error


def _row(folder: Path, plan: int) -> dict[str, Any]:
    case = case_of(folder)
    names = {name: case[name] for name in ("framework", "version")}
    return {"id": f"{folder.name}-{plan}", "launch": folder.name, "plan": plan, **names}


def _judged(
    rows: list[dict[str, Any]], options: argparse.Namespace, logs: Sequence[Path] = ()
) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="patched-") as name:
        scratch = Path(name)
        laid = _laid(scratch / "rows", rows, options)
        asked, answered = scratch / "launches.jsonl", scratch / "verdicts.jsonl"
        asked.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        words = [str(asked), str(answered), "--weights", str(laid), "--rows", str(laid)]
        words += [word for item in options.python for word in ("--python", item)]
        words += [word for item in options.beside for word in ("--beside", item)]
        words += ["--keep", str(scratch / "logs")]
        command = [sys.executable, str(HERE / "judge.py"), *words]
        subprocess.run(command, check=True)  # noqa: S603 - our own tool
        for folder in logs:
            text = (scratch / "logs" / f"{folder.name}-0.log").read_text(errors="replace")
            (folder / "train.log").write_text(_logged(text), encoding="utf-8")
        return [json.loads(line) for line in answered.read_text(encoding="utf-8").splitlines()]


def _laid(place: Path, rows: Iterable[dict[str, Any]], options: argparse.Namespace) -> Path:
    """Lay the rows of data, and the tiny weights under the name of each model."""
    shutil.copytree(options.rows, place)
    weights = dict(item.split("=", 1) for item in options.weights)
    text = "\n".join(text for row in rows for text in row["files"].values())
    for model in set(re.findall(r"\bQwen/[\w.-]+", text)):
        fit = [path for name, path in weights.items() if name in model]
        shutil.copytree(fit[0], place / model)
    return place


def _logged(text: str) -> str:
    """Keep the end of what was printed, without the names of this machine's folders."""
    kept = text.strip().split("\n")[-LAST_LINES:]
    neutral = re.sub(
        r"/[^\s'\"]*/site-packages", "/opt/env/lib/python3.11/site-packages", "\n".join(kept)
    )
    return re.sub(r"/[^\s'\"]*/(judge_inside\.py|tools/referee)", r"/opt/\1", neutral) + "\n"


def _told(found: Sequence[dict[str, Any]]) -> int:
    """Print the shares, and each patched launch that was not taken."""
    for title, rows in (
        ("as they are", [row for row in found if row["plan"] == 0]),
        ("patched", [row for row in found if row["plan"]]),
    ):
        counts = {name: sum(r["verdict"] == name for r in rows) for name in _VERDICTS}
        print(title, len(rows), counts)
    refused = [row for row in found if row["plan"] and row["verdict"] != "accepted"]
    for row in refused:
        print(row["id"], row["verdict"], row.get("changes"), row["message"][:300])
    silent = {row["launch"] for row in found} - {row["launch"] for row in found if row["plan"]}
    print("nothing proposed for:", sorted(silent))
    return 1 if any(row["verdict"] == "rejected-arguments" for row in refused) else 0


_VERDICTS = ("accepted", "rejected-arguments", "rejected-other")


def _really(options: argparse.Namespace, folders: Sequence[Path]) -> int:
    """Run the patched launches of folders; 1 when one did not end well."""
    pythons = dict(item.rsplit("=", 1) for item in options.python)
    beside = dict(item.rsplit("=", 1) for item in options.beside)
    failed = 0
    for folder in folders:
        rows = [row for row in proposed(folder) if row["plan"]]
        for row in rows:
            key = f"{row['framework']}=={row['version']}"
            with tempfile.TemporaryDirectory(prefix="patched-") as name:
                work = _laid(Path(name) / "work", [row], options)
                done = _run(row, work, (pythons[key], beside.get(key, "")), options.run)
            said = re.findall(r"'loss': '?[\d.]+|'train_loss': '?[\d.]+", done.stdout + done.stderr)
            print(row["id"], row["changes"], "ended with", done.returncode, said[-2:])
            if done.returncode:
                failed += 1
                print((done.stdout + done.stderr)[-600:])
    return 1 if failed else 0


def _run(
    row: dict[str, Any], work: Path, python: tuple[str, str], steps: int
) -> subprocess.CompletedProcess[str]:
    for name, text in row["files"].items():
        (work / name).write_text(text, encoding="utf-8")
    more = ON_CPU[row["framework"]].format(steps=steps)
    program = {"ms-swift": "swift", "llamafactory": "llamafactory-cli"}[row["framework"]]
    real = Path(python[0]).parent / program
    stand_in = work / ".bin" / program
    stand_in.parent.mkdir()
    stand_in.write_text(f'#!/bin/bash\nexec "{real}" "$@" {more}\n')
    stand_in.chmod(0o755)
    env = {"PATH": f"{stand_in.parent}:{real.parent}:/usr/bin:/bin", "HOME": str(work)}
    env |= {"HF_HUB_OFFLINE": "1", "PYTHONPATH": python[1], "OMP_NUM_THREADS": "2"}
    return subprocess.run(
        ["bash", "launch.sh"],  # noqa: S607
        cwd=work,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )


if __name__ == "__main__":
    sys.exit(main())
