"""A launch that cannot have run as it stands: what it does not say is unknown."""

from __future__ import annotations

from pathlib import Path

from trainrx import diagnose

OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
    "capacity of 79.15 GiB of which 1.00 GiB is free.\n"
)
PART = "swift sft --model Qwen/Qwen2.5-VL-7B-Instruct --deepspeed zero2\n"


def facts(tmp_path: Path, script: str, log: str = "") -> dict[str, object]:
    cmd = tmp_path / "launch.sh"
    cmd.write_text(script)
    (tmp_path / "train.log").write_text(log)
    logs = [tmp_path / "train.log"] if log else []
    return dict(diagnose(cmd=cmd, logs=logs, versions={"ms-swift": "3.2.1"}).facts)


def test_a_run_without_a_data_set_is_shown_in_part_and_defaults_are_unknown(tmp_path: Path) -> None:
    found = facts(tmp_path, PART, OOM)

    assert "train.micro_batch" not in found
    assert "vision.pixel_cap" not in found
    assert found["parallel.deepspeed"] == "zero2"


def test_with_its_data_set_the_launch_is_whole(tmp_path: Path) -> None:
    found = facts(tmp_path, PART.strip() + " --dataset a.jsonl\n", OOM)

    assert found["train.micro_batch"] == 1
    assert found["vision.pixel_cap"] == 12845056


def test_before_anything_ran_a_launch_is_taken_at_its_word(tmp_path: Path) -> None:
    assert facts(tmp_path, PART)["train.micro_batch"] == 1
