"""Containers, schedulers and environments in front of the program."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.launch.find import find_launches
from trainrx.model.job import RawLaunch
from trainrx.shell import read_script

_WORDS = """
nohup env sudo docker run exec -e A=1 kubectl -- srun -N 2 --export=NONE mpirun -np -x ray job
submit --runtime-env-json {} torchrun accelerate launch deepspeed -i a:0@b: -m python uv conda
timeout 10 x.py train.py swift sft --lr 1 $X $ARGS sbatch --wrap 'swift_sft' numactl -S pdb
compose apptainer image.sif --env B=2,C --map-by ppr:8:node - = '' --=
"""


def launch(text: str) -> RawLaunch:
    (found,) = find_launches(read_script(text, "launch.sh"))
    return found


def told(found: RawLaunch) -> dict[str, tuple[str, ...] | None]:
    return {item.name: item.values for item in found.launcher}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("env A=1 B='x y' swift sft", {"A": "1", "B": "x y"}),
        ("A=0 env A=1 swift sft", {"A": "1"}),
        ("sudo -E A=1 swift sft", {"A": "1"}),
        ("mpirun -np 2 -x A=1 -x B python train.py", {"A": "1"}),
        ("docker run -e A=1 image swift sft", {"A": "1"}),
        ("env A=$RANK swift sft", {"A": None}),
        ("export A=1 B=2; env -u A swift sft", {"B": "2"}),
        ("export A=1; env -i B=2 swift sft", {"B": "2"}),
        ("export A=1; sudo swift sft", {"A": None}),
        ("export A=1 B=2; sudo --preserve-env=A swift sft", {"A": "1", "B": None}),
        ("export A=1; sudo -E swift sft", {"A": "1"}),
        ("export A=1; docker run -e B=2 image swift sft", {"B": "2"}),
        ("export A=1 C=3; docker run -e A -e B=2 image swift sft", {"A": "1", "B": "2"}),
        ("export A=1; kubectl exec pod -- swift sft", {}),
        (
            "export A=1; apptainer exec --env B=2,C=3 x.sif swift sft",
            {"A": "1", "B": "2", "C": "3"},
        ),
        ("export A=1; apptainer exec --cleanenv x.sif swift sft", {}),
        ("export A=1; srun --export=B=2 swift sft", {"B": "2"}),
        ("export A=1; srun --export=ALL,B=2 swift sft", {"A": "1", "B": "2"}),
        ("A=1 mpirun -genv B 2 python train.py", {"A": "1", "B": "2"}),
        (
            """ray job submit --runtime-env-json='{"env_vars": {"A": "1"}}' -- swift sft""",
            {"A": "1"},
        ),
        (
            'ray job submit --runtime-env-json "{\\"env_vars\\":{\\"A\\":\\"$X\\"}}" -- trl sft a',
            {"A": None},
        ),
    ],
)
def test_variables_a_wrapper_sets_reach_the_program(text, expected):
    assert {item.name: item.value for item in launch(text).env} == expected


def test_a_container_is_kept_with_its_limits():
    found = launch(
        "docker run --gpus all --shm-size=16g --ipc=host -m 64g --ulimit memlock=-1"
        " -v /a:/b --env-file x.env repo/swift:3.2 swift sft --lr 1"
    )

    assert [(item.name, item.values) for item in found.container] == [
        ("image", ("repo/swift:3.2",)),
        ("gpus", ("all",)),
        ("shm_size", ("16g",)),
        ("ipc", ("host",)),
        ("memory", ("64g",)),
        ("ulimit", ("memlock=-1",)),
        ("volume", ("/a:/b",)),
        ("env_file", ("x.env",)),
    ]
    assert not found.env_complete


def test_an_entrypoint_of_a_container_is_the_program():
    found = launch("docker run --entrypoint torchrun image --nproc_per_node 2 t_train.py --a 1")

    assert told(found) == {"nproc_per_node": ("2",)}


def test_a_shell_inside_a_container_belongs_to_it():
    found = launch("docker run --shm-size 8g image bash -c 'A=1 swift sft --lr 1'")

    assert {item.name: item.values for item in found.container} == {
        "image": ("image",),
        "shm_size": ("8g",),
    }
    assert {item.name: item.value for item in found.env} == {"A": "1"}


def test_sbatch_lines_hold_for_what_srun_starts():
    text = "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\n#SBATCH --gres=gpu:8\n"
    found = launch(f"{text}srun torchrun --nnodes=$SLURM_NNODES t_train.py")

    assert told(found) == {"nnodes": ("2",), "ntasks_per_node": ("1",), "gres": ("gpu:8",)}
    assert found.launcher[0].origin.line == 2


def test_sbatch_lines_are_only_an_allocation_without_srun():
    found = launch("#SBATCH --nodes=2\ntorchrun --nproc_per_node 8 t_train.py")

    assert told(found) == {"nproc_per_node": ("8",)}
    assert [(item.name, item.values) for item in found.container] == [("slurm_nnodes", ("2",))]


def test_the_command_line_of_sbatch_wrap_is_read():
    found = launch("export A=1\nsbatch -N 2 --gres gpu:8 --wrap 'B=2 srun swift sft --lr 1'")

    assert (found.command, found.origin.line) == ("sft", 2)
    assert {item.name: item.value for item in found.env} == {"A": "1", "B": "2"}
    assert {item.name: item.values for item in found.container} == {
        "slurm_nnodes": ("2",),
        "slurm_gres": ("gpu:8",),
    }


def test_a_command_typed_into_tmux_is_read():
    found = launch("tmux new-session -d -s run 'swift sft --lr 1'")

    assert [item.name for item in found.args] == ["lr"]


@given(st.lists(st.sampled_from(_WORDS.split()), max_size=14))
def test_any_order_of_words_is_read(words):
    for found in find_launches(read_script(" ".join(words), "launch.sh")):
        assert found.origin.line == 1
        assert found.job >= 1
