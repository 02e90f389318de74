from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from trainrx.share.bots.github_issues import EVENTS, UNKNOWN, labels_of

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "integrations" / "github"
ACTION = yaml.safe_load((FOLDER / "action.yml").read_text(encoding="utf-8"))
# YAML 1.1 reads the key `on` as true
WORKFLOW = yaml.safe_load((FOLDER / "workflow.yml").read_text(encoding="utf-8"))
SOURCE = (ROOT / "src/trainrx/share/bots/github_issues.py").read_text(encoding="utf-8")


def test_the_action_hands_over_what_the_bot_reads() -> None:
    step = ACTION["runs"]["steps"][-1]

    assert set(re.findall(r"TRAINRX_\w+", SOURCE)) == set(step["env"]) - {"GITHUB_TOKEN"}
    used = set(re.findall(r"inputs\.([\w-]+)", " ".join(step["env"].values())))
    assert used == set(ACTION["inputs"])


def test_no_input_is_written_into_a_command() -> None:
    assert all("${{" not in step.get("run", "") for step in ACTION["runs"]["steps"])


def test_the_workflow_listens_to_what_is_answered_with_no_more_rights_than_that_takes() -> None:
    listened = {name: tuple(how["types"]) for name, how in WORKFLOW[True].items()}

    assert listened == EVENTS
    assert WORKFLOW["permissions"] == {"issues": "write", "contents": "read"}
    assert set(WORKFLOW["jobs"]["answer"]["steps"][-1]["with"]) <= set(ACTION["inputs"])


def test_the_sample_of_labels_names_families_there_are() -> None:
    from trainrx.render.words import FAMILY

    assert set(labels_of(str(FOLDER / "labels.yml"))) <= {*FAMILY, UNKNOWN}


@pytest.mark.parametrize("page", ["github.md", "github.zh.md"])
def test_the_page_names_every_input_and_the_permissions(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")

    assert all(f"`{name}`" in text for name in ACTION["inputs"])
    assert "issues: write" in text
