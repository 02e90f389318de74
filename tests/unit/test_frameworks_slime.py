"""slime and miles: their launch, their names, and what is said where names are not known.

The launch is of the shape of scripts/run-*.sh (THUDM/slime v0.3.1), cut short.
"""

from __future__ import annotations

from textwrap import dedent

import pytest

from trainrx import api
from trainrx.catalog.framework_choice import read_framework
from trainrx.catalog.spell import spell
from trainrx.knowledge.load import load
from trainrx.launch.find import find_launches
from trainrx.launch.resolve import resolve
from trainrx.model.facts import Facts, Scalar
from trainrx.shell import read_script

LAUNCH = dedent(
    """\
    CKPT_ARGS=(
       --hf-checkpoint /models/Qwen3-4B
       --save-interval 20
    )
    ROLLOUT_ARGS=(
       --prompt-data /data/math.jsonl
       --num-rollout 300
       --rollout-batch-size 32
       --n-samples-per-prompt 8
       --rollout-max-response-len 8192
       --global-batch-size 256
    )
    PERF_ARGS=(
       --tensor-model-parallel-size 2
       --recompute-granularity full
       --use-dynamic-batch-size
       --max-tokens-per-gpu 9216
    )
    ray job submit --address="http://127.0.0.1:8265" \\
       -- python3 train.py \\
       --actor-num-nodes 1 \\
       --actor-num-gpus-per-node 8 \\
       --colocate \\
       --sglang-mem-fraction-static 0.7 \\
       ${CKPT_ARGS[@]} \\
       ${ROLLOUT_ARGS[@]} \\
       ${PERF_ARGS[@]}
    """
)
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
SHORT = "python3 train.py --hf-checkpoint a --num-rollout 3"


def test_a_launch_is_told_by_its_arguments() -> None:
    launch = find_launches(read_script(LAUNCH, "run.sh"))[0]

    found = resolve(launch, params=load().params, versions={})

    values = {name: setting.value for name, setting in found.settings.items()}
    assert (launch.framework, Facts(found.facts).text("launch.task")) == ("slime", "grpo")
    assert (values["rlhf.prompts_per_step"], values["rlhf.num_generations"]) == (32, 8)
    assert (values["train.max_tokens_per_gpu"], values["train.dynamic_batch"]) == (9216, True)
    assert (values["parallel.processes_per_node"], values["parallel.tensor"]) == (8, 2)
    assert (values["vllm.share"], values["vllm.mode"]) == (0.7, "colocate")
    assert values["megatron.recompute"] == "full"


@pytest.mark.parametrize(
    ("command", "framework"),
    [
        ("python3 miles/train.py --hf-checkpoint a --num-rollout 3", "miles"),
        ("python3 train_async.py --hf-checkpoint a --num-rollout 3", "slime"),
        ("python3 /root/slime/train.py --micro-batch-size 1", "slime"),
        (f"{SHORT} --use-miles-router", "miles"),
        (f"{SHORT} --lora-rank 16", "miles"),
        (f"{SHORT} --rollout-function-path miles.rollout.sft_rollout.generate_rollout", "miles"),
        (f"{SHORT} --save /x/miles", "slime"),
        ("python3 train.py --num-rollout 3 --lora-rank 16", ""),
        ("python3 train.py --hf-checkpoint a", ""),
        ("python3 train.py --actor-num-gpus-per-node 8 --n-samples-per-prompt 8", ""),
    ],
)
def test_two_names_of_its_own_tell_it(command: str, framework: str) -> None:
    found = find_launches(read_script(f"{command}\n", "run.sh"))

    assert [item.framework for item in found] == [framework]


def test_supervised_training_is_told_by_its_loss() -> None:
    launch = find_launches(read_script(f"{SHORT} --loss-type sft_loss\n", "x"))[0]

    found = resolve(launch, params=load().params, versions={})

    assert Facts(found.facts).text("launch.task") == "sft"


@pytest.mark.parametrize("framework", ["slime", "miles"])
@pytest.mark.parametrize(
    ("canonical", "value", "text"),
    [
        ("train.micro_batch", 1, "--micro-batch-size 1"),
        ("train.max_tokens_per_gpu", 4608, "--max-tokens-per-gpu 4608"),
        ("rlhf.prompts_per_step", 16, "--rollout-batch-size 16"),
        ("rlhf.num_generations", 4, "--n-samples-per-prompt 4"),
        ("vllm.share", 0.5, "--sglang-mem-fraction-static 0.5"),
        ("vllm.tensor_parallel", 2, "--rollout-num-gpus-per-engine 2"),
        ("megatron.recompute", "full", "--recompute-granularity full"),
        ("parallel.optimizer_offload", True, "--optimizer-cpu-offload"),
    ],
)
def test_a_change_is_spelled_in_their_names(
    framework: str, canonical: str, value: Scalar, text: str
) -> None:
    made = spell(canonical, value, framework, None, load().params)

    assert made is not None
    assert made.text == text


@pytest.mark.parametrize("name", ["slime", "miles"])
def test_a_named_program_spells_the_changes(tmp_path, name: str) -> None:
    log = tmp_path / "train.log"
    log.write_text(OOM)

    answer = api.diagnose(logs=[log], framework=name, note="OOM in the actor's update")

    changes = [c for cause in answer.causes for fix in cause.fixes for c in fix.changes]
    assert answer.job.framework == name
    assert any(change.spelled.startswith("--recompute-granularity full") for change in changes)
    assert not any(change.spelled.startswith("--gradient_checkpointing") for change in changes)


@pytest.mark.parametrize("name", ["areal", "skyrl", "prime-rl", "open-instruct", "sglang"])
def test_names_of_others_are_said_to_be_unknown(tmp_path, name: str) -> None:
    log = tmp_path / "train.log"
    log.write_text(OOM)

    answer = api.diagnose(logs=[log], framework=name)

    notes = [note for cause in answer.causes for fix in cause.fixes for note in fix.notes]
    assert read_framework(name).fact().kind == "launch.package"
    assert any(f"what {name} calls its arguments is not known here" in note for note in notes)
    assert not any("say it: --framework" in note for note in notes)
