from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

RUN = "import sys; from trainrx.cli import main; sys.exit(main())"
GOOD = "swift sft --model Qwen/Qwen2.5-7B-Instruct --dataset a.jsonl --lora_rank 8\n"
BAD = "swift sft --model Qwen/Qwen2.5-7B-Instruct \\\n    --dataset a.jsonl \\\n    --lora_rnak 8\n"
VERSION = ("--versions", "ms-swift==3.2.1")


def call(*argv: str, stdin: str = "", cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG"))}
    return subprocess.run(
        [sys.executable, "-c", RUN, "lint", *argv],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=cwd,
        env={**clean, "LC_ALL": "C.UTF-8"},
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.sh").write_text(GOOD)
    (tmp_path / "bad.sh").write_text(BAD)
    (tmp_path / "notes.md").write_text("--lora_rnak 8\n")
    return tmp_path


def test_a_caret_stands_under_the_word(folder: Path) -> None:
    done = call("bad.sh", *VERSION, cwd=folder)

    assert done.returncode == 1
    assert done.stdout.splitlines()[:3] == [
        (
            "bad.sh:3:5: error: --lora_rnak is unknown to ms-swift 3.2.1 sft:"
            " did you mean --lora_rank? [misspelt-argument] [*]"
        ),
        "  3 |     --lora_rnak 8",
        "    |     ^^^^^^^^^^^",
    ]
    assert done.stdout.splitlines()[-1] == ("1 file: 1 error, 0 warnings, 0 info; --fix mends 1")


def test_nothing_found_is_status_0(folder: Path) -> None:
    done = call("good.sh", *VERSION, cwd=folder)

    assert (done.returncode, done.stdout) == (0, "1 file: 0 errors, 0 warnings, 0 info\n")


def test_a_folder_is_searched_for_scripts(folder: Path) -> None:
    done = call(*VERSION, "--format", "json", cwd=folder)

    answer = json.loads(done.stdout)
    assert answer["files"] == 2
    assert [item["rule"] for item in answer["findings"]] == ["misspelt-argument"]
    assert answer["findings"][0]["fix"]["edits"][0]["text"] == "--lora_rank"


def test_standard_input_is_read() -> None:
    done = call("-", *VERSION, "--format", "github", stdin=BAD)

    assert done.returncode == 1
    assert done.stdout.startswith("::error file=<stdin>,line=3,col=5,endColumn=16,title=missp")


def test_chinese_is_spoken(folder: Path) -> None:
    done = call("bad.sh", *VERSION, "--lang", "zh", cwd=folder)

    assert "是否想写 --lora_rank？" in done.stdout


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("--exit-zero",), 0),
        (("--fail-on", "none"), 0),
        (("--ignore", "misspelt-argument"), 0),
        (("--ignore", "arguments"), 0),
        (("--select", "shell"), 0),
        (("--select", "shell", "--extend-select", "misspelt-argument"), 1),
        (("--select", "no-such-rule"), 2),
        (("--no-such-option",), 2),
        (("--gpus", "0"), 2),
        (("missing.sh",), 2),
    ],
)
def test_the_exit_status_follows_what_was_asked(
    folder: Path, words: tuple[str, ...], status: int
) -> None:
    done = call("bad.sh", *VERSION, *words, cwd=folder)

    assert done.returncode == status


def test_fix_writes_the_right_name_and_only_once(folder: Path) -> None:
    first = call("bad.sh", *VERSION, "--fix", cwd=folder)
    text = (folder / "bad.sh").read_text()
    second = call("bad.sh", *VERSION, "--fix", cwd=folder)

    assert (first.returncode, second.returncode) == (0, 0)
    assert text == BAD.replace("rnak", "rank")
    assert (folder / "bad.sh").read_text() == text
    assert "mended 1 finding" in first.stderr


def test_settings_are_read_from_the_file_named(folder: Path) -> None:
    (folder / "own.toml").write_text('ignore = ["misspelt-argument"]\n')

    held = call("bad.sh", *VERSION, "--settings", "own.toml", cwd=folder)
    other = call("bad.sh", *VERSION, "--config", "own.toml", cwd=folder)

    assert held.returncode == 0
    assert (other.returncode, "--settings" in other.stderr) == (2, True)


def test_the_framework_tells_its_version_as_a_listing_does(folder: Path) -> None:
    named = call("bad.sh", "--framework", VERSION[1], cwd=folder)

    assert named.stdout == call("bad.sh", *VERSION, cwd=folder).stdout
    assert "ms-swift 3.2.1" in named.stdout


def test_diff_changes_nothing(folder: Path) -> None:
    done = call("bad.sh", *VERSION, "--diff", cwd=folder)

    assert done.returncode == 1
    assert "-    --lora_rnak 8\n+    --lora_rank 8\n" in done.stdout
    assert (folder / "bad.sh").read_text() == BAD


def test_line_ends_of_windows_are_mended_with_the_rest(folder: Path) -> None:
    (folder / "bad.sh").write_bytes(BAD.replace("\n", "\r\n").encode())

    call("bad.sh", *VERSION, "--fix", cwd=folder)

    assert (folder / "bad.sh").read_bytes() == BAD.replace("rnak", "rank").encode()


def test_a_comment_holds_a_finding_back_and_is_told_when_idle(folder: Path) -> None:
    (folder / "bad.sh").write_text(f"# diagnose: ignore=misspelt-argument, wrong-type old\n{BAD}")

    done = call("bad.sh", *VERSION, cwd=folder)

    assert "misspelt-argument]" not in done.stdout
    assert "nothing of wrong-type is found here" in done.stdout
    assert done.stdout.endswith("1 ignored\n")


