"""A script that hands another one to sbatch: what the job is, where it starts, what it asks for."""

from __future__ import annotations

import pytest

from trainrx.launch.find import find_launches
from trainrx.model.job import RawLaunch
from trainrx.shell import read_script

JOB = """\
#!/bin/bash
#SBATCH --nodes=2
#SBATCH --gres=gpu:4
cd sub
srun torchrun --nnodes $SLURM_NNODES --nproc_per_node 4 train.py --per_device_train_batch_size 3
"""


def submitted(command: str, job: str = JOB) -> RawLaunch:
    script = read_script(f"{command}\n", "submit.sh", {}, {"job.sh": job}.get)
    (found,) = find_launches(script)
    return found


def told(launch: RawLaunch, name: str) -> str | None:
    values = [item.values for item in launch.launcher if item.name == name]
    return values[-1][-1] if values and values[-1] else None


@pytest.mark.parametrize(
    ("command", "folder"),
    [
        ("sbatch job.sh", "sub"),
        ("sbatch --chdir=proj job.sh", "proj/sub"),
        ("sbatch --chdir proj job.sh", "proj/sub"),
        ("sbatch -D /data/proj job.sh", "/data/proj/sub"),
        ("srun --chdir proj bash job.sh", "proj/sub"),
    ],
)
def test_a_job_starts_in_the_folder_it_is_told(command: str, folder: str) -> None:
    assert submitted(command).workdir.path == folder


@pytest.mark.parametrize(
    ("command", "nodes"),
    [("sbatch job.sh", "2"), ("sbatch --nodes=3 job.sh", "3"), ("sbatch -N 4 job.sh", "4")],
)
def test_the_command_line_of_sbatch_goes_before_the_lines_of_the_script(
    command: str, nodes: str
) -> None:
    launch = submitted(command)

    assert told(launch, "nnodes") == nodes
    assert told(launch, "gres") == "gpu:4"
    assert launch.origin.source == "job.sh"


def test_a_job_without_srun_asks_for_its_cards_all_the_same() -> None:
    launch = submitted("sbatch job.sh", JOB.replace("srun ", ""))

    assert ("slurm_gres", ("gpu:4",)) in [(item.name, item.values) for item in launch.container]
