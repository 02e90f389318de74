"""The skill keeps to the format of agentskills.io, and names only what there is."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from trainrx.cli import commands

ROOT = Path(__file__).resolve().parents[2]
SKILL = ROOT / "integrations/skills/diagnose-training/SKILL.md"


def test_the_head_says_when_to_use_it():
    _, head, body = SKILL.read_text(encoding="utf-8").split("---\n", 2)
    said = yaml.safe_load(head)

    assert said["name"] == SKILL.parent.name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", said["name"])
    assert 1 <= len(said["description"]) <= 1024
    assert len(body.splitlines()) < 500


def test_the_commands_it_names_exist():
    text = SKILL.read_text(encoding="utf-8")
    named = set(re.findall(r"(?m)(?:^|`)diagnose ([a-z]+)(?=[\s`]|$)", text))

    assert named
    assert named <= commands()


def test_the_pages_of_llms_txt_exist():
    pages = re.findall(r"\]\(([^)]+\.md)\)", (ROOT / "docs/llms.txt").read_text(encoding="utf-8"))

    assert pages
    assert [page for page in pages if not (ROOT / "docs" / page).is_file()] == []
