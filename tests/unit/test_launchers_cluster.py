from __future__ import annotations

import pytest

from trainrx.knowledge.load import load
from trainrx.launch.cards import cards_asked_for
from trainrx.launch.find import find_launches
from trainrx.launch.scripts import script_launches
from trainrx.launchers.cluster import card_asked_for
from trainrx.model.job import Input
from trainrx.shell import read_script

GPUS = load(launches=True).gpus
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


@pytest.mark.parametrize(
    ("label", "card"),
    [
        ("nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB", "A100-SXM4-80GB"),
        ("cloud.google.com/gke-accelerator: nvidia-h100-80gb", "H100-SXM-80GB"),
    ],
)
def test_a_pod_names_its_card_by_the_label_of_its_node(label, card):
    text = (
        f"apiVersion: v1\nkind: Pod\nspec:\n  nodeSelector: {{{label}}}\n  containers:\n"
        "    - {image: x, command: [swift, sft, --model, m]}\n"
    )
    ((launch,), _) = script_launches(Input(kind="script", name="pod.yaml", text=text), {})

    facts = {item.kind: item for item in cards_asked_for(launch, GPUS)}

    assert facts["hardware.gpu"].value == card
    assert facts["hardware.gpu"].origins[0].line == 4


@pytest.mark.parametrize(
    ("before", "reaches"),
    [
        ("", False),
        ("ray start --head --port 6379\n", True),
    ],
)
def test_cards_of_the_shell_are_those_of_a_ray_job_where_it_starts_the_cluster(
    before: str, reaches: bool
) -> None:
    text = (
        f"export CUDA_VISIBLE_DEVICES=0,1\nexport NCCL_DEBUG=INFO\n{before}"
        "ray job submit -- python3 -m openrlhf.cli.train_ppo_ray --pretrain Qwen/Qwen3-8B\n"
    )

    (launch,) = find_launches(read_script(text, "job.sh"))

    names = {item.name for item in launch.env}
    assert ("CUDA_VISIBLE_DEVICES" in names) == reaches
    assert "NCCL_DEBUG" in names
