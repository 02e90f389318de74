"""Wrappers and launchers in front of the program."""

from __future__ import annotations

import pytest

from trainrx.launch.find import find_launches
from trainrx.model.job import RawLaunch
from trainrx.shell import read_script


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
        "sudo --preserve-env=A,B",
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
        "singularity exec --nv -B /data:/data swift.sif",
        "docker run --rm --gpus all --name swift -v /a:/b image:tag",
        "srun --nodes 2 --exclusive",
        "srun -N2 -n 2 --container-image x",
        "nsys profile -o out",
        "nsys profile --trace=cuda,nvtx -w true",
        "numactl --interleave all",
        "taskset 0xff",
        "uv run --no-sync",
        "pixi run -e gpu",
        "poetry run",
        "conda run --live-stream -p /opt/env",
        "podman run --device nvidia.com/gpu=all -it localhost/swift:3",
        "docker run -itd --ipc host --ulimit memlock=-1 --ulimit stack=67108864 a/b:c",
        "docker exec -it -w /work box",
        "docker compose run --rm trainer",
        "docker-compose -f a.yml run --rm trainer",
        "kubectl exec -it pod-0 -n team -c main --",
        "kubectl exec pod-0 --",
        "kubectl run job --image=swift:3 --restart=Never --",
        "apptainer exec --nv --cleanenv --bind /data swift.sif",
        "singularity run --nv swift.sif",
        "srun --mpi=pmix --container-image=x --container-mounts /a:/b",
        "mpirun -np 1 --allow-run-as-root -H a,b -x PATH",
        "horovodrun -np 4 -H a:4",
        "command",
        "xargs -n 1",
        "sudo -E docker run --rm image",
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
        (
            "deepspeed -i localhost:0,1 t_train.py",
            {"include": ("localhost:0,1",), "num_gpus": ("2",)},
        ),
        (
            "deepspeed --include worker-0:0,1@worker-1:2,3 t_train.py",
            {"include": ("worker-0:0,1@worker-1:2,3",), "num_gpus": ("2",), "nnodes": ("2",)},
        ),
        (
            "deepspeed --include localhost:0 --num_gpus 1 t_train.py",
            {"include": ("localhost:0",), "num_gpus": ("1",)},
        ),
        (
            "deepspeed --hostfile=h --exclude worker-1:0 t_train.py",
            {"hostfile": ("h",), "exclude": ("worker-1:0",)},
        ),
        (
            "torchrun --nnodes 1:4 --nproc-per-node gpu --rdzv_backend=c10d --rdzv_id x t_train.py",
            {
                "nnodes": ("1:4",),
                "nproc_per_node": ("gpu",),
                "rdzv_backend": ("c10d",),
                "rdzv_id": ("x",),
            },
        ),
        (
            "torchrun $DISTRIBUTED_ARGS t_train.py",
            {"nproc_per_node": None, "nnodes": None},
        ),
        (
            "torchrun --nproc_per_node 2 $MORE_ARGS -m swift.cli.sft",
            {"nproc_per_node": ("2",), "m": (), "nnodes": None},
        ),
        (
            "accelerate launch --dynamo_use_regional_compilation --gpu_ids all t_train.py",
            {"dynamo_use_regional_compilation": (), "gpu_ids": ("all",)},
        ),
        ("accelerate-launch --mixed_precision bf16 t_train.py", {"mixed_precision": ("bf16",)}),
        (
            "mpirun -np 16 -npernode 8 --mca btl tcp,self python t_train.py",
            {"num_processes": ("16",), "nproc_per_node": ("8",)},
        ),
        ("mpirun --map-by ppr:4:node python t_train.py", {"nproc_per_node": ("4",)}),
        (
            "srun -N2 --ntasks-per-node 8 --gres=gpu:8 python t_train.py",
            {
                "nnodes": ("2",),
                "ntasks_per_node": ("8",),
                "gres": ("gpu:8",),
                "nproc_per_node": ("8",),
            },
        ),
        (
            "ray job submit --entrypoint-num-gpus 2 -- python t_train.py",
            {"entrypoint_num_gpus": ("2",)},
        ),
        (
            "mpirun -np 8 --hostfile h python t_train.py",
            {"num_processes": ("8",), "hostfile": ("h",)},
        ),
        ("srun -N 2 --ntasks-per-node=1 swift sft", {"nnodes": ("2",), "ntasks_per_node": ("1",)}),
        ("torchrun --nnodes $NNODES t_train.py", {"nnodes": None}),
        ("dlrover-run --nnodes 1:2 t_train.py", {"nnodes": ("1:2",)}),
        ("torchrun --nnodes=$NNODES t_train.py", {"nnodes": None}),
    ],
)
def test_what_a_launcher_is_told_is_kept_under_common_names(text, expected):
    assert told(launch(text + " --a 1")) == expected


@pytest.mark.parametrize(
    "front",
    [
        "python -m cProfile -o out",
        "python -m debugpy --listen 5678 --wait-for-client",
        "python -m pdb",
        "python -Xfrozen_modules=off",
        "python -um torch.distributed.run --nproc_per_node 1",
        "uv run --with deepspeed",
        "uv run python -u",
        "mpirun -np 1 python",
    ],
)
def test_what_runs_a_script_is_looked_through(front):
    found = launch(f"{front} my_train.py --lr 1")

    assert [item.name for item in found.args] == ["lr"]


def test_a_module_run_by_uv_is_found():
    assert launch("uv run -m swift.cli.sft --lr 1").command == "sft"


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
        "ray job submit",
        "docker run",
        "docker run image",
        "docker compose run trainer",
        "kubectl exec pod --",
        "apptainer exec x.sif",
        "srun -N 2",
        "sbatch --wrap",
        "sbatch train.sh",
        "conda activate x",
        "conda",
        "uv pip install deepspeed",
        "accelerate",
        "python -m pdb",
        "torchrun $ARGS",
        "mpirun -np",
        "env -S",
    ],
)
def test_a_command_that_ends_early_is_no_launch(text):
    assert find_launches(read_script(text, "launch.sh")) == ()
