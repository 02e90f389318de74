"""What is offered is there to be set: over all causes, for jobs of several frameworks and tasks."""

from __future__ import annotations

from functools import lru_cache

import pytest

from trainrx.catalog.tables import Taker
from trainrx.diagnosis.conclusion import target
from trainrx.diagnosis.pipeline import conclude
from trainrx.fix.changes import Target, is_of_rollouts
from trainrx.fix.plan import plan
from trainrx.knowledge.load import load
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.given import gather
from trainrx.launch.request import request_of
from trainrx.model.result import Change

QWEN = "Qwen/Qwen2.5-7B-Instruct"
JOBS = {
    "ms-swift sft": (f"swift sft --model {QWEN} --dataset a.jsonl", "ms-swift==3.5.0"),
    "ms-swift dpo": (
        f"swift rlhf --rlhf_type dpo --model {QWEN} --dataset a.jsonl",
        "ms-swift==3.5.0",
    ),
    "llamafactory sft": (
        f"llamafactory-cli train --stage sft --model_name_or_path {QWEN} --dataset a",
        "llamafactory==0.9.3",
    ),
    "trl dpo": (f"trl dpo --model_name_or_path {QWEN} --dataset_name a", "trl==0.24.0"),
    "openrlhf sft": (
        f"deepspeed --module openrlhf.cli.train_sft --pretrain {QWEN} --dataset a",
        "openrlhf==0.8.0",
    ),
    "verl sft": (
        f"torchrun -m verl.trainer.fsdp_sft_trainer model.partial_pretrain={QWEN}",
        "verl==0.5.0",
    ),
}


LOADED = LoadedKnowledge()


@lru_cache
def job_of(command: str, version: str) -> Target:
    """Read a launch given in words, as `diagnose` does."""
    package, _, release = version.partition("==")
    request = request_of((), {"cmd": command, "versions": {package: release}, "gpu": "A100-80G"})
    return target(conclude(gather(request, LOADED.whole), LOADED))


def offered(job: Target) -> list[tuple[str, str, Change]]:
    return [
        (cause.id, fix.id, change)
        for cause in load().causes.values()
        for fix in plan(cause, job).fixes
        for change in fix.changes
    ]


@pytest.mark.parametrize("name", JOBS)
def test_no_option_is_offered_that_the_command_does_not_have(name):
    job = job_of(*JOBS[name])
    assert job.launch is not None
    taker = Taker(job.launch, job.version)

    changes = [found for found in offered(job) if found[2].action != "remove"]

    strange = [found for found in changes if found[2].kind == "arg" and taker.lacks(found[2].param)]
    of_rollouts = [found for found in changes if is_of_rollouts(found[2].canonical)]
    assert len(changes) > 500
    assert (strange, of_rollouts) == ([], [])


def test_the_share_of_the_engine_is_offered_where_something_is_sampled():
    grpo = f"swift rlhf --rlhf_type grpo --model {QWEN} --dataset a.jsonl --use_vllm true"

    changes = offered(job_of(grpo, "ms-swift==3.5.0"))

    assert "vllm.share" in {change.canonical for _, _, change in changes}


def test_an_engine_that_is_set_up_is_not_doubted():
    command = f"swift rlhf --rlhf_type dpo --model {QWEN} --dataset a.jsonl --use_vllm true"

    changes = offered(job_of(command, "ms-swift==3.5.0"))

    assert "vllm.share" in {change.canonical for _, _, change in changes}


def test_what_is_left_out_says_why():
    made = plan(load().causes["engine-graphs-exceed-room"], job_of(*JOBS["ms-swift dpo"]))

    assert "this task samples nothing" in {item.why for item in made.not_offered}


@pytest.mark.parametrize(
    ("said", "before"), [("--fp16 true", "--fp16 true"), ("--torch_dtype float16", "float16")]
)
def test_the_value_before_names_its_option_where_that_is_another_one(said, before):
    job = job_of(f"swift sft --model {QWEN} --dataset a.jsonl {said}", "ms-swift==3.5.0")

    change = plan(load().causes["fp16-overflow"], job).fixes[0].changes[0]

    assert (change.param, change.from_, change.to) == ("torch_dtype", before, "bfloat16")
