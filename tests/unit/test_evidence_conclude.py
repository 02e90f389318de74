"""What a note tells of a setting is known, and neither of two that it compares."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainrx.api import diagnose


@pytest.mark.parametrize(
    ("note", "precision"),
    [
        ("we use bf16, loss is nan after 20 steps", "bf16"),
        ("loss 变成 nan，使用bf16训练", "bf16"),
        ("training in fp16, loss is nan", "fp16"),
        ("loss is nan when training in fp16, in bf16 it is fine", None),
        ("loss is nan after 20 steps", None),
    ],
)
def test_the_precision_a_note_tells_is_known(note, precision):
    assert diagnose(note=note).facts.get("train.precision") == precision


def test_what_a_note_tells_is_not_advised():
    answer = diagnose(note="we use bf16, loss is nan after 20 steps", framework="ms-swift", top=20)

    changes = {c.spelled for cause in answer.causes for fix in cause.fixes for c in fix.changes}
    assert not {text for text in changes if "bfloat16" in text or "bf16 true" in text}
    assert "train.precision" not in {ask.id for ask in answer.asks}


def test_a_launch_says_more_than_a_note():
    launch = "swift sft --model Qwen/Qwen2.5-7B-Instruct --dataset a --torch_dtype float16"

    answer = diagnose(cmd=launch, note="we use bf16, loss is nan")

    assert answer.facts["train.precision"] == "fp16"


def lookups(*seconds: int) -> str:
    return "".join(
        f"[W1127 13:50:{second:02} socket.cpp:764] [c10d] The IPv6 network addresses of "
        "(gpu-node-0, 29544) cannot be retrieved (gai error: -2 - Name or service not known).\n"
        for second in seconds
    )


def found(text: str, tmp_path: Path) -> set[str]:
    log = tmp_path / "train.log"
    log.write_text(text, encoding="utf-8")
    return {seen.id for seen in diagnose([log]).symptoms}


def test_a_client_that_looks_a_name_up_until_its_log_ends_does_not_find_it(tmp_path):
    assert "hostname-not-resolved" in found(lookups(1, 2, 5, 12, 40), tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        lookups(1, 2, 2, 3, 3, 4),
        lookups(1, 12, 40) + "Loading checkpoint shards: 100%\n",
    ],
    ids=["ranks-that-start", "the-job-went-on"],
)
def test_lookups_over_ipv6_that_fail_at_a_good_start_are_no_failure(text, tmp_path):
    assert "hostname-not-resolved" not in found(text, tmp_path)


PACKAGE = (
    "Could not load bitsandbytes native library: /lib/x86_64-linux-gnu/libstdc++.so.6: version "
    "`GLIBCXX_3.4.32' not found (required by libbitsandbytes_cpu.so)\n"
)
PARSED = "sft.py: error: ambiguous option: --lr could match --lr_scheduler_type, --lr_scheduler_x\n"


def test_a_package_that_failed_stopped_nothing_where_the_parser_ended_the_program(tmp_path):
    assert "glibc-too-old" in found(PACKAGE, tmp_path)
    assert found(PACKAGE + PARSED, tmp_path) >= {"argparse-ambiguous"}
    assert "glibc-too-old" not in found(PACKAGE + PARSED, tmp_path)
    assert "glibc-too-old" in found(PARSED + PACKAGE, tmp_path)
