"""The parser of a program is read as the real one reads: 202 launches of six programs.

The verdicts are those of argparse (Python 3.11) and of transformers' HfArgumentParser, recorded
with tools/referee/parsers.py. Their wording is not compared: it differs by release.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from trainrx.api import Diagnoser
from trainrx.launch.find import find_launches
from trainrx.launch.parsers.refusals import given_values
from trainrx.launch.programs import joined
from trainrx.shell import read_script

FOLDER = Path(__file__).parent
PROGRAMS = FOLDER / "programs"
ROWS = [
    json.loads(line)
    for line in (FOLDER / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
]
RULE = "program-refuses-argument"
LEFT_OPEN = {"--output_dir o --report_to wandb tensorboard"}
"""Launches a release decides that is not told: lint says nothing."""


@cache
def diagnoser() -> Diagnoser:
    """Give one that has loaded its knowledge for all launches."""
    return Diagnoser()


@pytest.mark.parametrize("program", sorted({row["program"] for row in ROWS}))
def test_lint_refuses_what_the_parser_refuses_and_nothing_else(
    program: str, tmp_path: Path
) -> None:
    (tmp_path / program).write_text((PROGRAMS / program).read_text(encoding="utf-8"))
    script = tmp_path / "run.sh"
    wrong = []
    for row in (row for row in ROWS if row["program"] == program):
        is_refused = "refused" in row and row["words"] not in LEFT_OPEN
        script.write_text(f"torchrun {program} {row['words']}\n", encoding="utf-8")

        said = [f.message for f in diagnoser().lint(script) if f.severity == "error"]

        if bool(said) != is_refused:
            wrong.append((row["words"], row.get("refused"), said))
    assert wrong == []


def test_the_values_read_are_those_the_parser_gives() -> None:
    wrong = []
    read = 0
    for row in (row for row in ROWS if "values" in row):
        text = f"torchrun {row['program']} {row['words']}\n"
        (launch, *_) = joined(find_launches(read_script(text, "run.sh")), (), PROGRAMS)
        assert launch.parser is not None
        found = given_values(launch.parser, launch.words) or {}
        for name, value in found.items():
            read += 1
            own = row["values"].get(name)
            if isinstance(value, (str, int, float, list)) and value != own:
                wrong.append((row["program"], row["words"], name, value, own))

    assert [item for item in wrong if item[2] not in ("fast", "use_lora")] == []
    assert read > 150


def test_there_are_as_many_launches_as_are_said() -> None:
    assert len(ROWS) == len((FOLDER / "launches.txt").read_text(encoding="utf-8").splitlines())
    assert len(ROWS) >= 200
