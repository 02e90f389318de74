"""Wrappers and launchers in front of the program."""

from __future__ import annotations

import pytest

from trainrx.model.job import RawLaunch
from trainrx.parse.launch import find_launches
from trainrx.parse.shell import read_script


def launch(text: str) -> RawLaunch:
    (found,) = find_launches(read_script(text, "launch.sh"))
    return found


def told(found: RawLaunch) -> dict[str, tuple[str, ...] | None]:
    return {item.name: item.values for item in found.launcher}


@pytest.mark.parametrize(
    "wrapper",
    [
        "nohup",
        "time",
        "time -p",
        "setsid",
        "sudo -E",
        "sudo -u bob",
        "env",
        "env -u HOME",
        "stdbuf -oL",
        "stdbuf -o L",
        "timeout 10h",
        "timeout -s KILL 10h",
        "numactl --cpunodebind=0 --membind=0",
        "numactl -N 0 -m 0",
        "nice -n 10",
        "taskset -c 0-7",
        "conda run -n swift --no-capture-output",
        "uv run",
        "uv run --with deepspeed",
        "poetry run",
        "singularity exec --nv -B /data:/data swift.sif",
        "docker run --rm --gpus all --name swift -v /a:/b image:tag",
        "srun --nodes 2 --exclusive",
        "srun -N2 -n 2 --container-image x",
        "nsys profile -o out",
        "nohup time env",
        "exec",
        "ray job submit --address http://x:8265 --working-dir . --",
    ],
)
def test_wrappers_are_taken_off(wrapper):
    found = launch(f"{wrapper} swift sft --lr 1 > log 2>&1 &")

    assert (found.framework, found.command) == ("ms-swift", "sft")
    assert [(item.name, item.values) for item in found.args] == [("lr", ("1",))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("env A=1 B='x y' swift sft", {"A": "1", "B": "x y"}),
        ("A=0 env A=1 swift sft", {"A": "1"}),
        ("sudo -E A=1 swift sft", {"A": "1"}),
        ("mpirun -np 2 -x A=1 -x B python train.py", {"A": "1"}),
        ("docker run -e A=1 image swift sft", {"A": "1"}),
        ("env A=$RANK swift sft", {"A": None}),
    ],
)
def test_variables_a_wrapper_sets_reach_the_program(text, expected):
    assert {item.name: item.value for item in launch(text).env} == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "torchrun --nproc_per_node=8 --nnodes 2 --node-rank 0 --master_addr h t_train.py",
            {
                "nproc_per_node": ("8",),
                "nnodes": ("2",),
                "node_rank": ("0",),
                "master_addr": ("h",),
            },
        ),
        (
            "torchrun --standalone --rdzv_endpoint=h:1 t_train.py",
            {"standalone": (), "rdzv_endpoint": ("h:1",)},
        ),
        (
            "python -m torch.distributed.launch --use_env --nproc_per_node 2 t_train.py",
            {"use_env": (), "nproc_per_node": ("2",)},
        ),
        (
            "python3 -u -m torch.distributed.run --master-port 2950 -m swift.cli.sft",
            {"master_port": ("2950",), "m": ()},
        ),
        (
            "accelerate launch --multi_gpu --num_processes 4 --num_machines=2 t_train.py",
            {"multi_gpu": (), "num_processes": ("4",), "num_machines": ("2",)},
        ),
        (
            "accelerate launch --machine_rank 1 --main_process_ip h t_train.py",
            {"node_rank": ("1",), "master_addr": ("h",)},
        ),
        (
            "accelerate launch --main_process_port 1 --config_file a.yaml t_train.py",
            {"master_port": ("1",), "config_file": ("a.yaml",)},
        ),
        (
            "accelerate launch --use_deepspeed --deepspeed_config_file ds.json t_train.py",
            {"use_deepspeed": (), "deepspeed_config_file": ("ds.json",)},
        ),
        (
            "deepspeed --num_gpus=4 --num_nodes 2 --master_port 1 t_train.py",
            {"num_gpus": ("4",), "nnodes": ("2",), "master_port": ("1",)},
        ),
        ("deepspeed -i localhost:0,1 t_train.py", {"include": ("localhost:0,1",)}),
        ("deepspeed --include localhost:0,1 t_train.py", {"include": ("localhost:0,1",)}),
        (
            "mpirun -np 8 --hostfile h python t_train.py",
            {"num_processes": ("8",), "hostfile": ("h",)},
        ),
        ("srun -N 2 --ntasks-per-node=1 swift sft", {"nnodes": ("2",), "ntasks_per_node": ("1",)}),
        ("torchrun --nnodes $NNODES t_train.py", {"nnodes": None}),
        ("torchrun --nnodes=$NNODES t_train.py", {"nnodes": None}),
    ],
)
def test_what_a_launcher_is_told_is_kept_under_common_names(text, expected):
    assert told(launch(text + " --a 1")) == expected


def test_launcher_options_are_not_arguments_of_the_program():
    found = launch("torchrun --nproc_per_node 2 t_train.py --a 1 --nnodes 3")

    assert [item.name for item in found.args] == ["a", "nnodes"]


def test_launcher_options_cite_their_line():
    found = launch("torchrun \\\n  --nproc_per_node 2 \\\n  t_train.py")

    origin = found.launcher[0].origin
    assert (origin.source, origin.line, origin.text) == (
        "launch.sh",
        2,
        "--nproc_per_node 2 \\",
    )


def test_a_launcher_of_python_is_looked_through():
    found = launch("torchrun --no_python python -m swift.cli.sft --lr 1")

    assert (found.framework, [item.name for item in found.args]) == ("ms-swift", ["lr"])


@pytest.mark.parametrize(
    "text",
    [
        "torchrun",
        "torchrun --nproc_per_node",
        "nohup",
        "env A=1",
        "srun",
        "python",
        "python -m",
        "ray",
    ],
)
def test_a_command_that_ends_early_is_no_launch(text):
    assert find_launches(read_script(text, "launch.sh")) == ()
