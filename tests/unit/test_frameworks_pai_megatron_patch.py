"""Pai-Megatron-Patch: its scripts of many words, what they start, and what that prints.

The script is made after examples/qwen2_5/run_mcore_qwen.sh of
https://github.com/alibaba/Pai-Megatron-Patch (33191bdd40): words by their place, options put
together in variables, one command run by eval.
"""

from pathlib import Path

import pytest

from trainrx import diagnose
from trainrx.api import inspect_launch
from trainrx.catalog.framework_choice import read_framework
from trainrx.evidence.arguments import logged_arguments
from trainrx.evidence.sources import source_of
from trainrx.fix.changes import install
from trainrx.launch.find import find_launches
from trainrx.model.job import Input, RawLaunch
from trainrx.shell import read_script

SCRIPT = """\
#!/bin/bash
set -e
SIZE=$1
MICRO=$2
GLOBAL=$3
LR=$4
LENGTH=$5
PR=$6
TP=$7
PP=$8
CP=$9
SP=${10}
DO=${11}
SFT=${12}
AC=${13}
DATASET=${14}
LOAD=${15}
OUTPUT=${16}

DISTRIBUTED="--nproc_per_node 8 --nnodes 1 --node_rank 0 --master_addr localhost"
if [ $AC = full ]; then
    ac_options="--recompute-method uniform --recompute-num-layers 1 --recompute-granularity full"
elif [ $AC = sel ]; then
    ac_options="--recompute-activations"
fi
if [ $PR = bf16 ]; then
    pr_options="--bf16"
elif [ $PR = fp16 ]; then
    pr_options="--fp16"
fi
if [ $DO = true ]; then
    do_options="--use-distributed-optimizer"
fi
if [ $SP = true ] && [ $TP -gt 1 ]; then
    sp_options="--sequence-parallel"
fi
if [ $SFT = true ]; then
    sft_options="--eod-mask-loss --train-mode finetune"
else
    sft_options="--train-mode pretrain"
fi
megatron_options=" \\
    --save ${OUTPUT}/checkpoint \\
    --lr ${LR} \\
    --train-iters 2000 \\
    --micro-batch-size ${MICRO} \\
    --global-batch-size ${GLOBAL} \\
    --num-layers 28 --hidden-size 3584 \\
    --seq-length ${LENGTH} \\
    --max-padding-length ${LENGTH} \\
    --tensor-model-parallel-size ${TP} \\
    --pipeline-model-parallel-size ${PP} \\
    --context-parallel-size ${CP} \\
    --num-workers 8 \\
    --extra-vocab-size 421 \\
    --patch-tokenizer-type Qwen2Tokenizer"

run_cmd="torchrun $DISTRIBUTED ../qwen2/pretrain_qwen2_moe.py ${megatron_options} \\
    --train-data-path ${DATASET} --load ${LOAD} --dataset JSON-SFT \\
    ${pr_options} ${ac_options} ${do_options} ${sp_options} ${sft_options}"
echo ${run_cmd}
eval ${run_cmd}
"""
CALL = (
    "bash run_mcore_qwen.sh 7B 1 128 1e-5 4096 bf16 2 1 1 true true {sft} {ac} "
    "/data/sft.json /ckpts/Qwen2.5-7B-mcore-tp2 /out\n"
)
PRINTED = """\
using world size: 8, data-parallel size: 4, tensor-model-parallel size: 2
------------------------ arguments ------------------------
  bf16 ............................................ True
  global_batch_size ............................... 128
  load ............................................ /ckpts/Qwen2.5-7B-mcore-tp2
  micro_batch_size ................................ 2
  patch_tokenizer_type ............................ Qwen2Tokenizer
  seq_length ...................................... 8192
  tensor_model_parallel_size ...................... 4
  train_mode ...................................... finetune
  valid_data ...................................... None
-------------------- end of arguments ---------------------
> setting tensorboard ...
"""
OOM = """\
[rank3]: Traceback (most recent call last):
[rank3]:   File "/work/Pai-Megatron-Patch/examples/qwen2/pretrain_qwen2_moe.py", line 9, in main
[rank3]:   File "/work/Pai-Megatron-Patch/megatron_patch/model/qwen2/mlp.py", line 61, in forward
[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB. GPU 3 has a total \
capacity of 79.15 GiB of which 1.20 GiB is free. Of the allocated memory 74.31 GiB is allocated by \
PyTorch, and 1.70 GiB is reserved by PyTorch but unallocated.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "run_mcore_qwen.sh").write_text(SCRIPT)
    return tmp_path


def call(folder: Path, *, sft: str = "true", ac: str = "full") -> Path:
    (folder / "go.sh").write_text(CALL.format(sft=sft, ac=ac))
    return folder / "go.sh"


def launched(*, sft: str = "true", ac: str = "full") -> RawLaunch:
    text = CALL.format(sft=sft, ac=ac)
    script = read_script(text, "go.sh", files={"run_mcore_qwen.sh": SCRIPT}.get)
    (launch,) = find_launches(script)
    return launch


@pytest.mark.parametrize(("sft", "command"), [("true", "megatron sft"), ("false", "megatron pt")])
def test_the_mode_tells_the_command(sft: str, command: str) -> None:
    launch = launched(sft=sft)

    assert (launch.framework, launch.command) == ("pai-megatron-patch", command)
    assert launch.role == "trainer"
    assert {arg.name: arg.values for arg in launch.launcher}["nproc_per_node"] == ("8",)


def test_words_by_their_place_become_parameters(folder: Path) -> None:
    (job,) = inspect_launch(cmd=call(folder)).jobs

    values = {item.canonical: item.value for item in job.settings if item.known and item.given}
    facts = {item.name: item.value for item in job.facts}
    assert (job.framework, job.command) == ("pai-megatron-patch", "megatron sft")
    assert facts["launch.task"] == "sft"
    assert (facts["parallel.data_parallel"], facts["batch.effective"]) == (4, 128)
    assert values == {
        "megatron.distributed_optimizer": True,
        "megatron.recompute": "full",
        "megatron.recompute_layers": 1,
        "megatron.recompute_method": "uniform",
        "model.name": "/ckpts/Qwen2.5-7B-mcore-tp2",
        "parallel.master_addr": "localhost",
        "parallel.node_rank": 0,
        "parallel.nodes": 1,
        "parallel.pipeline": 1,
        "parallel.processes_per_node": 8,
        "parallel.sequence": 1,
        "parallel.tensor": 2,
        "parallel.tensor_sequence": True,
        "train.dataloader_workers": 8,
        "train.dataset": "/data/sft.json",
        "train.global_batch": 128,
        "train.learning_rate": 1e-5,
        "train.max_length": 4096,
        "train.max_steps": 2000,
        "train.micro_batch": 1,
        "train.output_dir": "/out/checkpoint",
        "train.precision": "bf16",
    }


@pytest.mark.parametrize(
    ("program", "command", "role"),
    [
        ("toolkits/model_checkpoints_convertor/qwen/hf2mcore_qwen2.py", "export", "export"),
        ("Pai-Megatron-Patch-main/examples/qwen2/pretrain_qwen.py", "megatron pt", "trainer"),
        ("toolkits/sft_data_preprocessing/build_idxmap_sft_dataset.py", "prepare", "preparation"),
    ],
)
def test_its_programs_and_tools_are_known_by_their_folder(
    program: str, command: str, role: str
) -> None:
    script = read_script(f"python {program} --input /data/x.json", "go.sh")

    (launch,) = find_launches(script)

    found = (launch.framework, launch.command, launch.role)
    assert found == ("pai-megatron-patch", command, role)


def test_megatron_of_others_is_not_taken_for_it() -> None:
    text = "torchrun --nproc_per_node 8 pretrain_gpt.py --micro-batch-size 1 --seq-length 4096\n"

    (launch,) = find_launches(read_script(text, "go.sh"))

    assert launch.framework == "megatron-lm"


def log(text: str) -> Input:
    return Input(kind="log", name="train.log", text=text)


def test_its_log_tells_what_ran() -> None:
    (dump,) = logged_arguments([log(PRINTED)])

    told = {arg.name: arg.values for arg in dump.values}
    assert (dump.framework, dump.command, dump.kind) == (
        "pai-megatron-patch",
        "megatron sft",
        "arguments",
    )
    assert (told["micro_batch_size"], told["seq_length"]) == (("2",), ("8192",))
    assert dump.values[2].origin.line == 5


def test_the_same_list_of_another_megatron_is_left_alone() -> None:
    plain = "\n".join(line for line in PRINTED.splitlines() if "patch" not in line)

    assert logged_arguments([log(plain)]) == ()


def test_a_failure_is_diagnosed_and_mended_in_its_words(folder: Path) -> None:
    (folder / "train.log").write_text(PRINTED + OOM)

    answer = diagnose(cmd=call(folder), logs=[folder / "train.log"], gpu="A100-80G")

    best = answer.causes[0]
    spelled = [change.spelled for fix in best.fixes for change in fix.changes]
    assert (answer.job.framework, best.family) == ("pai-megatron-patch", "oom")
    assert "--micro-batch-size 1" in spelled
    assert "--seq-length 4096" in spelled


def test_its_code_and_its_names_are_known() -> None:
    place = source_of("/work/Pai-Megatron-Patch/megatron_patch/model/qwen2/mlp.py")

    assert place is not None
    assert (place.package, place.file) == (
        "pai-megatron-patch",
        "megatron_patch/model/qwen2/mlp.py",
    )
    assert read_framework("Pai-Megatron").name == "pai-megatron-patch"
    assert install("pai-megatron-patch", "").startswith("git pull && git submodule update")
