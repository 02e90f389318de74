"""`diagnose retry` from the command line to the exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from trainrx.cli import main
from trainrx.render.formats.json import FOLDER, schemas

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "tests" / "cases"
OOM = (
    "[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a "
    "total capacity of 79.33 GiB of which 1.42 GiB is free. Including non-PyTorch memory, this "
    "process has 77.90 GiB memory in use. Of the allocated memory 74.85 GiB is allocated by "
    "PyTorch, and 812.31 MiB is reserved by PyTorch but unallocated.\n"
)
XID_79 = (
    "[Sat Nov 21 03:11:22 2026] NVRM: Xid (PCI:0000:4f:00): 79, pid=4102, name=python, GPU has "
    "fallen off the bus.\n"
)
ECC = "RuntimeError: CUDA error: uncorrectable ECC error encountered\n"
SLURM = (
    "slurmstepd: error: *** STEP 712235.0 ON gpu17 CANCELLED AT 2026-11-20T03:00:12 DUE TO {} ***\n"
)

PATH = FOLDER / "retry.schema.json"


def run(capsys, tmp_path, log, *argv):
    path = tmp_path / "train.log"
    path.write_text(log, encoding="utf-8")
    status = main(["retry", str(path), *argv])
    return status, capsys.readouterr().out


@pytest.mark.parametrize(
    ("log", "status", "rule"),
    [
        (OOM, 10, "same-memory-again"),
        (XID_79, 11, "hardware-failed"),
        (ECC, 11, "hardware-failed"),
        (SLURM.format("TIME LIMIT"), 0, "ended-from-outside"),
        (SLURM.format("PREEMPTION"), 0, "ended-from-outside"),
        ("OSError: [Errno 28] No space left on device\n", 10, "no-space"),
        ("OSError: [Errno 116] Stale file handle\n", 0, "storage-or-hub-outage"),
        ("step 1\nstep 2\n", 12, ""),
    ],
)
def test_the_status_tells_the_kind_of_failure(log, status, rule, capsys, tmp_path):
    found, out = run(capsys, tmp_path, log, "--format", "json")
    answer = json.loads(out)

    assert (found, answer["rule"]) == (status, rule)
    assert answer["exit_code"] == status
    Draft202012Validator(json.loads(PATH.read_text())).validate(answer)


@pytest.mark.parametrize(
    ("case", "status"),
    [
        ("ms-swift-port-taken", 0),
        ("ms-swift-model-path-wrong", 10),
        ("ms-swift-4-packing-without-flash", 10),
        ("llamafactory-loss-nan", 10),
        ("llamafactory-streaming-without-max-steps", 10),
        ("llamafactory-rank-killed", 12),
    ],
)
def test_recorded_failures_are_judged(case, status, capsys):
    assert main(["retry", str(CASES / case / "train.log"), "--quiet"]) == status
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_names_cause_reason_and_what_to_do_first(lang, capsys, tmp_path, monkeypatch):
    # a path longer than a line would be broken, and how long tmp_path is differs
    monkeypatch.chdir(tmp_path)
    _, out = run(capsys, Path(), XID_79, "--lang", lang, "--width", "80")

    words = {
        "en": ("RESTART WITHOUT THIS NODE", "exit status 11", "--exclude=NODE", "train.log:1"),
        "zh": ("排除该节点后重启", "退出码 11", "--exclude=NODE", "train.log:1"),
    }[lang]
    assert all(word in out for word in words)


def test_markdown_keeps_the_line_as_it_is_and_masks_secrets(capsys, tmp_path):
    log = ECC.replace("\n", " HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz\n")

    _, out = run(capsys, tmp_path, log, "--format", "markdown")

    assert out.startswith("**RESTART WITHOUT THIS NODE**")
    assert "hf_abcdef" not in out


def test_nothing_to_judge_is_wrong_use(capsys):
    assert main(["retry", "--lang", "en"]) == 2
    assert "give the log of the failure" in capsys.readouterr().err


def test_the_schema_is_the_committed_one():
    assert PATH.read_text(encoding="utf-8") == schemas()[PATH.name]
