"""NeMo Automodel and NeMo RL: their files, what stands above them, and what is in force.

The files are of the shape of examples/llm_finetune/llama3_2/llama3_2_1b_squad.yaml (NVIDIA-NeMo/
Automodel v0.5.0) and examples/configs/grpo_math_1B.yaml (NVIDIA-NeMo/RL v0.7.0), cut short.
"""

from __future__ import annotations

from textwrap import dedent

import pytest

from trainrx.catalog.resolved import Resolved
from trainrx.catalog.spell import spell
from trainrx.fix.constraints import batch_note
from trainrx.knowledge.load import load
from trainrx.launch.config_files import Configs, read_configs
from trainrx.launch.config_kinds import classify_config
from trainrx.launch.find import find_launches
from trainrx.launch.resolve import resolve
from trainrx.model.facts import Facts, fact
from trainrx.shell import read_script

AUTOMODEL = dedent(
    """\
    recipe: TrainFinetuneRecipeForNextTokenPrediction

    step_scheduler:
      global_batch_size: 64
      local_batch_size: 8

    model:
      _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained
      pretrained_model_name_or_path: meta-llama/Llama-3.2-1B
      torch_dtype: bf16

    peft:
      _target_: nemo_automodel.components._peft.lora.PeftConfig
      match_all_linear: True
      dim: 16

    distributed:
      strategy: fsdp2
      tp_size: 2
      activation_checkpointing: true

    dataset:
      seq_length: 2048

    packed_sequence:
      packed_sequence_size: 0
    """
)
RL = dedent(
    """\
    grpo:
      num_prompts_per_step: 32
      num_generations_per_prompt: 16

    policy:
      model_name: "Qwen/Qwen2.5-1.5B"
      train_global_batch_size: 512
      train_micro_batch_size: 4
      logprob_batch_size: ${policy.train_micro_batch_size}
      max_total_sequence_length: 512
      precision: "bfloat16"

      dtensor_cfg:
        enabled: true
        activation_checkpointing: false
        tensor_parallel_size: 1
        context_parallel_size: 1
        lora_cfg:
          enabled: False
          dim: 8

      megatron_cfg:
        enabled: false
        activation_checkpointing: true
        tensor_model_parallel_size: 4
        context_parallel_size: 2
        pipeline_model_parallel_size: 1

      dynamic_batching:
        enabled: False
        train_mb_tokens: ${mul:${policy.max_total_sequence_length}, ${policy.logprob_batch_size}}

      generation:
        backend: "vllm"
        max_new_tokens: ${policy.max_total_sequence_length}
        colocated:
          enabled: true
        vllm_cfg:
          tensor_parallel_size: 1
          gpu_memory_utilization: 0.6

    cluster:
      gpus_per_node: 1
      num_nodes: 1
    """
)
CHILD = 'defaults: "base.yaml"\npolicy:\n  max_total_sequence_length: 4096\n'
RUN = "uv run python examples/run_grpo.py --config"


def configs_of(command: str, **texts: str) -> Configs:
    launch = find_launches(read_script(command, "x.sh"))[0]
    return read_configs(launch, {f"{name}.yaml": text for name, text in texts.items()})


def resolved(command: str, **texts: str) -> Resolved:
    read = configs_of(command, **texts)
    release = {"nemo-rl": "0.7.0", "nemo-automodel": "0.5.0"}
    return resolve(read.launch, params=load().params, configs=read.args, versions=release)


def settings(command: str, *names: str, **texts: str) -> list[object]:
    found = resolved(command, **texts).settings
    return [found[name].value if name in found else None for name in names]


@pytest.mark.parametrize(("text", "kind"), [(AUTOMODEL, "nemo-automodel"), (RL, "nemo-rl")])
def test_a_file_is_told_by_its_keys(text: str, kind: str) -> None:
    assert classify_config(text) == kind


def test_a_part_of_a_file_is_told_too() -> None:
    text = "policy:\n  generation:\n    vllm_cfg:\n      gpu_memory_utilization: 0.8\n"

    assert classify_config(text) == "nemo-rl"


def test_a_flag_with_dots_goes_before_the_file() -> None:
    command = "automodel finetune llm -c a.yaml --step_scheduler.local_batch_size 2"

    found = settings(command, "train.micro_batch", "train.global_batch", "tuner.rank", a=AUTOMODEL)

    assert found == [2, 64, 16]


def test_no_packed_row_leaves_the_length_of_a_sample() -> None:
    packed = AUTOMODEL.replace("packed_sequence_size: 0", "packed_sequence_size: 4096")
    names = ("train.max_length", "train.pack_length")

    assert settings("automodel a.yaml", *names, a=AUTOMODEL) == [2048, None]
    assert settings("automodel a.yaml", *names, a=packed) == [4096, 4096]


@pytest.mark.parametrize(
    ("recipe", "command"),
    [
        ("TrainFinetuneRecipeForNextTokenPrediction", "finetune"),
        ("nemo_automodel.recipes.vlm.finetune.FinetuneRecipeForVLM", "finetune"),
        ("KnowledgeDistillationRecipeForNextTokenPrediction", "kd"),
        ("BenchmarkingRecipeForNextTokenPrediction", "benchmark"),
        ("TrainEagle3Recipe", "TrainEagle3Recipe"),
    ],
)
def test_the_recipe_names_the_command(recipe: str, command: str) -> None:
    text = AUTOMODEL.replace("TrainFinetuneRecipeForNextTokenPrediction", recipe)

    assert configs_of("automodel a.yaml", a=text).launch.command == command


