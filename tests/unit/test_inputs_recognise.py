from __future__ import annotations

import json

import pytest

from trainrx.inputs.encoding import decode_text, looks_binary, to_utf8
from trainrx.inputs.recognise import is_command, recognise

CASES = {
    "script": [
        "#!/bin/bash\n#SBATCH -N 2\nsrun python train.py\n",
        "swift sft --model Qwen/Qwen2.5-VL-7B-Instruct --lora_rank 8",
        "CUDA_VISIBLE_DEVICES=0,1 NPROC_PER_NODE=2 swift rlhf \\\n  --rlhf_type grpo \\\n",
        "NPROC_PER_NODE=8 \\\nMAX_PIXELS=602112 \\\nswift sft \\\n  --model x\n",
        "export A=1\nexport B=2\nexport C=3\nexport D=4\ntorchrun --nproc_per_node 8 train.py\n",
        "# 单机八卡\nllamafactory-cli train examples/train_lora/qwen.yaml\n",
        "set -x\nMODEL=Qwen\nfor i in 1 2; do\n  echo $i\ndone\npython -m swift.cli.sft\n",
        "my-launcher \\\n  --model x \\\n  --lr 1e-4 \\\n  --bf16\n",
        'swift sft \\\n  --model x\n\necho "Traceback (most recent call last)"\nA=1\nB=2\nC=3\n',
        '#!/bin/bash\necho "[INFO] 2025"\n[rank0]\n[rank1]\nswift sft --model x\n',
        "deepspeed --num_gpus 8 train.py --deepspeed ds.json\n",
        'python -c "\nimport socket\nfrom x import y" &\nswift sft --model x\n',
    ],
    "config": [
        "model_name_or_path: Qwen/Qwen2.5-7B\nstage: sft\nlora_rank: 8\n",
        "### model\nmodel_name_or_path: x\n\n### method\nstage: sft\ndeepspeed: ds_z3.json\n",
        "compute_environment: LOCAL_MACHINE\ndistributed_type: DEEPSPEED\n",
        "actor_rollout_ref:\n  rollout:\n    gpu_memory_utilization: 0.6\n",
        "datasets:\n  - path: a\n    type: b\nsequence_len: 2048\n",
        '{"zero_optimization": {"stage": 3}, "bf16": {"enabled": "auto"}}',
        '{\n  "train_batch_size": "auto",\n  "zero_optimization": {\n    "stage": 2\n  }\n}\n',
    ],
    "env": [
        "NCCL_P2P_DISABLE=1\nCUDA_VISIBLE_DEVICES=0,1\nPATH=/usr/bin\n",
        "# env\nexport NCCL_IB_DISABLE=1\nexport MAX_PIXELS=1003520\n",
        'declare -x HOME="/root"\ndeclare -x NCCL_DEBUG="INFO"\n',
    ],
    "versions": [
        "Package            Version\n------------------ -------\ntorch              2.5.1\n",
        "torch==2.5.1\ntransformers==4.48.0\nms-swift @ file:///x\n-e git+https://x\n",
        "torch                     2.5.1+cu124\nvllm   0.7.3\n",
        "Collecting environment information...\nPyTorch version: 2.5.1+cu124\nIs debug: False\n",
        "- `llamafactory` version: 0.9.3\n- Platform: Linux\n- Python version: 3.11\n",
        "Fri Nov 21 10:00:00 2025\n+---+\n| NVIDIA-SMI 535.104.05   Driver Version: 535.104.05 |\n",
        "ms-swift==3.2.1\n",
    ],
    "metrics": [
        '{"loss": 1.5, "global_step/max_steps": "1/50", "memory(GiB)": 40.1}\n{"loss": 1.4}\n',
        '{"current_steps": 1, "total_steps": 50, "loss": 1.5}\n',
        json.dumps({"best_metric": None, "epoch": 1.0, "log_history": [{"step": 1}]}, indent=2),
    ],
    "args": [
        json.dumps({f"k{n}": None for n in range(50)} | {"model_type": "qwen2", "output_dir": "x"}),
        json.dumps(
            {f"k{n}": [1] for n in range(50)} | {"model": "q"}, indent=2, ensure_ascii=False
        ),
    ],
    "log": [
        '{"level": "info", "msg": "starting"}\nLoading model\nepoch 1\n',
        '{"level": "info", "ts": 1.5, "msg": "starting"}\n{"level": "error", "msg": "OOM"}\n',
        '{"time": "2025-03-04", "message": "Killed"}\n',
        '{"stage": "sft", "model": "x"}\nTraceback (most recent call last):\nValueError: x\n',
        '{\n  "stage": "sft",\n  "model": "x"\n}\nTraceback (most recent call last):\nE: x\n',
        '{"loss": 1.5, "step": 3}\n' * 3 + "Traceback (most recent call last):\nKeyError: 1\n" * 9,
        'Traceback (most recent call last):\n  File "a.py", line 2, in f\nValueError: x\n',
        "run sh: `python sft.py --model x`\n[INFO:swift] Loading\n",
        "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB\n",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.27 GiB.\n",
        "ray.exceptions.RayTaskError(OutOfMemoryError): ray::WorkerDict.update_actor()\n",
        "Killed\n",
        "{'loss': 1.5, 'grad_norm': 0.1}\n{'loss': 1.4, 'grad_norm': 0.1}\n",
        "node-1:1234:5678 [0] NCCL INFO Bootstrap : Using eth0\n",
        "[2025-11-20 10:10:10,123] [INFO] [real_accelerator.py:203] Setting ds_accelerator\n",
        "something nobody has ever seen before\nand more of it\n",
        "  3%|▎  | 3/100 [00:10<05:00,  3.10s/it]\r  4%|▍  | 4/100 [00:13<05:00,  3.10s/it]",
        "swift sft --model x\n[INFO:swift] a\n[INFO:swift] b\n[rank0] x\nKilled\n",
        "| NVIDIA-SMI 535.104 |\n" + "[INFO:swift] step\n[rank0]: x\n" * 9,
        "[rank0]: x\n[rank0]: y\n",
    ],
}


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, texts in CASES.items() for text in texts]
)
def test_the_kind_is_told_by_content(kind: str, text: str) -> None:
    assert recognise(text) == kind