def test_a_baseline_hides_what_was_there(folder: Path) -> None:
    call(*VERSION, "--write-baseline", "base.json", cwd=folder)
    old = call(*VERSION, "--baseline", "base.json", cwd=folder)
    (folder / "bad.sh").write_text(f"# a line above\n{BAD}")
    moved = call(*VERSION, "--baseline", "base.json", cwd=folder)
    (folder / "good.sh").write_text(GOOD.replace("lora_rank", "lora_rnak"))
    new = call(*VERSION, "--baseline", "base.json", cwd=folder)

    assert [old.returncode, moved.returncode, new.returncode] == [0, 0, 1]


def test_settings_are_taken_from_the_project(folder: Path) -> None:
    (folder / "trainrx.toml").write_text('[versions]\nms-swift = "3.2.1"\n')
    taken = call("bad.sh", cwd=folder)
    (folder / "trainrx.toml").write_text('per-file-ignores = {"bad.sh" = ["misspelt-argument"]}\n')
    ignored = call("bad.sh", cwd=folder)
    alone = call("bad.sh", "--isolated", cwd=folder)

    assert "ms-swift 3.2.1 sft" in taken.stdout
    assert (ignored.returncode, alone.returncode) == (0, 1)


def test_forms_of_other_programs_are_well_formed(folder: Path) -> None:
    sarif = json.loads(call(*VERSION, "--format", "sarif", cwd=folder).stdout)
    gitlab = json.loads(call(*VERSION, "--format", "gitlab", cwd=folder).stdout)
    junit = ET.fromstring(call(*VERSION, "--format", "junit", cwd=folder).stdout)  # noqa: S314
    markdown = call(*VERSION, "--format", "markdown", cwd=folder).stdout

    result = sarif["runs"][0]["results"][0]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 3, "startColumn": 5, "endColumn": 16}
    assert (
        sarif["runs"][0]["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    )
    assert set(gitlab[0]) == {"description", "check_name", "fingerprint", "severity", "location"}
    assert junit.find(".//failure") is not None
    assert "`misspelt-argument`" in markdown


def test_statistics_count_by_rule(folder: Path) -> None:
    done = call(*VERSION, "--statistics", cwd=folder)

    assert done.stdout == "1  error    misspelt-argument\n"


def test_what_holds_no_launch_is_told(folder: Path) -> None:
    (folder / "other.sh").write_text("echo hello\n")

    done = call("other.sh", cwd=folder)

    assert done.returncode == 0
    assert "other.sh: holds no training command" in done.stderr


def test_a_configuration_is_judged_alone_and_with_its_script(folder: Path) -> None:
    (folder / "train.yaml").write_text(
        "stage: sft\nfinetuning_type: lora\nmodel_name_or_path: Qwen/Qwen2.5-7B\n"
        "template: qwen\ndataset: a\ncutof_len: 2048\n"
    )
    (folder / "run.sh").write_text("llamafactory-cli train train.yaml\n")
    version = ("--versions", "llamafactory==0.9.3", "--format", "json")

    alone = json.loads(call("train.yaml", *version, cwd=folder).stdout)["findings"]
    both = json.loads(call("train.yaml", "run.sh", *version, cwd=folder).stdout)["findings"]

    assert [(f["rule"], f["file"], f["line"]) for f in alone] == [
        ("misspelt-argument", "train.yaml", 6)
    ]
    assert both == alone


HEAVY = (
    *("rich", "numpy", "pydantic", "yaml", "durable", "durable_rules_engine", "hyperscan"),
    *("argparse", "dataclasses", "multiprocessing", "asyncio", "logging", "tomllib"),
    *("importlib.metadata", "importlib.resources"),
    *(
        "trainrx.reason.durable",
        "trainrx.evidence",
        "trainrx.memory",
        "trainrx.fix",
        "trainrx.fix.patch",
    ),
    *("trainrx.lsp", "pygls", "lsprotocol"),
    *("trainrx.inputs.files", "trainrx.knowledge.load", "trainrx.inputs.reprs"),
    *("trainrx.launchers.cluster", "trainrx.launchers.container"),
    *("trainrx.frameworks.llamafactory.effective", "trainrx.shell.conditions"),
)
"""What a plain script with one launch of one framework has no use for."""
MOST_MODULES = 319


def test_lint_imports_only_what_the_script_asks_for(folder: Path) -> None:
    (folder / "sound.sh").write_text(
        "CUDA_VISIBLE_DEVICES=0 swift sft --model Qwen/Qwen2.5-7B-Instruct --train_type lora \\\n"
        "    --dataset data.jsonl --learning_rate 1e-4 --deepspeed zero2\n"
    )
    # the first run may compile the knowledge
    imported(folder, "-m", "trainrx.cli", "lint", "sound.sh")

    names = imported(folder, "-m", "trainrx.cli", "lint", "sound.sh") - imported(folder, "-c", "")

    assert sorted(set(HEAVY) & names) == []
    assert len(names) <= MOST_MODULES


def imported(folder: Path, *words: str) -> set[str]:
    """Name the modules a run of Python imports."""
    words = (sys.executable, "-X", "importtime", *words)
    done = subprocess.run(words, capture_output=True, text=True, cwd=folder, check=True)
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines}


@pytest.mark.parametrize(("words", "status"), [(["bad.sh"], 1), (["bad.sh", "--exit-zero"], 0)])
def test_the_program_leaves_with_its_status_and_all_it_said(
    folder: Path, words: list[str], status: int
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "trainrx.cli", "lint", "--isolated", *words],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )

    assert "1 file: " in done.stdout
    assert done.returncode == status
