from __future__ import annotations

import pytest

from trainrx.launch.find import find_launches
from trainrx.launchers.cluster import card_asked_for
from trainrx.shell import read_script

RUN = "swift sft --model m --dataset d\n"


def card(text: str) -> tuple[str, int | None] | None:
    (launch,) = find_launches(read_script(f"#!/bin/bash\n{text}", "job.sh", {}))
    asked = card_asked_for(launch)
    return None if asked is None else (asked[0], asked[1].line)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("--gres=gpu:v100:8", "v100"),
        ("--gres=gpu:v100", "v100"),
        ("--gres=craynetwork:1,gpu:a100_80gb:4", "a100_80gb"),
        ("--gres gpu:h100:2(S:0-1)", "h100"),
        ("--gpus=t4:1", "t4"),
        ("-G a100:16", "a100"),
        ("--gpus-per-node=rtx_4090:8", "rtx_4090"),
        ("-C v100", "v100"),
    ],
)
def test_a_batch_script_names_its_card(line, name):
    assert card(f"#SBATCH {line}\n{RUN}") == (name, 2)
    assert card(f"#SBATCH {line}\nsrun {RUN}") == (name, 2)


def test_srun_names_its_card():
    assert card(f"srun --gres=gpu:a100:8 {RUN}") == ("a100", 2)


@pytest.mark.parametrize(
    "line",
    [
        "--gres=gpu:8",
        "--gres=gpu",
        "--gpus=8",
        "--gres=tmpdir:200",
        "-C 'v100|a100'",
        "--gres=gpu:$KIND:8",
        "--gres=" + "gpu:" * 300,
    ],
)
def test_nothing_is_guessed_where_no_type_is_named(line):
    assert card(f"#SBATCH {line}\n{RUN}") is None


def test_what_is_asked_for_is_surer_than_a_constraint():
    assert card(f"#SBATCH -C v100\n#SBATCH --gres=gpu:a100:8\n{RUN}") == ("a100", 3)