@pytest.mark.parametrize(
    "text",
    [
        "import torch\nfrom swift import x\n\nclass A:\n    pass\n",
        '{"query": "你好", "response": "x"}\n{"query": "a", "response": "b"}\n',
        '[\n  {\n    "instruction": "a"\n  }\n]',
    ],
)
def test_programs_and_data_are_none_of_ours(text: str) -> None:
    assert recognise(text) is None


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_every_usual_encoding_is_decoded(encoding: str) -> None:
    text = "错误：显存不足\nRuntimeError: 训练中断，退出\n" * 3

    assert decode_text(text.encode(encoding)) == text


def test_a_few_torn_characters_do_not_change_the_encoding() -> None:
    text = "训练参数已保存到目录".encode() * 9 + b"\xe6\x98 \xff"

    assert decode_text(text).startswith("训练参数已保存到目录" * 9)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("encoding", ["utf-16", "gb18030", "utf-8-sig"])
def test_characters_may_be_torn_between_pieces(encoding: str, size: int) -> None:
    text = "显存不足，训练中断" * 20
    data = text.encode(encoding)
    # what tells the encoding stands in the first piece
    pieces = [data[:40], *(data[n : n + size] for n in range(40, len(data), size))]

    assert b"".join(to_utf8(pieces)).decode() == text


def test_a_log_that_starts_with_nuls_is_text_and_nothing_but_nuls_is_not() -> None:
    assert not looks_binary(b"\0" * 5000 + b"RuntimeError: x")
    assert looks_binary(b"\0" * 5000)
    assert not looks_binary(b"")


@pytest.mark.parametrize(
    "text",
    [
        "swift sft --model Qwen/Qwen2.5-7B-Instruct",
        "NPROC_PER_NODE=8 swift sft",
        "CUDA_VISIBLE_DEVICES=0 python train.py",
        "my-trainer run --lr 1e-5",
        "export A=1\ntorchrun train.py",
    ],
)
def test_a_command_is_told_from_the_name_of_a_file(text):
    assert is_command(text)


@pytest.mark.parametrize(
    "text", ["launch.sh", "my launch.sh", "runs/a b/train - copy.log", "swift", "--lr", "", "-"]
)
def test_a_name_is_no_command(text):
    assert not is_command(text)


@pytest.mark.parametrize("wrapper", ["uv", "conda", "poetry", "pdm", "pipenv", "pixi", "hatch"])
def test_a_command_behind_a_manager_of_environments_is_a_script(wrapper):
    assert recognise(f"{wrapper} run torchrun --nproc_per_node 3 main.py --lr 1e-5\n") == "script"


@pytest.mark.parametrize(
    "line",
    [
        "sft.py: error: unrecognized arguments: --lerning_rate 1e-5",
        "trl: error: argument command: invalid choice: 'sftt' (choose from 'sft', 'dpo')",
        "bash: torchrun: command not found",
        "slurm_script: line 12: swift: command not found",
        "/usr/bin/python3: No module named trl",
        "python: can't open file '/w/train.py': [Errno 2] No such file or directory",
        "srun: error: node1: task 0: Killed",
    ],
)
def test_a_single_line_a_program_prints_under_its_name_is_a_log(line):
    assert recognise(line + "\n") == "log"


@pytest.mark.parametrize(
    "text",
    [
        "learning_rate: 1e-5\n",
        'system: "You are: helpful"\n',
        "# error: none: yet\nseed: 1\n",
        "stage: sft\nprompt: a: b\noutput_dir: out\nseed: 1\nfp16: true\nlr: 1\n",
    ],
)
def test_a_configuration_of_few_lines_is_one_and_so_is_one_that_is_broken(text):
    assert recognise(text) == "config"
