"""What the launches of a script do for each other, and which are one job."""

from __future__ import annotations

import pytest

from trainrx.launch.find import find_launches
from trainrx.model.job import RawLaunch
from trainrx.shell import read_script


def launches(text: str) -> tuple[RawLaunch, ...]:
    return find_launches(read_script(text, "launch.sh"))


def roles(text: str) -> list[str]:
    return [launch.role for launch in launches(text)]


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("swift sft --model x", "trainer"),
        ("swift rollout --model x", "rollout"),
        ("swift infer --model x", "inference"),
        ("swift deploy --model x", "inference"),
        ("swift eval --model x", "evaluation"),
        ("swift export --adapters x", "export"),
        ("swift export --to_cached_dataset true", "preparation"),
        ("megatron export --to_hf true", "export"),
        ("megatron sft --load x", "trainer"),
        ("llamafactory-cli train x.yaml", "trainer"),
        ("llamafactory-cli export x.yaml", "export"),
        ("llamafactory-cli chat x.yaml", "inference"),
        ("trl vllm-serve --model x", "rollout"),
        ("trl grpo --config x.yaml", "trainer"),
        ("python -m verl.trainer.main_ppo a=1", "trainer"),
        ("python -m verl.trainer.main_generation a=1", "inference"),
        ("python -m verl.trainer.main_eval a=1", "evaluation"),
        ("python -m openrlhf.cli.serve_rm --port 5000", "reward"),
        ("axolotl preprocess x.yml", "preparation"),
        ("axolotl merge-lora x.yml", "export"),
        ("vllm serve x", "inference"),
        ("torchrun evaluate_vqa.py --checkpoint x", "evaluation"),
        ("torchrun tools/infer.py --model x", "inference"),
        ("torchrun hf2mcore_qwen2.py --load x", "export"),
        ("torchrun preprocess_data.py --input x", "preparation"),
        ("torchrun t/data_prepare.py --gradient_accumulation_steps 2", "preparation"),
        ("torchrun prepare_and_train.py --gradient_accumulation_steps 2", "trainer"),
        ("torchrun data.py --gradient_accumulation_steps 2", "trainer"),
        ("torchrun pretrain_gpt.py --x 1", "trainer"),
        ("torchrun internvl_chat_finetune.py --num_train_epochs 1", "trainer"),
        ("torchrun x.py --num_train_epochs 1", "trainer"),
    ],
)
def test_the_role_of_a_launch_follows_from_its_command(text, role):
    assert roles(text) == [role]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "vllm serve Q --port 8001 &\nswift rlhf --vllm_mode server --vllm_server_port 8001",
            ["rollout", "trainer"],
        ),
        (
            "swift deploy --port 9000 &\nswift rlhf --teacher_model_server http://a:9000",
            ["teacher", "trainer"],
        ),
        (
            "vllm serve R --port 5000 &\npython -m openrlhf.cli.train_ppo --remote_rm_url http://a:5000",
            ["reward", "trainer"],
        ),
        (
            "swift deploy --model org/Skywork-Reward-V2 &\nswift rlhf --rlhf_type grpo",
            ["reward", "trainer"],
        ),
        (
            "vllm serve A --port 1111 &\nswift rlhf --vllm_server_port 2222",
            ["inference", "trainer"],
        ),
        ("vllm serve A\nswift rlhf --vllm_mode colocate", ["inference", "trainer"]),
        ("swift rollout --model x &\nswift rlhf --rlhf_type grpo", ["rollout", "trainer"]),
        ("swift deploy --model org/Skywork-Reward-V2", ["inference"]),
    ],
)
def test_a_server_is_named_by_what_the_trainer_says_of_it(text, expected):
    assert roles(text) == expected


def test_nodes_of_one_job_share_its_number():
    text = "\n".join(
        f"torchrun --nnodes 2 --node_rank {rank} --master_addr a t_train.py --lr 1"
        for rank in (0, 1)
    )

    assert [(one.job, one.launcher[1].values) for one in launches(text)] == [
        (1, ("0",)),
        (1, ("1",)),
    ]


def test_node_ranks_in_variables_count_as_well():
    text = "NODE_RANK=0 NNODES=2 swift sft --lr 1 &\nNODE_RANK=1 NNODES=2 swift sft --lr 1"

    assert [one.job for one in launches(text)] == [1, 1]


@pytest.mark.parametrize(
    "text",
    [
        "swift sft --lr 1\nswift sft --lr 2",
        "swift sft --lr 1\nswift sft --lr 1",
        "A=1 swift sft --lr 1\nA=2 swift sft --lr 1",
        "NODE_RANK=0 swift sft --lr 1\nNODE_RANK=0 swift sft --lr 1",
    ],
)
def test_other_launches_are_jobs_of_their_own(text):
    assert [one.job for one in launches(text)] == [1, 2]


def test_a_launch_that_differs_in_more_than_its_node_is_another_job():
    text = "NODE_RANK=0 swift sft --lr 1\nNODE_RANK=1 swift sft --lr 2"

    assert [one.job for one in launches(text)] == [1, 2]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("swift sft –-lr 1", "en-dash-flag"),
        ("swift sft —lr 1", "en-dash-flag"),
        ("swift sft --system “hello”", "full-width-character"),
        ("swift sft --system=‘hello’", "full-width-character"),
        ("CMD='swift sft –-lr 1'\neval $CMD", "en-dash-flag"),
    ],
)
def test_characters_that_look_like_ascii_are_reported_once(text, name):
    (found,) = launches(text)

    assert [defect.id for defect in found.defects] == [name]


@pytest.mark.parametrize(
    "text", ["swift sft --system '你好，“世界”。'", "swift sft --system 'a – b'", "swift sft --x é"]
)
def test_other_characters_are_values_like_any(text):
    (found,) = launches(text)

    assert found.defects == ()