def test_a_file_stands_above_the_one_it_builds_on() -> None:
    found = settings(
        f"{RUN} child.yaml", "train.max_length", "rlhf.num_generations", child=CHILD, base=RL
    )

    assert found == [4096, 16]


def test_references_follow_overrides() -> None:
    command = f"{RUN} base.yaml policy.max_total_sequence_length=1024"

    assert settings(command, "rlhf.max_completion_length", base=RL) == [1024]


def test_a_product_is_worked_out() -> None:
    on = RL.replace("dynamic_batching:\n    enabled: False", "dynamic_batching:\n    enabled: True")

    assert settings(f"{RUN} base.yaml", "train.max_tokens_per_gpu", base=on) == [2048]


def test_a_section_that_is_off_sets_nothing() -> None:
    names = ("tuner.rank", "train.max_tokens_per_gpu", "parallel.tensor", "parallel.pipeline")

    assert settings(f"{RUN} base.yaml", *names, base=RL) == [None, None, 1, None]


def test_megatron_is_a_command_of_its_own() -> None:
    command = f"{RUN} base.yaml policy.megatron_cfg.enabled=true policy.dtensor_cfg.enabled=false"
    names = ("parallel.tensor", "parallel.sequence", "train.gradient_checkpointing")

    assert configs_of(command, base=RL).launch.command == "megatron grpo"
    assert settings(command, *names, base=RL) == [4, 2, True]


@pytest.mark.parametrize(
    ("command", "texts", "whole"),
    [
        (f"{RUN} base.yaml", {"base": RL}, True),
        (f"{RUN} child.yaml", {"child": CHILD, "base": RL}, True),
        (f"{RUN} child.yaml", {"child": CHILD}, False),
        ("uv run python examples/run_grpo_math.py cluster.gpus_per_node=8", {}, True),
        ("uv run python examples/run_sft.py cluster.gpus_per_node=8", {}, True),
        ("uv run python examples/run_grpo_sliding_puzzle.py", {}, False),
        ("automodel a.yaml", {"a": AUTOMODEL}, True),
        ("automodel a.yaml", {"a": "distributed:\n  tp_size: 2\n"}, False),
    ],
)
def test_what_may_be_set_elsewhere_is_known(
    command: str, texts: dict[str, str], whole: bool
) -> None:
    assert configs_of(command, **texts).launch.args_complete is whole


def test_the_file_of_the_program_counts_where_none_is_given() -> None:
    command = "uv run python examples/run_grpo_math.py cluster.gpus_per_node=8"
    names = ("model.name", "train.micro_batch", "vllm.share", "parallel.processes_per_node")

    assert settings(command, *names) == ["Qwen/Qwen2.5-1.5B", 4, 0.6, 8]


@pytest.mark.parametrize(
    ("command", "canonical", "value", "via", "text"),
    [
        (
            "automodel a.yaml",
            "train.gradient_checkpointing",
            True,
            "config",
            "distributed: {activation_checkpointing: true}",
        ),
        ("automodel a.yaml", "train.micro_batch", 1, "arg", "--step_scheduler.local_batch_size 1"),
        (
            f"{RUN} b.yaml",
            "vllm.share",
            0.5,
            "config",
            "policy: {generation: {vllm_cfg: {gpu_memory_utilization: 0.5}}}",
        ),
        (f"{RUN} b.yaml", "train.micro_batch", 1, "arg", "policy.train_micro_batch_size=1"),
        (
            f"{RUN} b.yaml policy.megatron_cfg.enabled=true",
            "parallel.tensor",
            2,
            "arg",
            "policy.megatron_cfg.tensor_model_parallel_size=2",
        ),
    ],
)
def test_a_change_is_written_as_the_program_reads_it(
    command: str, canonical: str, value: object, via: str, text: str
) -> None:
    launch = configs_of(command, a=AUTOMODEL).launch

    found = spell(canonical, value, launch.framework, None, load().params, via=via, launch=launch)

    assert found is not None
    assert found.text == text


def test_the_length_in_use_is_the_one_that_is_changed() -> None:
    packed = AUTOMODEL.replace("packed_sequence_size: 0", "packed_sequence_size: 4096")
    launch = configs_of("automodel a.yaml", a=packed).launch
    params = load().params

    found = spell("train.max_length", 1024, "nemo-automodel", None, params, launch=launch)

    assert found is not None
    assert found.param == "packed_sequence.packed_sequence_size"


def test_a_smaller_micro_batch_leaves_the_batch_that_is_told() -> None:
    facts = Facts(
        [
            fact("launch.framework", "nemo-automodel"),
            fact("train.micro_batch", 4),
            fact("train.grad_accum", 2),
            fact("train.global_batch", 64),
            fact("parallel.world_size", 8),
        ]
    )

    note = batch_note(facts, {"train.micro_batch": 2})

    assert note is not None
    assert note.en == "the effective batch stays 64"
