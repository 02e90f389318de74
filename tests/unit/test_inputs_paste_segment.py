"""What parts of a post are taken for, fenced and not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.inputs.paste.post import split_post

SAID = "Our training stops after some hundred steps and I do not see why."
COMMANDS = {
    "torchrun": (
        "export NCCL_DEBUG=INFO\n"
        "torchrun --nproc_per_node=8 --master_port 29501 train.py \\\n"
        "    --model_name_or_path meta-llama/Llama-3.1-8B \\\n"
        "    --per_device_train_batch_size 4"
    ),
    "accelerate": (
        "accelerate launch --config_file fsdp.yaml --num_processes 4 \\\n"
        "  examples/scripts/sft.py \\\n"
        "  --model_name_or_path Qwen/Qwen2.5-7B \\\n"
        "  --gradient_checkpointing"
    ),
    "variables in front": (
        "CUDA_VISIBLE_DEVICES=0,1,2,3 \\\nNPROC_PER_NODE=4 \\\nswift rlhf \\\n"
        "    --rlhf_type grpo \\\n    --num_generations 8"
    ),
    "one line": "deepspeed --num_gpus 8 train.py --deepspeed ds_z3.json --bf16 true --lr 1e-5",
    "overrides": (
        "python3 -m verl.trainer.main_ppo \\\n"
        "    algorithm.adv_estimator=grpo \\\n"
        "    data.train_batch_size=1024 \\\n"
        "    +trainer.n_gpus_per_node=8"
    ),
    "batch script": (
        "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gpus-per-node=8\n\n"
        "set -euo pipefail\nsource activate train\n"
        "model_path=/data/qwen\nlr=1e-5\n"
        "srun python train.py --model $model_path --lr ${lr}"
    ),
}
CONFIGS = {
    "yaml": (
        "### model\nmodel_name_or_path: Qwen/Qwen2.5-7B-Instruct\n\n### method\nstage: sft\n"
        "finetuning_type: lora\nlora_target: all\n\n### train\n"
        "per_device_train_batch_size: 1\nlearning_rate: 1.0e-4"
    ),
    "lists and maps": (
        "base_model: NousResearch/Llama-3.2-1B\ndatasets:\n  - path: teknium/GPT4-LLM-Cleaned\n"
        "    type: alpaca\nspecial_tokens:\n  pad_token: <|end_of_text|>\nsequence_len: 2048"
    ),
    "json": (
        '{\n  "bf16": {\n    "enabled": "auto"\n  },\n  "zero_optimization": {\n    "stage": 3,\n'
        '    "offload_optimizer": {\n      "device": "cpu"\n    }\n  }\n}'
    ),
    "toml": 'max_steps = 200\n\n[trainer.model]\nname = "Qwen/Qwen3-4B"\n\n[orchestrator]\n'
    "batch_size = 512\nseq_len = 4096",
    "accelerate": (
        "compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nfsdp_config:\n"
        "  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\nmixed_precision: bf16\nnum_processes: 8"
    ),
}
PROGRAMS = {
    "arguments": (
        "from trl import SFTConfig, SFTTrainer\n\n"
        "args = SFTConfig(\n    output_dir='out',\n    per_device_train_batch_size=4,\n"
        "    gradient_checkpointing=True,\n)\n"
        "trainer = SFTTrainer(\n    model=model,\n    args=args,\n)\ntrainer.train()"
    ),
    "adapter": (
        "import torch\nfrom peft import LoraConfig, get_peft_model\n\n"
        'config = LoraConfig(r=16, lora_alpha=32, target_modules="all-linear")\n'
        "model = get_peft_model(model, config)\n"
        "for batch in loader:\n    loss = model(**batch).loss\n    loss.backward()"
    ),
    "fast": (
        "model, tokenizer = FastLanguageModel.from_pretrained(\n"
        '    model_name="unsloth/Qwen3-14B",\n    max_seq_length=2048,\n    load_in_4bit=True,\n)'
    ),
}
LISTS = {
    "freeze": "torch==2.6.0+cu124\ntransformers==4.51.3\ndeepspeed==0.16.5\nflash-attn==2.7.4",
    "pip list": (
        "Package                  Version\n------------------------ -----------\n"
        "accelerate               1.6.0\ntorch                    2.6.0\n"
        "xformers                 0.0.29.post3"
    ),
    "conda list": (
        "# packages in environment at /opt/conda/envs/train:\n#\n"
        "# Name                    Version                   Build  Channel\n"
        "pytorch                   2.5.1           py3.11_cuda12.4_cudnn9.1.0_0    pytorch\n"
        "transformers              4.49.0                   pypi_0    pypi"
    ),
    "transformers env": (
        "- `transformers` version: 4.52.4\n- Platform: Linux-5.15.0-x86_64-with-glibc2.35\n"
        "- Python version: 3.11.13\n- Huggingface_hub version: 0.33.0\n"
        "- Accelerate config:    not found\n- PyTorch version (GPU?): 2.7.0+cu126 (True)\n"
        "- Using distributed or parallel set-up in script?: yes\n- GPU type: NVIDIA H100 80GB HBM3"
    ),
    "llamafactory-cli env": (
        "- `llamafactory` version: 0.9.3.dev0\n- Platform: Linux-5.4.0\n- Python version: 3.10.16\n"
        "- PyTorch version: 2.6.0+cu124 (GPU)\n- GPU type: NVIDIA A800-SXM4-80GB\n"
        "- GPU number: 8\n- GPU memory: 79.15GB\n- TRL version: 0.9.6"
    ),
    "collect_env": (
        "Collecting environment information...\nPyTorch version: 2.6.0+cu124\n"
        "Is debug build: False\nCUDA used to build PyTorch: 12.4\n\n"
        "OS: Ubuntu 22.04.5 LTS (x86_64)\nGCC version: (Ubuntu 11.4.0) 11.4.0\n"
        "Python version: 3.10.12 (64-bit runtime)\nIs CUDA available: True\n"
        "GPU models and configuration:\nGPU 0: NVIDIA A100-SXM4-80GB\nGPU 1: NVIDIA A100\n\n"
        "Versions of relevant libraries:\n[pip3] numpy==1.26.4\n[pip3] torch==2.6.0"
    ),
    "ds_report": (
        "DeepSpeed general environment info:\n"
        "torch install path ............... ['/usr/lib/python3/torch']\n"
        "torch version .................... 2.5.1+cu121\n"
        "deepspeed info ................... 0.16.3, unknown, unknown\n"
        "nvcc version ..................... 12.1"
    ),
    "nvidia-smi": (
        "+-------------------------------------------------------------------------+\n"
        "| NVIDIA-SMI 550.54.15      Driver Version: 550.54.15   CUDA Version: 12.4 |\n"
        "|---------------------------------+----------------------+----------------|\n"
        "| GPU  Name         Persistence-M | Bus-Id        Disp.A | Volatile Uncorr |\n"
        "|   0  NVIDIA A100-SXM4-80GB  On  | 00000000:07:00.0 Off |              0 |\n"
        "| N/A   31C    P0     62W /  400W |  1234MiB /  81920MiB |    0%  Default |\n"
        "+-------------------------------------------------------------------------+"
    ),
    "image": (
        "modelscope-registry.cn-beijing.cr.aliyuncs.com/modelscope-repo/modelscope:"
        "ubuntu22.04-cuda12.4.0-py311-torch2.6.0-vllm0.8.5-modelscope1.27.0-swift3.5.3"
    ),
}
LOGS = {
    "traceback": (
        "Traceback (most recent call last):\n"
        '  File "/work/train.py", line 88, in <module>\n    trainer.train()\n'
        '  File "/opt/lib/trainer.py", line 2245, in train\n    return inner_training_loop(\n'
        "           ^^^^^^^^^^^^^^^^^^^^\n"
        "ValueError: Unable to create tensor, you should probably activate truncation.\n\n"
        "During handling of the above exception, another exception occurred:\n\n"
        "Traceback (most recent call last):\n"
        '  File "/work/train.py", line 90, in <module>\n    raise SystemExit(1)\nSystemExit: 1'
    ),
    "progress": (
        "{'loss': 1.7532, 'grad_norm': 0.83, 'learning_rate': 9.9e-05, 'epoch': 0.01}\n"
        "  1%|          | 10/1000 [00:31<51:42,  3.13s/it]\n"
        "{'loss': 0.0, 'grad_norm': nan, 'learning_rate': 9.8e-05, 'epoch': 0.02}"
    ),
    "ranks": (
        "[rank3]:[E1105 10:12:33.120000 ProcessGroupNCCL.cpp:616] [Rank 3] Watchdog caught "
        "collective operation timeout: WorkNCCL(SeqNum=812, OpType=ALLREDUCE)\n"
        "[rank3]: Traceback (most recent call last):\n"
        '[rank3]:   File "train.py", line 3, in <module>\n[rank3]:     main()\n'
        "[rank3]: RuntimeError: NCCL communicator was aborted on rank 3."
    ),
    "launcher": (
        "[2026-03-01 10:00:00,120] [INFO] [comm.py:669:init_distributed] cdb=None\n"
        "W0301 10:00:07.000000 140000 torch/distributed/run.py:793] Setting OMP_NUM_THREADS\n"
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
        "train.py FAILED\n  exitcode  : -9 (pid: 4711)"
    ),
    "refusal": (
        "usage: sft.py [-h] --model_name_or_path MODEL_NAME_OR_PATH\n"
        "sft.py: error: unrecognized arguments: --max_seq_length 2048"
    ),
}
TEXTS = {"script": COMMANDS, "config": CONFIGS, "python": PROGRAMS, "versions": LISTS, "log": LOGS}
CASES = [(kind, text) for kind, texts in TEXTS.items() for text in texts.values()]
NAMES = [f"{kind}: {name}" for kind, texts in TEXTS.items() for name in texts]


def words(text: str) -> list[str]:
    return text.replace("\\", " ").split()


def taken_for(text: str) -> dict[str, list[str]]:
    """Give the words of each kind of part."""
    found: dict[str, list[str]] = {}
    for part in split_post(text, "post.md").parts:
        found.setdefault(part.kind, []).extend(words(part.text))
    return found


def holds(found: dict[str, list[str]], kind: str, text: str) -> bool:
    """Tell whether a kind has all words of a text in their order; variables may be a part alone."""
    kinds = ("script", "env") if kind == "script" else (kind,)
    own = " ".join(word for one in kinds for word in found.get(one, []))
    return " ".join(words(text)) in own


@pytest.mark.parametrize(("kind", "text"), CASES, ids=NAMES)
def test_a_fence_is_taken_for_what_it_holds(kind, text):
    found = taken_for(f"{SAID}\n\n```\n{text}\n```\n\nAny hint?\n")

    assert holds(found, kind, text)


@pytest.mark.parametrize(("kind", "text"), CASES, ids=NAMES)
def test_a_part_without_a_fence_is_taken_for_what_it_holds(kind, text):
    found = taken_for(f"{SAID}\n\n{text}\n\nIt worked last week, what did I change?\n")

    assert holds(found, kind, text)
    assert holds(found, "prose", SAID)


@pytest.mark.parametrize(("kind", "text"), CASES, ids=NAMES)
def test_prose_right_above_and_below_stays_prose(kind, text):
    found = taken_for(f"{SAID} This is what I have:\n{text}\n有人遇到过同样的问题吗？\n")

    assert holds(found, kind, text)
    assert holds(found, "prose", SAID)
    assert "有人遇到过同样的问题吗？" in found["prose"]


@pytest.mark.parametrize("name", CONFIGS)
def test_a_configuration_behind_words_in_the_same_fence_is_one(name):
    found = taken_for(f"```\nHere is my config file:\n{CONFIGS[name]}\n```\n")

    assert holds(found, "config", CONFIGS[name])


def test_a_command_that_lost_its_backslashes_is_one_command():
    text = COMMANDS["accelerate"].replace("\\", "")

    post = split_post(f"{SAID}\n\n{text}\n", "post.md")

    script = next(part for part in post.parts if part.kind == "script")
    assert script.text.count("\\\n") == text.count("\n")
    assert {repair.what for repair in post.repairs} == {"continuation"}


@given(st.permutations(CASES[::3]))
def test_the_order_of_fences_changes_no_kind(order):
    text = "\n\n".join(f"```\n{block}\n```" for _, block in order)

    found = taken_for(text)

    assert all(holds(found, kind, block) for kind, block in order)


def test_a_dictionary_in_a_program_is_no_configuration_of_its_own():
    text = (
        'import deepspeed\n\nds_config = {\n    "train_batch_size": 4,\n'
        '    "zero_optimization": {\n        "stage": 2,\n    },\n}\n'
        "engine = deepspeed.initialize(model=model, config=ds_config)"
    )

    found = taken_for(f"```python\n{text}\n```\n")

    assert holds(found, "python", text)


def test_a_line_marked_as_code_is_what_was_printed():
    line = "vllm_mode must be either 'server' or 'colocate', got 'server'."

    found = taken_for(f"It says\n\n`{line}`\n\non rank 1.\n")

    assert " ".join(found["log"]) == line


def test_variables_a_command_refers_to_belong_to_its_script():
    text = "model_path=/data/m\nlr=1e-5\nbash train.sh --model ${model_path} --lr $lr"

    found = taken_for(f"{SAID}\n\n{text}\n")

    assert holds(found, "script", text)


def test_a_call_is_closed_where_it_ends():
    text = "args = GRPOConfig(\n    max_completion_length=4096,\n)"

    found = taken_for(f"{SAID}\n{text}\n{CONFIGS['accelerate']}\n")

    assert holds(found, "python", text)
    assert holds(found, "config", CONFIGS["accelerate"])
