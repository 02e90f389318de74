"""What takes a configuration file, told by its keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from trainrx.inputs.config import read_config

Kind = Literal[
    "ms-swift",
    "llamafactory",
    "axolotl",
    "verl",
    "easyr1",
    "trl",
    "nemo-automodel",
    "nemo-rl",
    "accelerate",
    "deepspeed",
    "fsdp",
    "args",
    "overrides",
    "hydra",
    "llamaboard",
]
"""args: a dump of resolved arguments (args.json of ms-swift); overrides, hydra: what Hydra keeps
beside the configuration it composed; fsdp: the `fsdp_config` of transformers; llamaboard: the
state of LLaMA Board's form, which writes `training_args.yaml` beside it."""

FRAMEWORKS = frozenset(
    {"ms-swift", "llamafactory", "axolotl", "verl", "easyr1", "trl", "nemo-automodel", "nemo-rl"}
)
_DUMP_LEAST = 60
"""Keys of a JSON object above which it is a dump of all arguments: nobody writes as many."""

_KEYS: Sequence[tuple[Kind, frozenset[str], frozenset[str]]] = (
    (
        "deepspeed",
        frozenset({"zero_optimization", "train_micro_batch_size_per_gpu", "train_batch_size"}),
        frozenset({"fp16", "bf16", "gradient_clipping", "zero_allow_untested_optimizer"}),
    ),
    (
        "accelerate",
        frozenset({"compute_environment", "distributed_type", "main_training_function"}),
        frozenset({"num_processes", "num_machines", "deepspeed_config", "fsdp_config"}),
    ),
    (
        "fsdp",
        frozenset(
            {"fsdp_transformer_layer_cls_to_wrap", "fsdp_version", "fsdp_state_dict_type"}
            | {"transformer_layer_cls_to_wrap", "reshard_after_forward", "xla_fsdp_v2"}
        ),
        frozenset({"activation_checkpointing", "min_num_params", "version", "use_orig_params"}),
    ),
    (
        "llamafactory",
        frozenset({"finetuning_type", "cutoff_len", "lora_target", "dataset_dir", "stage"}),
        frozenset({"template", "overwrite_cache", "preprocessing_num_workers", "deepspeed"}),
    ),
    (
        "axolotl",
        frozenset({"base_model", "sequence_len", "micro_batch_size", "sample_packing"}),
        frozenset({"datasets", "adapter", "val_set_size", "lora_r"}),
    ),
    (
        "verl",
        frozenset({"actor_rollout_ref", "algorithm", "trainer.n_gpus_per_node"}),
        frozenset({"data", "trainer", "critic"}),
    ),
    (
        "easyr1",
        frozenset(
            {"worker.actor", "worker.rollout", "worker.ref", "data.rollout_batch_size"}
            | {"worker.actor.model.model_path", "worker.reward.reward_function"}
        ),
        frozenset({"data", "algorithm", "worker", "trainer", "trainer.n_gpus_per_node"}),
    ),
    (
        "nemo-automodel",
        frozenset(
            {"step_scheduler", "model.pretrained_model_name_or_path", "distributed.strategy"}
            | {"packed_sequence.packed_sequence_size", "model.backend.rope_fusion"}
            | {"distributed.tp_size", "distributed.cp_size", "distributed.ep_size"}
        ),
        frozenset({"model", "distributed", "loss_fn", "dataloader", "peft", "dist_env", "recipe"}),
    ),
    (
        "nemo-rl",
        frozenset(
            {"policy.model_name", "policy.generation", "policy.dtensor_cfg", "policy.megatron_cfg"}
            | {
                "policy.train_micro_batch_size",
                "grpo.num_generations_per_prompt",
                "grpo.async_grpo",
            }
            | {"policy.train_global_batch_size", "grpo.num_prompts_per_step"}
        ),
        frozenset({"policy", "cluster", "grpo", "sft", "dpo", "loss_fn", "checkpointing"}),
    ),
    (
        "ms-swift",
        frozenset({"tuner_type", "train_type", "sft_type", "attn_impl", "rlhf_type", "freeze_vit"}),
        frozenset({"model", "model_type", "dataset", "split_dataset_ratio", "vllm_mode", "ENV"}),
    ),
    (
        "trl",
        frozenset(
            {"use_peft", "dataset_name", "attn_implementation", "lora_target_modules"}
            | {"num_generations", "max_completion_length", "max_prompt_length"}
        ),
        frozenset({"model_name_or_path", "per_device_train_batch_size", "lora_r", "dtype"}),
    ),
)


def classify_config(text: str) -> Kind | None:
    """Name what takes a configuration; None when no key decides."""
    args, _ = read_config(text, "")
    names = {front for arg in args for front in _fronts(arg.name)}
    dumped = text.lstrip().startswith("{") and len(names) > _DUMP_LEAST
    if dumped and {"output_dir", "model", "model_id_or_path"} & names:
        return "args"
    if text.lstrip().startswith("- ") and args:
        return "overrides"
    if "hydra" in names and {"hydra.run.dir", "hydra.job.name", "hydra.verbose"} & names:
        return "hydra"
    if {"top.lang", "top.model_name"} & names and any(name.startswith("train.") for name in names):
        return "llamaboard"
    best, score = None, 0
    for kind, telling, usual in _KEYS:
        points = 3 * len(names & telling) + len(names & usual) if names & telling else 0
        if points > score:
            best, score = kind, points
    return best


def _fronts(name: str) -> Iterator[str]:
    """Give a dotted name and all that stands in front of its dots."""
    at = name.find(".")
    while at >= 0:
        yield name[:at]
        at = name.find(".", at + 1)
    yield name


def is_framework_config(kind: Kind | None) -> bool:
    """Tell whether a configuration alone implies the command of its framework."""
    return kind in FRAMEWORKS or kind == "args"
