"""NeMo Automodel and NeMo RL from file to fix: memory, the edit in the file, checks of lint."""

from __future__ import annotations

import pytest

from trainrx import lint
from trainrx.api import fix_launch
from unit.test_frameworks_nemo import AUTOMODEL, RL, RUN

TORCHRUN = "torchrun --nnodes=1 --nproc-per-node"
FINETUNE = "examples/llm_finetune/finetune.py -c a.yaml"
ENGINE = "policy.generation.vllm_cfg"

OOM = "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.91 GiB. GPU 3 has"
OOM += " a total capacity of 79.11 GiB of which 2.59 GiB is free.\n"


def whole(text: str) -> str:
    """Give the file of a full tuning of 9B without checkpointing, with comments."""
    text = text.partition("peft:")[0] + "distributed:" + text.partition("distributed:")[2]
    text = text.replace("meta-llama/Llama-3.2-1B", "google/gemma-2-9b-it")
    text = text.replace("tp_size: 2", "tp_size: 1  # of 8")
    return text.replace("activation_checkpointing: true", "activation_checkpointing: false  # slow")


def test_a_key_is_changed_where_it_stands_in_the_file(tmp_path) -> None:
    config, log = tmp_path / "gemma.yaml", tmp_path / "train.log"
    config.write_text(whole(AUTOMODEL), encoding="utf-8")
    log.write_text(OOM, encoding="utf-8")

    answer = fix_launch(config=[config], logs=[log], gpu="H100", gpus=8, nodes=1)

    plan = next(item for item in answer.proposals if item.kind == "plan")
    after = plan.patched.files[0].after
    assert answer.job.framework == "nemo-automodel"
    assert "  activation_checkpointing: true  # slow\n" in after
    assert [line for line in after.splitlines() if "#" in line and "of 8" in line]
    assert plan.predicted.after_gib <= plan.predicted.limit_gib


def test_an_override_is_added_behind_the_command(tmp_path) -> None:
    script, config, log = (tmp_path / name for name in ("run.sh", "base.yaml", "train.log"))
    script.write_text(
        "uv run python examples/run_grpo.py --config base.yaml cluster.gpus_per_node=8 \\\n"
        "  policy.model_name=Qwen/Qwen2.5-7B policy.max_total_sequence_length=16384\n",
        encoding="utf-8",
    )
    config.write_text(RL, encoding="utf-8")
    log.write_text(OOM, encoding="utf-8")

    answer = fix_launch(cmd=script, logs=[log], gpu="H100")

    plan = next(item for item in answer.proposals if item.kind == "plan")
    assert answer.job.framework == "nemo-rl"
    assert any(c.spelled.startswith("policy.") for c in plan.changes)
    assert any(f"{c.param}={c.to}" in plan.patched.files[0].after for c in plan.changes)


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        (
            f"{TORCHRUN}=8 {FINETUNE} --distributed.tp_size 3",
            "automodel-model-parts-do-not-divide-gpus",
        ),
        (
            f"{TORCHRUN}=6 {FINETUNE} --distributed.tp_size 1",
            "automodel-global-batch-not-multiple",
        ),
        (
            f"{RUN} base.yaml cluster.gpus_per_node=8 {ENGINE}.tensor_parallel_size=3",
            "nemo-rl-engine-parts-do-not-divide-gpus",
        ),
    ],
)
def test_lint_says_what_the_program_would_refuse(tmp_path, command: str, rule: str) -> None:
    (tmp_path / "run.sh").write_text(f"{command}\n", encoding="utf-8")
    (tmp_path / "a.yaml").write_text(AUTOMODEL, encoding="utf-8")
    (tmp_path / "base.yaml").write_text(RL, encoding="utf-8")

    found = lint([tmp_path / "run.sh"], versions={"nemo-rl": "0.7.0", "nemo-automodel": "0.5.0"})

    assert rule in {item.rule for item in found}


def test_no_name_is_called_unknown(tmp_path) -> None:
    (tmp_path / "run.sh").write_text(
        "uv run python examples/run_grpo.py --config base.yaml +policy.some.new_key=1\n"
        "torchrun --nproc-per-node=8 examples/llm_finetune/finetune.py -c a.yaml --model.new 1\n",
        encoding="utf-8",
    )
    (tmp_path / "a.yaml").write_text(AUTOMODEL, encoding="utf-8")
    (tmp_path / "base.yaml").write_text(RL, encoding="utf-8")

    found = lint([tmp_path / "run.sh"])

    assert not [item for item in found if "unknown" in item.rule]
