"""What real frameworks said of translated launches (`tools/referee/accepts.py` records it)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trainrx.translation.launch import command_lines

HERE = Path(__file__).parent
VERDICTS: list[dict[str, Any]] = json.loads((HERE / "verdicts.json").read_text())
JUDGED = [item for item in VERDICTS if not item["environment"]]


def name(item: dict[str, Any]) -> str:
    return f"{item['launch']}-{item['way'].replace(' ', '-')}"


def test_every_launch_was_judged_on_every_version() -> None:
    launches = {path.stem for path in (HERE / "launches").glob("*.sh")}

    versions = {n: {i["version"] for i in VERDICTS if i["launch"] == n} for n in launches}

    assert len(launches) >= 12
    assert all(found >= {"2.6.1", "3.2.1", "4.6.0"} for found in versions.values())


@pytest.mark.parametrize("item", JUDGED, ids=name)
def test_the_real_parser_takes_what_is_translated(item: dict[str, Any]) -> None:
    assert item["accepted"], item["error"]


@pytest.mark.parametrize("item", VERDICTS, ids=name)
def test_what_was_judged_is_what_is_written_today(item: dict[str, Any]) -> None:
    path = HERE / "launches" / f"{item['launch']}.sh"

    command, argv = command_lines(path, "ms-swift", item["way"].split())

    assert (command, [*argv]) == (item["command"], item["argv"])
