from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.launch.find import find_launches
from trainrx.launchers.allocation import allocation_facts, amount_gib, device_count
from trainrx.shell import read_script

RUN = "python train.py --per_device_train_batch_size 1\n"


def facts(text: str) -> dict[str, object]:
    (launch,) = find_launches(read_script(text, "job.sh", {}))
    return {item.kind: item.value for item in allocation_facts(launch)}


@pytest.mark.parametrize(
    ("text", "gib"),
    [("64m", 0.0625), ("16gb", 16.0), ("512Gi", 512.0), ("1T", 1024.0), ("1.5g", 1.5)],
)
def test_amounts_of_memory_are_read_in_gib(text, gib):
    assert amount_gib(text) == gib


@pytest.mark.parametrize("text", ["", "x", "1e9", "-5g", "16 apples", "99999999999999999999g"])
def test_what_is_no_amount_is_unknown(text):
    assert amount_gib(text) is None


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("8", 8),
        ('"device=0,1"', 2),
        ("device=3", 1),
        ("device=GPU-3faa8-219f", 1),
        ("nvidia.com/gpu=0", 1),
        ("nvidia.com/gpu=all", None),
        ("all", None),
        ("-1", None),
        ("", None),
    ],
)
def test_devices_are_counted_where_they_are_named(text, count):
    assert device_count(text) == count


def test_a_container_gives_its_gpus_and_memory():
    found = facts(f"docker run --gpus 4 -m 64g --shm-size=16g image {RUN}")

    assert found == {
        "allocation.gpus_per_node": 4,
        "hardware.host_ram_gib": 64.0,
        "hardware.shm_gib": 16.0,
    }


def test_npus_are_counted_one_by_one():
    devices = " ".join(f"--device=/dev/davinci{number}" for number in range(4))

    found = facts(f"docker run {devices} --device=/dev/davinci_manager --ipc=host image {RUN}")

    assert found == {"allocation.gpus_per_node": 4}


@pytest.mark.parametrize(
    ("front", "shm"),
    [
        ("docker run --gpus all image", 0.0625),
        ("podman run --device nvidia.com/gpu=all --ipc=private image", 0.0625),
        ("docker run image", None),
        ("docker run --gpus all --ipc=host image", None),
        ("docker run --gpus all -v /dev/shm:/dev/shm image", None),
        ("docker exec box", None),
        ("apptainer exec --nv image.sif", None),
        ("srun --container-image=image", None),
    ],
)
def test_shared_memory_is_the_default_only_in_a_container_of_its_own(front, shm):
    assert facts(f"{front} {RUN}").get("hardware.shm_gib") == shm


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (
            "#SBATCH --nodes=2\n#SBATCH --gres=gpu:a100:8\n#SBATCH --mem=200G\n",
            {
                "allocation.nodes": 2,
                "allocation.gpus_per_node": 8,
                "hardware.host_ram_gib": 200.0,
            },
        ),
        (
            "#SBATCH -N 2\n#SBATCH -n 16\n#SBATCH --gpus-per-task=1\n",
            {
                "allocation.nodes": 2,
                "allocation.tasks_per_node": 8,
                "allocation.gpus_per_node": 8,
            },
        ),
        (
            "#SBATCH --ntasks-per-node=4\n#SBATCH --cpus-per-task=8\n#SBATCH --mem-per-cpu=4000\n",
            {"allocation.tasks_per_node": 4, "hardware.host_ram_gib": 125.0},
        ),
        (
            "#SBATCH -N 4\n#SBATCH --gpus=32\n#SBATCH --mem=0\n",
            {"allocation.nodes": 4, "allocation.gpus_per_node": 8},
        ),
        ("#SBATCH --nodes=2-4\n#SBATCH --gres=gpu:$N\n", {}),
        ("#SBATCH -N 1\n#SBATCH hetjob\n#SBATCH -N 2\n#SBATCH --gres=gpu:8\n", {}),
    ],
)
def test_a_batch_job_gives_what_its_lines_ask_for(lines, found):
    assert facts(f"#!/bin/bash\n{lines}{RUN}") == found


def test_a_comment_behind_a_directive_is_no_value():
    text = f"#SBATCH -N 2 # two\n#SBATCH --exclusive  # alone\nsrun {RUN}"
    (launch,) = find_launches(read_script(text, "job.sh", {}))

    assert {arg.name: arg.values for arg in launch.launcher} == {
        "nnodes": ("2",),
        "exclusive": (),
    }


def test_mpirun_spreads_over_the_nodes_of_the_job():
    text = f"#SBATCH --nodes=2\n#SBATCH --gres=gpu:8\nmpirun -np 16 {RUN}"
    (launch,) = find_launches(read_script(text, "job.sh", {}))

    told = {arg.name: arg.values for arg in launch.launcher}
    assert told == {"num_processes": ("16",), "nnodes": ("2",)}


def test_a_step_on_one_node_is_of_the_whole_job():
    lines = "#SBATCH --nodes=2\n#SBATCH --gpus-per-node=8\n"

    found = facts(f"{lines}srun --nodes=1 -w $HEAD {RUN}")

    assert found["allocation.nodes"] == 2


def test_torchrun_in_srun_is_for_one_node_unless_it_is_told():
    lines = "#SBATCH --nodes=2\n#SBATCH --gpus-per-node=8\n"
    (launch,) = find_launches(read_script(f"{lines}srun torchrun train.py --lr_x 1\n", "job.sh"))

    assert "nnodes" not in {item.name for item in launch.launcher}
    assert {item.kind: item.value for item in allocation_facts(launch)}["allocation.nodes"] == 2


@pytest.mark.parametrize(
    ("options", "tasks"),
    [
        ("--nodes=1 --ntasks=1", None),
        ("--ntasks=2", 1),
        ("--ntasks=16", 8),
        ("--ntasks=$N", None),
        ("--ntasks-per-node=1", 1),
        ("", 8),
    ],
)
def test_the_tasks_of_a_step_are_those_srun_is_told(options, tasks):
    lines = "#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=8\n"

    found = facts(
        f"{lines}srun {options} torchrun --nproc-per-node 8 {RUN.removeprefix('python ')}"
    )

    assert found.get("allocation.tasks_per_node") == tasks


@given(st.text(max_size=60))
def test_any_text_is_read_without_raising(text):
    for found in (amount_gib(text), device_count(text)):
        assert found is None or found >= 0
