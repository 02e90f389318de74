"""The founding situations, run as a user would run them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

import command_line
import first_screen
import trainrx.render
from trainrx.knowledge.yaml12 import read_yaml
from trainrx.model.result import Diagnosis
from trainrx.render.screen.page import ROOM

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FOLDERS = sorted(path.parent.name for path in EXAMPLES.glob("*/expect.yaml"))
CHINESE = re.compile(r"[\u4e00-\u9fff]")
SCHEMA = json.loads(
    Path(trainrx.render.__file__).with_name("diagnosis.schema.json").read_text(encoding="utf-8")
)


class Expected(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What a maintainer would answer."""

    args: tuple[str, ...]
    framework: str
    first_cause: str
    causes_include: tuple[str, ...] = ()
    fixes_include: tuple[str, ...] = ()
    already_right: tuple[str, ...] = ()
    evidence_cites: tuple[str, ...] = ()


def expected(name: str) -> Expected:
    return msgspec.convert(read_yaml(EXAMPLES / name / "expect.yaml"), Expected)


@cache
def run(name: str, *more: str) -> str:
    done = command_line.run((*expected(name).args, *more), EXAMPLES / name)
    assert (done.status, done.err) == (0, "")
    return done.out


def answer(name: str, lang: str = "en") -> dict[str, Any]:
    out: dict[str, Any] = json.loads(run(name, "--format", "json", "--lang", lang, "--top", "5"))
    return out


def spelled(found: dict[str, Any]) -> list[str]:
    return [
        change["spelled"]
        for cause in found["causes"]
        for fix in cause["fixes"]
        for change in fix["changes"]
    ]


@pytest.mark.parametrize("name", FOLDERS)
def test_the_first_cause_is_the_maintainers(name: str) -> None:
    found = answer(name)

    assert found["job"]["framework"] == expected(name).framework
    assert found["causes"][0]["id"] == expected(name).first_cause
    assert set(expected(name).causes_include) <= {cause["id"] for cause in found["causes"]}


@pytest.mark.parametrize("name", FOLDERS)
def test_the_fixes_are_offered_in_the_frameworks_spelling(name: str) -> None:
    lines = spelled(answer(name))

    assert [fix for fix in expected(name).fixes_include if fix not in lines] == []


@pytest.mark.parametrize("name", FOLDERS)
def test_what_is_right_already_is_checked_off(name: str) -> None:
    right = [item["spelled"] for cause in answer(name)["causes"] for item in cause["already_right"]]

    assert [item for item in expected(name).already_right if item not in " ".join(right)] == []


@pytest.mark.parametrize("name", FOLDERS)
def test_the_evidence_cites_lines_that_stand_there(name: str) -> None:
    cited = set()
    for cause in answer(name)["causes"]:
        for reason in cause["reasons"]:
            for origin in reason["evidence"]:
                path = EXAMPLES / name / origin["source"]
                if origin["line"] is not None and path.is_file():
                    cited.add(origin["source"])
                    line = path.read_text(encoding="utf-8").split("\n")[origin["line"] - 1]
                    assert origin["text"].strip()[:30] in line

    assert cited >= set(expected(name).evidence_cites)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", FOLDERS)
def test_the_json_keeps_the_contract(name: str, lang: str) -> None:
    jsonschema.validate(answer(name, lang), SCHEMA)


@pytest.mark.parametrize("name", FOLDERS)
def test_both_languages_give_the_same_answer(name: str) -> None:
    english, chinese = answer(name, "en"), answer(name, "zh")

    assert [c["id"] for c in english["causes"]] == [c["id"] for c in chinese["causes"]]
    assert spelled(english) == spelled(chinese)
    assert not CHINESE.search(english["causes"][0]["title"])
    assert CHINESE.search(chinese["causes"][0]["title"])


def test_the_installed_command_gives_the_same_answer() -> None:
    name = FOLDERS[0]
    words = (*expected(name).args, "--format", "json", "--lang", "en", "--top", "5")

    done = subprocess.run(
        [str(Path(sys.executable).parent / "diagnose"), *words],
        cwd=EXAMPLES / name,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == answer(name)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", FOLDERS)
def test_the_first_screen_says_what_to_do_and_no_more_than_holds(name: str, lang: str) -> None:
    given = json.dumps(answer(name, lang)).encode()

    found = msgspec.json.decode(given, type=Diagnosis)

    assert list(first_screen.mistakes(found, EXAMPLES / name)) == []
    screen = run(name, "--lang", lang)
    assert len(screen.splitlines()) <= ROOM.lines
    assert first_screen.joined(found.causes[0].title[:40]) in first_screen.joined(screen)
