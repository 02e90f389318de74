"""A list of packages as pip writes it: what stands there without a version is there, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainrx import lint

WHOLE = (
    "torch==2.6.0\nfilelock==3.16.1\nfsspec==2024.9.0\nJinja2==3.1.4\nnetworkx==3.3\n"
    "sympy==1.13.1\ntyping_extensions==4.12.2\n"
)
LAUNCH = "swift sft --model Qwen/Qwen2.5-7B-Instruct --dataset a.jsonl --deepspeed zero2"


@pytest.mark.parametrize(
    ("line", "missing"),
    [
        ("", True),
        ("deepspeed==0.16.4", False),
        ("deepspeed @ git+https://github.com/deepspeedai/DeepSpeed@c5b1a2f", False),
        ("-e git+https://github.com/deepspeedai/DeepSpeed.git@c5b1a2f#egg=deepspeed", False),
        ("-e /workspace/deepspeed", False),
    ],
)
def test_a_checkout_counts_as_installed(tmp_path: Path, line: str, missing: bool) -> None:
    script, listed = tmp_path / "a.sh", tmp_path / "freeze.txt"
    script.write_text(f"{LAUNCH}\n", encoding="utf-8")
    listed.write_text(f"{WHOLE}{line}\n", encoding="utf-8")

    found = lint(script, versions=listed)

    assert ("package-not-listed" in {item.rule for item in found}) is missing


@pytest.mark.parametrize(("listed", "missing"), [("", True), ("badam==1.2.2", False)])
def test_a_switch_of_the_framework_needs_its_package(
    tmp_path: Path, listed: str, missing: bool
) -> None:
    config, versions = tmp_path / "train.yaml", tmp_path / "freeze.txt"
    config.write_text(
        "model_name_or_path: /models/a\nstage: sft\ndo_train: true\nfinetuning_type: full\n"
        "dataset: d\ntemplate: qwen\noutput_dir: out\nuse_badam: true\n",
        encoding="utf-8",
    )
    versions.write_text(f"{WHOLE}llamafactory==0.9.3\n{listed}\n", encoding="utf-8")

    found = lint(config, versions=versions)

    assert ("package-not-listed" in {item.rule for item in found}) is missing
