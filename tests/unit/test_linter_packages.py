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
