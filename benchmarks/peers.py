"""What other tools say of the same logs: gpualert and runmedic beside trainrx, as a table.

    python3 -m venv GA && GA/bin/pip install gpualert==0.1.6
    python3 -m venv RM && RM/bin/pip install runmedic==0.1.1
    python benchmarks/peers.py --gpualert GA/bin/gpualert --runmedic RM/bin/runmedic [FOLDER...]

Each tool gets what it can use. gpualert wraps a command: the log is replayed to its stderr, with
the exit code a run of that kind has. runmedic reads the whole folder. trainrx is asked twice, with
the log alone and with the launch and versions beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIAGNOSE = Path(sys.executable).parent / "diagnose"
FOLDERS = (
    "examples/01-vl7b-grpo-2xA800-80g",
    "examples/03-vl72b-grpo-hang-8xA100-80g",
    "examples/04-llamafactory-vl7b-growing-memory",
    "tests/cases/llamafactory-loss-nan",
    "tests/cases/ms-swift-loss-zero-grad-nan",
    "tests/cases/llamafactory-rank-killed",
    "tests/cases/llamafactory-misspelt-key",
    "tests/cases/ms-swift-3-flag-of-2",
    "tests/cases/ms-swift-port-taken",
    "tests/cases/ms-swift-no-gpu-driver",
    "tests/cases/ms-swift-address-space-limit",
    "benchmarks/peers_logs/diverging",
    "tests/healthy/ms-swift-4.6.0-sft-lora",
    "tests/healthy/llamafactory-0.9.3-ddp-2-processes",
)
GPUS = {
    "01-vl7b-grpo-2xA800-80g": ("A800-80G", "2"),
    "03-vl72b-grpo-hang-8xA100-80g": ("A100-80G", "8"),
    "04-llamafactory-vl7b-growing-memory": ("A100-80G", "8"),
}
ENDED_WELL = ("tests/healthy", "benchmarks/peers_logs")
REPLAY = 'cat "$1" >&2; exit "$2"'
HEADER = "| log | gpualert | runmedic | trainrx, log alone | trainrx, folder |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpualert", type=Path, required=True)
    parser.add_argument("--runmedic", type=Path, required=True)
    parser.add_argument("folders", nargs="*", default=FOLDERS)
    options = parser.parse_args()
    print(HEADER, "|---|---|---|---|---|", sep="\n")
    for name in options.folders:
        folder = ROOT / name
        cells = (
            gpualert(options.gpualert.absolute(), folder, failed=not name.startswith(ENDED_WELL)),
            runmedic(options.runmedic.absolute(), folder),
            trainrx(folder, alone=True),
            trainrx(folder, alone=False),
        )
        print("|", " | ".join((f"`{folder.name}`", *cells)), "|")


def gpualert(program: Path, folder: Path, *, failed: bool) -> str:
    """Give the error summary of the mail it would send."""
    log = str(folder / "train.log")
    with tempfile.TemporaryDirectory() as home:
        text = _output(
            [program, "run", "--dry-run", "--", "sh", "-c", REPLAY, "sh", log, str(int(failed))],
            HOME=home,
        )
    lines = text.splitlines()
    heads = [i for i, line in enumerate(lines) if line.strip() == "ERROR SUMMARY"]
    if not heads:
        return "success, nothing looked for" if not failed else "nothing"
    said = [line.strip() for line in lines[heads[0] + 2 : heads[0] + 4] if line.strip()]
    return _cell("; ".join(said))


def runmedic(program: Path, folder: Path) -> str:
    """Give the titles of its findings, with the first thing it would try."""
    text = _output([program, "diagnose", "--json", folder])
    if not text.startswith("["):
        return "nothing"
    said = [
        f"{finding['severity']}: {finding['title']}; first try: {(finding['fixes'] or ['-'])[0]}"
        for run in json.loads(text)
        for finding in run["findings"]
    ]
    return _cell("<br>".join(said)) or "no problems found"


def trainrx(folder: Path, *, alone: bool) -> str:
    """Give verdict, first cause and first change."""
    gpu, gpus = GPUS.get(folder.name, ("", ""))
    given = ["--log", folder / "train.log"] if alone else [folder]
    card = ["--gpu", gpu, "--gpus", gpus] if gpu and not alone else []
    answer = json.loads(_output([DIAGNOSE, *given, *card, "--format", "json", "--lang", "en"]))
    if not answer["causes"]:
        seen = [symptom["id"] for symptom in answer["symptoms"] if symptom["echo_of"] is None]
        return _cell(f"{answer['verdict']}{': saw ' + ', '.join(seen) if seen else ''}")
    cause = answer["causes"][0]
    fixes = [
        "; ".join(change["spelled"] for change in fix["changes"]) or fix["title"]
        for fix in cause["fixes"][:1]
    ]
    sure = f"{answer['verdict']} {cause['probability']:.0%}"
    return _cell(f"{sure}: {cause['title']}; first try: {(fixes or ['-'])[0]}")


def _output(command: list[str | Path], **environment: str) -> str:
    done = subprocess.run(
        command,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "200", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


if __name__ == "__main__":
    main()
