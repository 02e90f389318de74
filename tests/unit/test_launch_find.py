"""Which framework and command a launch is."""

from __future__ import annotations

import pytest

from trainrx.launch.find import find_launches, looks_like_launch
from trainrx.model.job import RawLaunch
from trainrx.shell import read_script

_MS_SWIFT = [
    ("swift sft --model x", "sft"),
    ("swift pt --model x", "pt"),
    ("swift rlhf --rlhf_type grpo", "rlhf"),
    ("swift web-ui", "web-ui"),
    ("swift rollout --model x", "rollout"),
    ("swift dpo --model_type qwen", "dpo"),
    ("megatron sft --load x", "megatron sft"),
    ("megatron rlhf --rlhf_type dpo", "megatron rlhf"),
    ("python -m swift.cli.sft --model x", "sft"),
    ("torchrun --nproc_per_node 2 /opt/swift/cli/rlhf.py --model x", "rlhf"),
    ("torchrun swift/cli/_megatron/sft.py --load x", "megatron sft"),
    ("python -m swift.cli.main sft --model x", "sft"),
    ("python llm_sft.py --model_type qwen", "sft"),
    ("/opt/conda/bin/swift sft --model x", "sft"),
    ("python -m swift.cli._megatron.main rlhf --load x", "megatron rlhf"),
]
_LLAMAFACTORY = [
    ("llamafactory-cli train x.yaml", "train"),
    ("lmf train x.yaml", "train"),
    ("llamafactory-cli export x.yaml", "export"),
    ("python src/train.py x.yaml", "train"),
    ("torchrun --nproc_per_node 2 src/train.py --stage sft", "train"),
    ("deepspeed --num_gpus 2 src/train_bash.py --stage sft", "train"),
    ("python /w/train.py --stage sft --finetuning_type lora", "train"),
    ("torchrun -m llamafactory.launcher x.yaml", "train"),
    ("python src/train_sft.py --finetuning_type lora", "train"),
    ("python -m llamafactory.cli train x.yaml", "train"),
    ("FORCE_TORCHRUN=1 NNODES=2 llamafactory-cli train x.yaml", "train"),
]
_OTHERS = [
    ("trl grpo --config x.yaml", "trl", "grpo"),
    ("trl vllm-serve --model x", "trl", "vllm-serve"),
    ("accelerate launch examples/scripts/dpo.py --beta 0.1", "trl", "dpo"),
    ("accelerate launch -m trl.scripts.sft --model x", "trl", "sft"),
    ("python3 -m verl.trainer.main_ppo data.train_batch_size=64", "verl", "ppo"),
    ("torchrun -m verl.trainer.fsdp_sft_trainer model.path=x", "verl", "sft"),
    ("python -m verl.trainer.main config=a.yaml", "easyr1", "ppo"),
    ("deepspeed --module openrlhf.cli.train_sft --max_len 1", "openrlhf", "sft"),
    ("python -m openrlhf.cli.train_ppo_ray --pretrain x", "openrlhf", "ppo-ray"),
    ("torchrun train_ppo.py --pretrain x --zero_stage 2", "openrlhf", "ppo"),
    ("axolotl train x.yml", "axolotl", "train"),
    ("python -m axolotl.cli.train x.yml", "axolotl", "train"),
    ("accelerate launch -m axolotl.cli.train x.yml", "axolotl", "train"),
    ("automodel finetune llm -c x.yaml", "nemo-automodel", "finetune"),
    ("automodel x.yaml --nproc-per-node 8 --peft.dim 16", "nemo-automodel", "finetune"),
    ("torchrun examples/llm_finetune/finetune.py -c x.yaml", "nemo-automodel", "finetune"),
    ("torchrun nemo_automodel/recipes/llm/kd.py -c x.yaml", "nemo-automodel", "kd"),
    ("torchrun -m nemo_automodel.cli.app x.yaml", "nemo-automodel", "finetune"),
    ("uv run python examples/run_grpo_math.py --config x.yaml policy.a=1", "nemo-rl", "grpo"),
    ("uv run examples/run_sft.py", "nemo-rl", "sft"),
    ("python run_vlm_grpo.py cluster.gpus_per_node=8", "nemo-rl", "grpo"),
    ("python examples/run_eval.py generation.num=1", "nemo-rl", "eval"),
    ("python scripts/run_sft.py recipes/x.yaml", "", "train"),
    ("vllm serve Qwen/Qwen2.5-7B --max-model-len 1", "vllm", "serve"),
    ("python -m vllm.entrypoints.openai.api_server --model x", "vllm", "serve"),
    ("torchrun run_clm.py --per_device_train_batch_size 1", "transformers", "train"),
    ("python finetune.py --num_train_epochs 3", "transformers", "train"),
    ("deepspeed train.py --zero_stage 2", "", "train"),
    ("torchrun pretrain_gpt.py --num-layers 2", "megatron-lm", "megatron pt"),
    ("python train_my_model.py --x 1", "", "train"),
    ("python -m verl.trainer.main_ppo --config-name=x +a.b=1", "verl", "ppo"),
    ("python -m verl.model_merger merge --backend fsdp", "verl", "model-merger"),
    ("python -m recipe.dapo.main_dapo data.n=1", "verl", "dapo"),
    ("python3 -m agent.run actor_rollout_ref.rollout.n=8 +data.x=1", "verl", "ppo"),
    ("python main.py +actor_rollout_ref.actor.strategy=fsdp2", "verl", "ppo"),
    ("python -m openrlhf.cli.serve_rm --reward_pretrain x", "openrlhf", "serve-rm"),
    ("python -m trl.scripts.vllm_serve --model x", "trl", "vllm-serve"),
    ("python -m axolotl.cli.preprocess x.yml", "axolotl", "preprocess"),
    ("axolotl vllm-serve x.yml", "axolotl", "vllm-serve"),
    ("python -m vllm.entrypoints.cli.main serve x", "vllm", "serve"),
    ("torchrun evaluate.py --checkpoint x", "", "eval"),
    ("torchrun $BASE/train.py --x 1", "", "train"),
    ("torchrun $SCRIPT --num_train_epochs 3", "transformers", "train"),
    ("python $BASE/finetune.py --num_train_epochs 3", "transformers", "train"),
    ("python infer.py --model_path x", "", "infer"),
    ("torchrun -m $MODULE_AND_ARGS", "", "train"),
    ("python tools/merge_lora.py --adapter_path x", "", "export"),
]


