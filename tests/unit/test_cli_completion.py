"""Completion of the shell, asked as bash, zsh and fish ask."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from trainrx.cli import commands, main

FISH = {"_TYPER_COMPLETE_FISH_ACTION": "get-args"}


def ask(shell: str, typed: str, capsys, monkeypatch) -> str:
    """Answer what stands on the line, the cursor at its end."""
    words = typed.split(" ")
    asked = {"_TYPER_COMPLETE_ARGS": typed, **FISH}
    if shell == "bash":
        asked = {"COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1)}
    for name, value in {"_DIAGNOSE_COMPLETE": f"complete_{shell}", **asked}.items():
        monkeypatch.setenv(name, value)
    assert main([]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("typed", "offered", "not_offered"),
    [
        ("diagnose li", "lint", "explain"),
        ("diagnose --ex", "--explain", "--format"),
        ("diagnose launch.sh --fa", "--fail-on", "--format"),
        ("diagnose lint --unsafe", "--unsafe-fixes", "--select"),
        ("diagnose estimate --ver", "--verbose", "--lang"),
        ("diagnose lint --color al", "always", "never"),
        ("diagnose kb li", "list", "check"),
    ],
)
def test_commands_options_and_values_are_offered(
    shell, typed, offered, not_offered, capsys, monkeypatch
):
    answer = ask(shell, typed, capsys, monkeypatch)

    assert offered in answer
    assert not_offered not in answer


def test_all_commands_are_offered_at_the_start(capsys, monkeypatch):
    answer = ask("bash", "diagnose ", capsys, monkeypatch)

    assert set(answer.split()) == commands() - {"diagnose"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell_is_shown(shell, capsys, monkeypatch):
    monkeypatch.setattr("shellingham.detect_shell", lambda: (shell, f"/bin/{shell}"))

    assert main(["--show-completion"]) == 0
    assert f"_DIAGNOSE_COMPLETE=complete_{shell}" in capsys.readouterr().out


def test_bash_completes_what_is_typed(tmp_path: Path):
    """The script itself, in the shell: the program is found on PATH as users have it."""
    program = tmp_path / "diagnose"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m trainrx.cli "$@"\n')
    program.chmod(0o755)
    script = (
        f'PATH="{tmp_path}:$PATH"; source <(diagnose --show-completion)\n'
        "COMP_WORDS=(diagnose expl); COMP_CWORD=1; _diagnose_completion diagnose\n"
        'echo "${COMPREPLY[@]}"'
    )

    bash = shutil.which("bash") or "bash"
    done = subprocess.run([bash, "-c", script], capture_output=True, text=True, check=False)

    assert done.stdout == "explain\n", done.stderr


def test_a_start_without_completion_imports_none_of_it():
    code = (
        "import sys; from trainrx.cli import main; main(['--version'])\n"
        "print('trainrx.cli._completion' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.endswith("False\n")
