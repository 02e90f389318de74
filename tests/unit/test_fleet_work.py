"""One job of a fleet, answered for comparison with others."""

from pathlib import Path

import pytest

from trainrx.fleet.record import FleetJob, JobFile, JobLimits
from trainrx.fleet.work import examine, knowledge_serial

SCRIPT = b"""#!/bin/bash
export WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567
docker run --gpus 2 registry.local/train:7 \\
  torchrun --nproc_per_node 2 swift sft --model Qwen/Qwen2.5-7B-Instruct --max_length 2048
"""
LOG = b"""Traceback (most recent call last):
  File "/opt/site-packages/transformers/models/qwen2/modeling_qwen2.py", line 10, in forward
    return self.mlp(x)
OSError: [Errno 28] No space left on device
"""
LIMITS = JobLimits()


def _sent(**more) -> FleetJob:
    files = (JobFile(name="launch.sh", data=SCRIPT), JobFile(name="train.log", data=LOG))
    return FleetJob(key="k", name="n", source="kubernetes", files=files, **more)


def test_what_is_compared_across_jobs_is_kept_and_secrets_are_not():
    found = examine(_sent(gpus=2, started=0.0, ended=7200.0, nodes=("n1",), user="u"), LIMITS)

    assert (found.outcome, found.causes[0][0], found.framework) == (
        "answered",
        "disk-full",
        "ms-swift",
    )
    assert found.site.frame == "transformers/models/qwen2/modeling_qwen2.py:forward"
    at = found.launch_lines.index("max_length=2048")
    assert found.launch_places[at].endswith("launch.sh:4")
    assert not any("0123456789abcdef" in line for line in found.launch_lines)
    assert (found.image, found.nodes, found.user) == ("registry.local/train:7", ("n1",), "u")
    assert (found.family, found.gpus) == ("crash_other", 2)
    assert found.quoted[-1] == "OSError: [Errno 28] No space left on device"
    assert found.gpu_hours is None  # a start at the epoch is none
    assert found.knowledge_serial == knowledge_serial(LIMITS)
    assert found.cpu_seconds > 0
    assert found.peak_mib > 10


def test_a_job_without_anything_to_read_is_told_apart(tmp_path: Path):
    found = examine(FleetJob(key="k", name="n", source="folder", folder=str(tmp_path)), LIMITS)

    assert found.outcome == "unread"
    assert "no log, script, config" in found.said


@pytest.mark.parametrize("change", ["2049", "2048"])
def test_the_digest_of_a_launch_changes_with_its_settings_only(change: str):
    other = SCRIPT.replace(b"2048", change.encode()).replace(b"\\\n  ", b"")
    file = JobFile(name="run.sh", data=other)

    found = examine(FleetJob(key="k", name="n", source="kubernetes", files=(file,)), LIMITS)

    same = found.launch_digest == examine(_sent(), LIMITS).launch_digest
    assert same == (change == "2048")


def test_a_config_counts_as_part_of_the_launch_where_it_sets_anything_of_the_framework(
    tmp_path: Path,
):
    (tmp_path / "run.sh").write_text("llamafactory-cli train sft.yaml\n")
    (tmp_path / "sft.yaml").write_text("stage: sft\nlora_targt: all\n")
    (tmp_path / "expect.yaml").write_text("cause: argument-misspelt\n")

    found = examine(FleetJob(key="k", name="n", source="folder", folder=str(tmp_path)), LIMITS)

    places = dict(zip(found.launch_lines, found.launch_places, strict=True))
    assert places["lora_targt=all"] == "sft.yaml:2"
    assert not any("expect.yaml" in place for place in found.launch_places)
