"""Ask the installed peers about measured rows and keep what they say.

    python3 -m venv A && A/bin/pip install torch deepspeed accelerate fitcheck-llm
    A/bin/pip install --no-deps unsloth
    python3 -m venv B && B/bin/pip install llm-analysis
    python benchmarks/memory_peers/run.py ROWS.jsonl --peer-python A/bin/python \
        --peer-python llm-analysis=B/bin/python

A python without a name is used for all peers that have none of their own. The answers of peers that
are not asked stay as they are; the table is printed by `memory_accuracy.py ROWS.jsonl --peers`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from memory_accuracy import BadRowsError, read_rows
from memory_rows import workload_of_row

from memory_peers import RESULTS, PeerError, ask, job_of, pythons_of, read_answers
from trainrx.model.memory import Workload


def main() -> int:
    """Ask, write, and say how many rows each peer has a number for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("rows_file", type=Path, metavar="ROWS.jsonl")
    parser.add_argument("--peer-python", action="append", required=True, metavar="[NAME=]PYTHON")
    said = parser.parse_args()
    try:
        jobs = list(_jobs(read_rows(said.rows_file)))
        pythons = pythons_of(said.peer_python)
    except (BadRowsError, PeerError) as error:
        print(error, file=sys.stderr)
        return 2
    kept = [answer._asdict() for answer in read_answers()]
    for peer, python in pythons.items():
        try:
            answers = ask(peer, python, jobs)
        except PeerError as error:
            print(error, file=sys.stderr)
            continue
        print(f"{peer}: {len(answers)} of {len(jobs)} rows", file=sys.stderr)
        kept = [item for item in kept if item["peer"] != peer]
        kept += [{"peer": peer, **answer} for answer in answers]
    with RESULTS.open("w", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(item)}\n" for item in kept)
    return 0


def _jobs(rows: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for row in rows:
        work = workload_of_row(row) if row["tier"] == "strict" else None
        job = job_of(row["id"], work) if isinstance(work, Workload) else None
        if job is not None:
            yield job


if __name__ == "__main__":
    raise SystemExit(main())
