"""Commands that hand a command line to a cluster, and directives of other batch systems."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.launch.find import find_launches
from trainrx.launchers.allocation import allocation_facts
from trainrx.launchers.batch import asked_of
from trainrx.shell import read_script

RUN = "swift sft --model m --lora_rank 8"
WORDS = (
    "dlc submit arena bsub runai torchx enroot run start dist.ddp -j 2x8 --script train.py -- -n 8 "
    "-gpu num=4 --command --gpus --image x=1 -e A=1 '' - swift sft --lr 1 $X 'swift sft --lr 1'"
)


def launched(text):
    (found,) = find_launches(read_script(text, "job.sh"))
    return found


def told(args):
    return {arg.name: None if arg.values is None else arg.values[-1] for arg in args}


@pytest.mark.parametrize(
    ("text", "container"),
    [
        (
            f"dlc create job --worker_count=2 --worker_gpu 8 --worker_image a --command '{RUN}'",
            {"replicas": "2", "gpus": "8", "image": "a", "shm_size": None},
        ),
        (
            f'dlc submit pytorchjob --name=x --worker_shared_memory=9Gi --command="{RUN}"',
            {"shm_size": "9Gi"},
        ),
        (
            f'arena submit pytorch --name=x --gpus=8 --workers=2 --image=swift "{RUN}"',
            {"gpus": "8", "replicas": "2", "image": "swift", "shm_size": None},
        ),
        (f'bsub -n 8 -gpu "num=4:mode=exclusive_process" -q gpu "{RUN}"', {"gpus": "4"}),
        (f"bsub -q gpu {RUN}", {}),
        (
            f"runai submit x -i swift -g 4 --large-shm --command -- {RUN}",
            {"image": "swift", "gpus": "4", "shm_size": None},
        ),
        (f"enroot start --rw -e A=1 swift {RUN}", {"container_image": "swift"}),
    ],
)
def test_what_is_handed_over_is_the_launch_and_the_rest_what_it_gets(text, container):
    found = launched(text)

    assert (found.command, told(found.args)) == ("sft", {"model": "m", "lora_rank": "8"})
    assert told(found.container) == container


@pytest.mark.parametrize(
    ("text", "program", "launcher"),
    [
        (
            "torchx run -s slurm dist.ddp -j 2x8 --script train.py -- --seed 1",
            "train.py",
            {"nnodes": "2", "nproc_per_node": "8"},
        ),
        (
            "torchx run dist.ddp -j 4 -m trl.cli -- sft --model x",
            "trl.cli",
            {"nnodes": "1", "nproc_per_node": "4"},
        ),
    ],
)
def test_torchx_says_nodes_and_processes(text, program, launcher):
    found = launched(text)

    assert (found.program, told(found.launcher)) == (program, launcher)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (
            "#PBS -l select=2:ncpus=64:ngpus=8:mem=500gb",
            {
                "allocation.nodes": 2,
                "allocation.gpus_per_node": 8,
                "hardware.host_ram_gib": 500.0,
            },
        ),
        ("#PBS -l nodes=2:ppn=32:gpus=1", {"allocation.nodes": 2, "allocation.gpus_per_node": 1}),
        ("#PBS -l select=1:ngpus=8+1:ngpus=4", {}),
        ('#BSUB -gpu "num=4:mode=shared"', {"allocation.gpus_per_node": 4}),
        ('#BSUB -gpu "num=4/task"', {}),
        ("#$ -l gpu=4", {"allocation.gpus_per_node": 4}),
    ],
)
def test_directives_of_other_batch_systems_are_read(line, found):
    launch = launched(f"#!/bin/bash\n{line}\n{RUN}\n")

    facts = {item.kind: (item.value, item.origins[0].line) for item in allocation_facts(launch)}

    assert facts == {kind: (value, 2) for kind, value in found.items()}


@given(st.sampled_from(["#PBS", "#BSUB", "#$"]), st.text(max_size=10), st.text(max_size=80))
def test_any_directive_is_read_without_raising(sign, name, value):
    for option in (name, "l", "gpu"):
        assert all(isinstance(text, str) for _, text in asked_of(sign, option, value))


@given(st.lists(st.sampled_from(WORDS.split()), max_size=14))
def test_any_order_of_words_is_read(words):
    for found in find_launches(read_script(" ".join(words), "job.sh")):
        assert found.origin.line == 1
