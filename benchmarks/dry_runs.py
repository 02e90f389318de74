"""Of prepared data sets: what does `diagnose dry-run` say of them, with the real frameworks?

    python benchmarks/dry_runs.py tests/data_sets/dry_run \
        --at ms-swift==4.6.0 /opt/swift/bin/python /models/tiny \
        --at trl==1.16.0 /opt/trl/bin/python /models/tiny [--only 07,12]

Each set is copied, gets the model of its framework as `./model`, and is run dry by the interpreter
of its framework; sets of other frameworks are left out. A planted fault counts as found where the
verdict is not *runs*, or lint finds fault, and, where it stands in one row, that row is named; a
good set as right where it runs and lint is silent. Whether the words name the mechanism is for a
reader: they are printed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from trainrx.dry_run.answer import DryRunOptions, dry_run
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.request import request_of
from trainrx.model.dry_run import DryRunAnswer
from trainrx.model.errors import UsageError


class Home(NamedTuple):
    """Where a framework is: its interpreter, and a model small enough for a CPU."""

    python: str
    model: Path


def asked(folder: Path, home: Home, loaded: LoadedKnowledge) -> DryRunAnswer | str:
    """Run a copy of a set; give the answer, or why there is none."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name) / folder.name
        shutil.copytree(folder, place)
        (place / "model").symlink_to(home.model.absolute())
        before = Path.cwd()
        os.chdir(place)
        try:
            request = request_of(("launch.sh",), {}, None, None)
            options = DryRunOptions(python=home.python)
            return dry_run(request, loaded, options, os.environ, top=1)
        except UsageError as error:
            return str(error)
        finally:
            os.chdir(before)


def is_right(truth: dict[str, Any], answer: DryRunAnswer) -> bool:
    """Tell whether a fault is found at its row, or a good set is left in peace."""
    if "fault" not in truth:
        return answer.verdict == "runs" and not answer.findings
    named = [row for loss in answer.losses for row in loss.rows]
    words = " ".join(item.message for item in answer.findings)
    row = truth.get("row")
    at = row is None or row in named or f"row {row}" in words or f"line {row}" in words
    return (answer.verdict in ("stops", "loses") or bool(answer.findings)) and at


def lines(answer: DryRunAnswer) -> Iterator[str]:
    """Say what an answer rests on."""
    if answer.error:
        yield f"stops: {answer.error[:160]}"
    yield from (f"printed: {line[:160]}" for line in answer.said)
    for loss in answer.losses:
        yield f"{loss.kind} {loss.column} rows {loss.rows} ({loss.count} of {loss.of})"
    yield from (f"lint: {item.message[:160]}" for item in answer.findings)


def main() -> None:
    """Ask all sets of a folder and print what came of them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--at", nargs=3, action="append", metavar=("NAME==VERSION", "PYTHON", "MODEL")
    )
    parser.add_argument("--only", default="", help="numbers of sets, with commas between")
    told = parser.parse_args()
    homes = {name: Home(python, Path(model)) for name, python, model in told.at or ()}
    loaded = LoadedKnowledge()
    only = [number for number in told.only.split(",") if number]
    counts: Counter[str] = Counter()
    truths = yaml.safe_load((told.folder / "truth.yaml").read_text(encoding="utf-8"))
    for name, truth in sorted(truths.items()):
        home = homes.get(truth["framework"])
        if home is None or (only and not name.startswith(tuple(only))):
            continue
        answer = asked(told.folder / name, home, loaded)
        kind = "fault" if "fault" in truth else "good"
        if isinstance(answer, str):
            counts[f"{kind}, not run"] += 1
            print(f"{name}: not run: {answer}")
            continue
        right = is_right(truth, answer)
        counts[f"{kind}, {'right' if right else 'wrong'}"] += 1
        print(
            f"{name}: {'right' if right else 'WRONG'} ({answer.verdict}) {truth.get('fault', '')}"
        )
        print("".join(f"    {line}\n" for line in lines(answer)), end="")
    print(dict(counts))


if __name__ == "__main__":
    main()
