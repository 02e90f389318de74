from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from trainrx import __version__
from trainrx.cli import commands, main
from trainrx.cli._output import guarded
from trainrx.model.errors import KnowledgeError, UsageError

RUN = "import sys; from trainrx.cli import commands, main; sys.exit(main())"


def call(
    *argv: str, stdin: str = "", after: str = "", **env: str
) -> subprocess.CompletedProcess[str]:
    """Run the program as a user does, in a fresh interpreter."""
    command: list[str] = [sys.executable, "-c", RUN, *argv]
    if after:
        command = ["bash", "-c", f'"$@" {after}', "-", *command]
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "COLUMNS"))}
    return subprocess.run(
        command,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**clean, "LC_ALL": "C.UTF-8", **env},
    )


def test_the_version_is_told(capsys):
    status = main(["--version"])

    assert status == 0
    assert capsys.readouterr().out == f"trainrx {__version__}\n"


def test_the_package_is_run_as_its_script_is():
    ran = subprocess.run(
        [sys.executable, "-m", "trainrx", "--version"], capture_output=True, text=True, check=True
    )

    assert ran.stdout == f"trainrx {__version__}\n"


@pytest.mark.parametrize("argv", [["--version"], ["explain", "cuda-oom"]])
def test_what_is_asked_most_is_answered_without_rich_and_the_engine(argv):
    code = (
        f"import sys; sys.argv[1:] = {argv!r}\nfrom trainrx.cli import main\nmain()\n"
        "print(sorted({'rich', 'durable_rules_engine'} & set(sys.modules)))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout.endswith("[]\n")


def test_help_is_plain_text(capsys):
    status = main(["--help"])

    said = capsys.readouterr().out
    assert status == 0
    assert "--fail-on" in said
    assert "\u2502" not in said
    assert "--width" not in said


@pytest.mark.parametrize(
    "argv",
    [
        ["--bogus"],
        ["--lang", "fr", "x"],
        ["--gpus", "0", "x"],
        ["--gpus", "many", "x"],
        ["--top", "0", "x"],
        ["--format", "xml", "x"],
        ["--fail-on", "always", "x"],
        ["kb", "bogus"],
        ["kb", "new", "cause"],
        ["explain"],
        ["explain", "a", "b"],
    ],
)
def test_a_wrong_command_line_is_status_2_without_a_traceback(argv, capsys):
    status = main(argv)

    said = capsys.readouterr()
    assert status == 2
    assert said.out == ""
    assert "Error: " in said.err
    assert "Traceback" not in said.err


def test_nothing_to_read_says_what_to_give(capsys):
    status = main([])

    assert status == 2
    assert "diagnose --cmd launch.sh --log train.log" in capsys.readouterr().err


def test_a_command_that_is_not_the_first_word_is_pointed_out(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    status = main(["--gpu", "H20", "explain", "cuda-oom"])

    assert status == 2
    assert "must be the first word: diagnose explain" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("word", "command"), [("lnit", "lint"), ("estimat", "estimate"), ("explian", "explain")]
)
def test_a_misspelt_command_is_pointed_out(word, command, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    status = main([word, "launch.sh", "--lang", "en"])

    assert status == 2
    assert f"did you mean diagnose {command} ...?" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--fromat", "json"], ["lint", "--fromat", "json"]])
def test_a_misspelt_option_is_pointed_out(words, capsys):
    assert main([*words, "--lang", "en"]) == 2
    assert "--format" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ("--lang", "zh", "explain", "cuda-oom"),
        ("--lang=zh", "explain", "cuda-oom"),
        ("explain", "--lang", "zh", "cuda-oom"),
        ("--lang", "en", "explain", "cuda-oom", "--lang", "zh"),
        ("--lang", "zh", "kb", "list", "cuda-oom"),
        ("kb", "list", "cuda-oom", "--lang", "zh"),
        ("--lang", "zh", "lint", "--list"),
    ],
)
def test_the_language_may_stand_before_the_command_or_behind(words, capsys, monkeypatch):
    monkeypatch.setenv("LC_ALL", "C.UTF-8")

    assert main(words) == 0
    assert re.search(r"[\u4e00-\u9fff]", capsys.readouterr().out)


