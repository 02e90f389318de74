"""Record whether real frameworks take the launches this package translates for them.

usage: accepts.py FOLDER VERSION=PYTHON... [--from VERSION] [--weights DIR]

FOLDER holds launches/*.sh, written for the first VERSION. Each is translated to every other
version, and from there back; what comes out is handed to the argument classes of the framework in
the environment of that version. The verdicts go to FOLDER/verdicts.json.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trainrx.translation.launch import command_lines

MISSING = ("PackageNotFoundError", "No package metadata", "'NoneType' object is not callable")
HERE = Path(__file__).resolve().parent
SHARED = HERE.parents[1] / "tests" / "effective" / "files"


def main() -> int:
    """Ask every framework about every launch; 1 when one refused."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("pythons", nargs="+")
    parser.add_argument("--framework", default="ms-swift")
    parser.add_argument("--beside", type=Path, help="folder of packages those Pythons lack")
    parser.add_argument("--weights", type=Path, help="folder of a tiny model")
    options = parser.parse_args()
    pythons = dict(item.split("=", 1) for item in options.pythons)
    jobs = list(_jobs(options.folder, list(pythons), options.framework))
    for version, python in pythons.items():
        _ask([job for job in jobs if job["version"] == version], python, options)
    (options.folder / "verdicts.json").write_text(
        json.dumps(jobs, indent=1, ensure_ascii=False) + "\n"
    )
    for job in jobs:
        if not job["accepted"] and not job["environment"]:
            print(f"{job['launch']} {job['way']}: {job['error']}")
    fit = [job for job in jobs if not job["environment"]]
    taken = sum(job["accepted"] for job in fit)
    print(
        f"{taken} of {len(fit)} accepted; {len(jobs) - len(fit)} not judged (a package is missing)"
    )
    return 0 if taken == len(fit) else 1


def _jobs(folder: Path, versions: list[str], framework: str) -> Iterator[dict[str, Any]]:
    """Give the launch as it is, translated, and translated back."""
    for path in sorted((folder / "launches").glob("*.sh")):
        ways = [[versions[0]]]
        ways += [[versions[0], other] for other in versions[1:]]
        ways += [[versions[0], other, versions[0]] for other in versions[1:]]
        ways += [[versions[0], *versions[1:]], [versions[0], *versions[1:], *versions[-2:0:-1]]]
        for way in {tuple(way): way for way in ways}.values():
            command, argv = command_lines(path, framework, way)
            yield {
                "launch": path.stem,
                "way": " ".join(way),
                "version": way[-1],
                "command": command,
                "argv": list(argv),
            }


def _ask(jobs: list[dict[str, Any]], python: str, options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(prefix="accepts-") as scratch:
        handed = [
            _handed(job, Path(scratch) / str(n), 29611 + n, options) for n, job in enumerate(jobs)
        ]
        (Path(scratch) / "jobs.json").write_text(json.dumps(handed))
        env = {"PATH": f"{Path(python).parent}:/usr/bin:/bin", "HOME": scratch}
        env |= {"HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
        if options.beside:
            env["PYTHONPATH"] = str(options.beside)
        command = [python, str(HERE / "dump.py"), str(Path(scratch) / "jobs.json")]
        done = subprocess.run(  # noqa: S603 - the caller's own environment
            command, env=env, cwd=scratch, capture_output=True, text=True, check=False
        )
        usage = [x for x in (done.stdout + done.stderr).split("\n") if ": error: " in x]
        for job, given in zip(jobs, handed, strict=True):
            failed = Path(given["out"] + ".error0")
            job["accepted"] = Path(given["out"]).exists()
            job["error"] = ""
            if failed.exists():
                text = failed.read_text().strip().split("\n")[-1]
                job["error"] = text.replace(str(given["cwd"]), "$PWD")[:300]
                if "SystemExit" in job["error"]:
                    job["error"] += " " + " | ".join(usage)[:300]
            elif not job["accepted"]:
                job["error"] = (done.stderr or done.stdout)[-300:]
            # behind the parser of arguments: what the launch asks for is not installed there
            job["environment"] = any(word in job["error"] for word in MISSING)
            if os.environ.get("KEEP") and job["accepted"]:
                kept = Path(os.environ["KEEP"]) / f"{job['launch']}-{job['way']}.json"
                shutil.copy(given["out"], kept)


def _handed(
    job: dict[str, Any], work: Path, port: int, options: argparse.Namespace
) -> dict[str, Any]:
    shutil.copytree(SHARED, work)
    if options.weights:
        shutil.copytree(options.weights, work / "tiny", dirs_exist_ok=True)
    argv = [item.replace("\0", "") for item in job["argv"]]
    return {
        "framework": options.framework,
        "command": job["command"],
        "argv": argv,
        "env": {},
        "cwd": str(work),
        "ranks": 1,
        "distributed": False,
        "port": str(port),
        "out": str(work / ".values.json"),
    }


if __name__ == "__main__":
    sys.exit(main())