def launches(text: str) -> tuple[RawLaunch, ...]:
    return find_launches(read_script(text, "launch.sh"))


@pytest.mark.parametrize(("text", "command"), _MS_SWIFT)
def test_ms_swift_is_recognised(text, command):
    assert [(one.framework, one.command) for one in launches(text)] == [("ms-swift", command)]


@pytest.mark.parametrize(("text", "command"), _LLAMAFACTORY)
def test_llamafactory_is_recognised(text, command):
    assert [(one.framework, one.command) for one in launches(text)] == [("llamafactory", command)]


@pytest.mark.parametrize(("text", "framework", "command"), _OTHERS)
def test_other_frameworks_are_recognised(text, framework, command):
    assert [(one.framework, one.command) for one in launches(text)] == [(framework, command)]


@pytest.mark.parametrize(
    "text",
    [
        "pip install ms-swift",
        "swift build --configuration release",
        "python -c 'import torch'",
        "python tools/convert_dataset.py --input x",
        "python - < train.py",
        "cd train && ls",
        "accelerate config",
        "ray start --head",
        "echo swift sft",
        "$RUNNER --model x",
        "vllm bench latency",
        "trl env",
        "llamafactory-cli version",
        "python $SCRIPT --x 1",
        "python eval.py --verbose",
        "echo torchrun train.py",
        "axolotl fetch examples",
        "automodel --help",
    ],
)
def test_other_commands_are_no_launch(text):
    assert launches(text) == ()


@pytest.mark.parametrize("text", [line[0] for line in (*_MS_SWIFT, *_LLAMAFACTORY, *_OTHERS)])
def test_launches_look_like_launches(text):
    assert looks_like_launch(f"# my run\n  CUDA_VISIBLE_DEVICES=0 nohup {text}\n")


@pytest.mark.parametrize(
    "text",
    [
        "[INFO:swift] run sh: `/opt/bin/python -m torch.distributed.run`",
        "torch.OutOfMemoryError: CUDA out of memory.",
        "ms-swift==3.2.1\ntransformers==4.50.0",
        "model: Qwen/Qwen2.5-7B\nstage: sft",
        "MAX_PIXELS=602112\nNPROC_PER_NODE=8",
        "I ran swift and it hangs",
    ],
)
def test_other_texts_do_not_look_like_launches(text):
    assert not looks_like_launch(text)


def test_several_launches_of_a_script_are_found_in_order():
    found = launches(
        "CUDA_VISIBLE_DEVICES=0 swift rollout --model x &\n"
        "CUDA_VISIBLE_DEVICES=1 NPROC_PER_NODE=1 \\\nswift rlhf --model x\n"
    )

    assert [(one.command, one.origin.line) for one in found] == [("rollout", 1), ("rlhf", 3)]
    assert [item.value for one in found for item in one.env] == ["0", "1", "1"]
