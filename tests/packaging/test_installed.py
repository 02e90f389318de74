from __future__ import annotations

import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

from trainrx import __version__
from trainrx.knowledge.load import load
from trainrx.knowledge.places import checkout, shipped


def test_knowledge_and_rules_are_found_where_we_run() -> None:
    kb, rules = shipped()

    assert (kb / "causes").is_dir()
    assert any(rules.rglob("*.yaml"))
    assert load().causes


def test_the_version_is_that_of_the_distribution() -> None:
    assert distribution("trainrx").version == __version__


@pytest.mark.parametrize("part", ["knowledge", "lint"])
def test_an_installed_copy_carries_the_compiled_knowledge(part: str) -> None:
    compiled = shipped()[0].parent / f"{part}.msgpack"

    assert compiled.is_file() == (checkout() is None)


@pytest.mark.parametrize("command", ["diagnose", "trainrx"])
def test_both_commands_are_installed(command: str) -> None:
    script = Path(sys.executable).parent / command

    run = subprocess.run([script, "--version"], capture_output=True, text=True, check=False)

    assert run.returncode == 0
    assert __version__ in run.stdout