def test_each_module_of_the_folder_is_a_command():
    assert commands() >= {"diagnose", "explain", "kb"}


@pytest.mark.parametrize(
    "error", [UsageError("seen x, give y"), KnowledgeError("a.yaml", "id", "seen x, give y")]
)
def test_a_known_error_is_one_message(error, capsys):
    def work() -> int:
        raise error

    status = guarded(work)

    said = capsys.readouterr().err
    assert status == 2
    assert said.startswith("diagnose: ")
    assert said.endswith("seen x, give y\n")


def test_a_defect_is_told_without_a_traceback(capsys, monkeypatch):
    monkeypatch.delenv("TRAINRX_DEBUG", raising=False)

    status = guarded(lambda: 1 // 0)

    said = capsys.readouterr().err
    assert status == 2
    assert "defect of trainrx" in said
    assert "ZeroDivisionError" in said
    assert "Traceback" not in said


def test_a_defect_shows_its_traceback_on_request(capsys, monkeypatch):
    monkeypatch.setenv("TRAINRX_DEBUG", "1")

    status = guarded(lambda: 1 // 0)

    said = capsys.readouterr().err
    assert status == 2
    assert "Traceback" in said
    assert "ZeroDivisionError" in said


def test_an_interruption_is_status_130(capsys):
    def work() -> int:
        raise KeyboardInterrupt

    assert guarded(work) == 130
    assert capsys.readouterr().err == "diagnose: interrupted\n"


def test_a_reader_that_has_gone_away_is_no_error():
    done = call("kb", "list", after="| head -n 1; exit ${PIPESTATUS[0]}")

    assert done.returncode == 0
    assert done.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("argv", [["--version"], ["kb", "list"], ["explain", "cuda-oom"]])
def test_an_output_that_takes_nothing_is_status_2(argv):
    done = call(*argv, after="> /dev/full")

    assert done.returncode == 2
    assert "could not be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_a_closed_output_is_status_2():
    done = call("--version", after=">&-")

    assert done.returncode == 2
    assert "standard output is closed" in done.stderr


def test_an_encoding_without_chinese_still_gets_an_answer():
    done = call("explain", "cuda-oom", PYTHONIOENCODING="ascii", LC_ALL="zh_CN")

    assert done.returncode == 0
    assert "cuda-oom" in done.stdout


def test_a_pipe_gets_no_control_sequences():
    done = call("explain", "cuda-oom", TERM="xterm-256color")

    assert "\x1b" not in done.stdout


JOB = {"--cmd", "--config", "--env", "--versions", "--framework", "--gpu", "--gpus", "--nodes"}
JOB |= {"--model-config", "--log", "--note", "--kb", "--rules", "--lang", "--format"}
SIDES = JOB - {"--cmd", "--config", "--log", "--note"}
TAKEN = {
    "diagnose": JOB | {"--good", "--answer"},
    "paste": JOB | {"--good", "--answer"},
    "fix": JOB | {"--good", "--answer", "--data", "--keep"},
    "plan": JOB | {"--data", "--keep"},
    "estimate": JOB | {"--data"},
    "retry": JOB | {"--good", "--answer"},
    "inspect": JOB,
    "diff": SIDES | {"--versions-good", "--versions-bad"},
    "lint": JOB - {"--log", "--note"},
    "translate": JOB - {"--log", "--note", "--gpu", "--gpus", "--nodes", "--model-config"},
}


@pytest.mark.parametrize(
    "command",
    [*((name,) for name in sorted(commands() - {"diagnose", "fleet", "kb", "lsp"})), ()]
    + [("kb", name) for name in ("check", "test", "format", "list", "new")]
    + [("fleet", name) for name in ("run", "confirm", "report", "export", "compare")],
)
def test_every_command_takes_the_language(command, capsys):
    assert main([*command, "--help"]) == 0
    assert "--lang [en|zh]" in capsys.readouterr().out


@pytest.mark.parametrize("command", sorted(TAKEN))
def test_inputs_are_the_same_options_everywhere(command, capsys):
    status = main([*(() if command == "diagnose" else (command,)), "--help"])

    shown = set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    assert status == 0
    assert shown >= TAKEN[command]
