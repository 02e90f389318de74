"""Megatron-LM, its forks and Megatron-Bridge: what starts them, and what is read of it.

The scripts are made after examples/gpt3/train_gpt3_175b_distributed.sh of NVIDIA/Megatron-LM and
scripts/training/README.md of NVIDIA-NeMo/Megatron-Bridge.
"""

import pytest

from trainrx.api import inspect_launch
from trainrx.launch.find import find_launches
from trainrx.model.inspection import InspectedJob
from trainrx.shell import read_script

PRETRAIN = """\
GPUS_PER_NODE=8
NUM_NODES=2
WORLD=(--nproc_per_node $GPUS_PER_NODE --nnodes $NUM_NODES --master_addr localhost)
MODEL=(--num-layers 24 --hidden-size 1024 --num-attention-heads 16 --seq-length 2048)
TRAINING=(--micro-batch-size 2 --global-batch-size 256 --train-iters 1000 --bf16)
PARALLEL=(--tensor-model-parallel-size 4 --pipeline-model-parallel-size 2)
torchrun ${WORLD[@]} pretrain_gpt.py ${MODEL[@]} ${TRAINING[@]} ${PARALLEL[@]}
"""
RECIPE = """\
MBS=2
uv run python -m torch.distributed.run --nproc_per_node=8 scripts/training/run_recipe.py \\
    --recipe qwen3_8b_finetune_config \\
    checkpoint.pretrained_checkpoint=/models/Qwen3-8B \\
    model.seq_length=4096 \\
    train.global_batch_size=32 \\
    train.micro_batch_size=$MBS \\
    model.tensor_model_parallel_size=2 \\
    model.pipeline_model_parallel_size=1
"""


def _job(text: str) -> InspectedJob:
    return inspect_launch(cmd=text).jobs[0]


def _facts(job: InspectedJob) -> dict[str, object]:
    return {item.name: item.value for item in job.facts}


def test_the_batches_of_megatron_lm_are_told() -> None:
    job = _job(PRETRAIN)

    facts = _facts(job)

    assert job.framework == "megatron-lm"
    assert facts["hardware.gpus"] == 16
    assert facts["batch.effective"] == 256
    assert facts["parallel.data_parallel"] == 2
    assert facts["train.grad_accum"] == 64


def test_the_overrides_of_a_recipe_are_read() -> None:
    job = _job(RECIPE)

    facts = _facts(job)

    assert job.framework == "megatron-bridge"
    assert job.model == "/models/Qwen3-8B"
    assert facts["batch.effective"] == 32
    assert facts["train.grad_accum"] == 4


@pytest.mark.parametrize(
    ("command", "framework"),
    [
        ("torchrun pretrain_gpt.py $ARGS", "megatron-lm"),
        (
            "torchrun finetune.py --micro_batch_size 1 --global_batch_size 8 --seq_length 1024",
            "megatron-lm",
        ),
        ("torchrun train.py --micro_batch_size 1 --learning_rate 1e-5", ""),
        ("python run_recipe.py --steps 3", ""),
        ("torchrun run.py train.train_iters=5 train.micro_batch_size=1", "megatron-bridge"),
    ],
)
def test_a_program_is_known_by_its_name_and_its_arguments(command: str, framework: str) -> None:
    found = find_launches(read_script(command + "\n", "launch.sh"))

    assert [launch.framework for launch in found] == [framework]
