"""Which tables of a catalog stand behind the spellings of a parameter, and what they leave open."""

from __future__ import annotations

from trainrx.catalog.catalog import catalog

COMMANDS: dict[str, dict[str, tuple[str, ...]]] = {
    "ms-swift": {c: (c,) for c in catalog("ms-swift").contents.commands if c != "web-ui"},
    "llamafactory": {"train": ("train",)},
    "transformers": {"train": ("Seq2SeqTrainingArguments",)},
    "trl": {
        command: (config, "ModelConfig", command)
        for command, config in (
            ("sft", "SFTConfig"),
            ("dpo", "DPOConfig"),
            ("grpo", "GRPOConfig"),
            ("rloo", "RLOOConfig"),
            ("kto", "KTOConfig"),
            ("reward", "RewardConfig"),
            ("ppo", "PPOConfig"),
            ("orpo", "ORPOConfig"),
            ("cpo", "CPOConfig"),
            ("gkd", "GKDConfig"),
            ("online_dpo", "OnlineDPOConfig"),
        )
    },
    "verl": {
        "ppo": ("ppo_trainer", "ppo_megatron_trainer"),
        "sft": ("sft_trainer", "sft_trainer_engine"),
    },
    "openrlhf": {
        "sft": ("train_sft",),
        "ppo-ray": ("train_ppo_ray",),
        "dpo": ("train_dpo",),
        "rm": ("train_rm",),
        "kto": ("train_kto",),
    },
    "axolotl": {
        "train": (
            "train",
            "plugin:axolotl.integrations.cut_cross_entropy",
            "plugin:axolotl.integrations.expert_parallel",
            "plugin:axolotl.integrations.liger",
        )
    },
    "vllm": {"serve": ("serve", "EngineArgs")},
    "accelerate": {"launch": ("launch",)},
}
"""Classes and tables of a catalog behind our names of a framework's commands."""

NESTED = {
    ("accelerate", "deepspeed_config."): "launch",
    ("accelerate", "fsdp_config."): "launch",
}
"""Sections of a configuration file whose keys the catalog lists under a name of their own."""

PARENTS = {"trl": "transformers", "ms-swift": "transformers", "llamafactory": "transformers"}
"""Their training arguments extend TrainingArguments; which of its names depends on the release
installed, so one that any release has counts."""

EVERYWHERE = {"ms-swift": ("megatron sft", "megatron pt", "megatron rlhf")}
"""A spelling that names no commands is taken for one of these, too."""

UNLISTED = {
    ("transformers", "model_name_or_path"): "ModelArguments of transformers' example scripts",
    ("transformers", "attn_implementation"): "argument of from_pretrained, scripts pass it on",
    ("openrlhf", "flash_attn"): "before 0.8, the first release of the catalog",
    ("verl", "config_name"): "option of hydra itself",
    (
        "verl",
        "actor_rollout_ref.rollout.engine_kwargs.vllm.disable_cascade_attn",
    ): "keys below engine_kwargs.vllm are vLLM's own",
    ("axolotl", "gradient_checkpointing_kwargs.use_reentrant"): "key of a dictionary argument",
    ("axolotl", "accelerator_config.dispatch_batches"): "key of a dictionary argument",
    ("vllm", "tp"): "short form",
}
"""Names no catalog lists, with the reason why they are accepted all the same."""

EFFECTIVE = {
    ("train.gradient_checkpointing", "ms-swift", "<3.0"): "SftArguments sets it where unset",
    ("tuner.type", "ms-swift", ">=3.2.2,<3.7"): "Megatron's commands train all weights there",
    ("vllm.device", "ms-swift", ">=3.1.1,<3.5"): "declared as the list ['auto'] from 3.2 on",
    ("train.optimizer", "axolotl", "<0.8"): "declared as a member of an enumeration",
    ("train.optimizer", "axolotl", ">=0.8"): "declared as a member of an enumeration",
    ("train.attention", "openrlhf", "<0.8.10"): "a switch, which is off",
    ("train.precision", "trl", ">=0.19"): "__post_init__ of the configs: bf16 unless fp16",
}
"""Defaults that are not the declared ones (parameter, package, range), with what sets them."""

OTHER_TASKS = {"infer", "deploy", "eval", "export", "merge-lora", "rollout", "app", "app-ui"}
OTHER_TASKS |= {"sample", "megatron export"}
TRAINING_ONLY = ("train.", "tuner.", "freeze.", "rlhf.")

_ONLINE = ("rlhf.", "vllm.")
_ENGINE = ("vllm.", "infer.")
_MEGATRON = ("moe.experts_impl", "train.reentrant_checkpointing")
IDLE: dict[tuple[str, str], tuple[str, ...]] = {
    ("ms-swift", "megatron sft"): (*_ONLINE, *_MEGATRON),
    ("ms-swift", "megatron pt"): (*_ONLINE, *_MEGATRON),
    ("ms-swift", "megatron rlhf"): _MEGATRON,
    ("ms-swift", "megatron export"): ("train.", "tuner.", "megatron.", "moe.", *_ONLINE),
    ("ms-swift", "export"): _ENGINE,
    ("ms-swift", "merge-lora"): _ENGINE,
    ("ms-swift", "sample"): ("vllm.",),
    ("ms-swift", "rollout"): ("infer.", "moe.experts_impl"),
    ("ms-swift", "sft"): ("rlhf.",),
    ("ms-swift", "pt"): ("rlhf.",),
}
"""Parameters whose names a command takes, as it shares a class with others, but does not use.

The Megatron commands give what is passed on to transformers to the vision tower alone.
"""

_TWO = ("dpo", "orpo", "simpo")
OTHERWISE: dict[tuple[str, str, str], tuple[tuple[str, ...], str]] = {
    ("parallel.deepspeed", "accelerate", "deepspeed_config_file"): (
        (),
        "an option of the launcher",
    ),
    ("parallel.deepspeed", "accelerate", "zero_stage"): ((), "an option of the launcher"),
    ("train.grad_accum", "accelerate", "gradient_accumulation_steps"): (
        (),
        "an option of the launcher, which scripts override",
    ),
    ("train.micro_batch", "axolotl", "batch_size"): ((), "samples of all accumulation steps"),
    ("train.dispatch_batches", "axolotl", "accelerator_config"): ((), "its keys are spelled"),
    ("train.reentrant_checkpointing", "axolotl", "gradient_checkpointing_kwargs"): (
        (),
        "its keys are spelled",
    ),
    ("model.type", "axolotl", "model_type"): ((), "a class of transformers"),
    ("tuner.quant_method", "axolotl", "quantization"): ((), "settings of a quantised export"),
    ("rlhf.reward_model", "axolotl", "reward_model"): ((), "a switch: what is trained is one"),
    ("vision.max_pixels", "llamafactory", "image_resolution"): ((), "0.9.0: a side, not pixels"),
    ("vision.video_max_pixels", "llamafactory", "video_resolution"): (
        (),
        "0.9.0: a side, not pixels",
    ),
    ("infer.backend", "llamafactory", "infer_backend"): (("train",), "training infers itself"),
    ("parallel.master_addr", "llamafactory", "master_addr"): ((), "of the workers of Ray"),
    ("parallel.master_port", "llamafactory", "master_port"): ((), "of the workers of Ray"),
    ("train.max_length", "llamafactory", "max_length"): ((), "of what is generated"),
    ("task.dataset", "ms-swift", "eval_dataset"): ((), "benchmarks of evalscope"),
    ("rlhf.beta", "ms-swift", "kl_coef"): ((), "of PPO alone, beside beta of the others"),
    ("rlhf.type", "ms-swift", "rlhf_type"): (_TWO, "the command names it"),
    ("train.epochs", "ms-swift", "max_epochs"): (
        ("sft", "pt", "rlhf"),
        "ends the run before num_train_epochs",
    ),
    ("vllm.max_model_len", "ms-swift", "max_model_len"): ((), "from 3.7 on what RoPE is scaled to"),
    ("model.load", "ms-swift", "mcore_model"): (("export", "merge-lora"), "what is converted"),
    ("vllm.server_port", "ms-swift", "port"): (("app", "app-ui", "eval"), "of another server"),
    ("rlhf.reference_model", "ms-swift", "ref_model_id_or_path"): (
        ("orpo",),
        "ORPO has no reference",
    ),
    ("rlhf.reward_model", "ms-swift", "reward_model_id_or_path"): (_TWO, "these have none"),
    ("rlhf.reward_model_kind", "ms-swift", "reward_model_type"): ((), "the type of its model"),
    ("parallel.tensor_sequence", "ms-swift", "sequence_parallel"): (
        ("sft", "pt", "rlhf", *_TWO),
        "of train_backend megatron of 2.x",
    ),
    ("parallel.strategy", "ms-swift", "train_backend"): ((), "of 2.x: transformers or megatron"),
    ("vllm.tensor_parallel", "ms-swift", "tp"): ((), "of LMDeploy, of 2.x of Megatron, too"),
    ("parallel.tensor", "ms-swift", "tensor_parallel_size"): ((), "of vLLM"),
    ("vllm.max_model_len", "ms-swift", "sglang_context_length"): ((), "of SGLang"),
    ("vllm.enforce_eager", "ms-swift", "sglang_disable_cuda_graph"): ((), "of SGLang"),
    ("vllm.kv_cache_dtype", "ms-swift", "sglang_kv_cache_dtype"): ((), "of SGLang"),
    ("vllm.share", "ms-swift", "sglang_mem_fraction_static"): ((), "of SGLang"),
    ("rlhf.temperature", "ms-swift", "temperature"): (("rlhf", *_TWO), "of predictions until 3.0"),
    ("vllm.gc_collect", "ms-swift", "gc_collect_after_offload"): (
        ("rlhf",),
        "of no effect from 3.6",
    ),
    ("model.type", "ms-swift", "template"): ((), "the chat template"),
    ("train.unsloth", "ms-swift", "tuner_backend"): ((), "has no unsloth before 2.0.4"),
    ("train.attention", "ms-swift", "use_flash_attn"): (
        ("megatron sft", "megatron pt", "megatron rlhf"),
        "of the legacy models of Megatron",
    ),
    ("train.epochs", "openrlhf", "max_epochs"): (("ppo-ray",), "passes over one batch of rollouts"),
    ("train.epochs", "openrlhf", "train.max_epochs"): (
        ("ppo-ray",),
        "passes over one batch of rollouts",
    ),
    ("model.name", "trl", "base_model"): ((), "a name for the tracker"),
    ("rlhf.reward_model", "trl", "reward_model"): (("ppo",), "a name for the tracker"),
    ("train.micro_batch", "trl", "batch_size"): ((), "of all accumulation steps of PPO"),
    ("train.micro_batch", "trl", "micro_batch_size"): ((), "worked out by PPO and RLOO"),
    ("train.global_batch", "trl", "global_batch_size"): ((), "worked out by PPO"),
    ("rlhf.beta", "trl", "beta"): (("gkd",), "between forward and reverse KL"),
    ("train.dataset", "trl", "datasets"): ((), "a list of mixtures"),
    ("train.streaming", "trl", "streaming"): ((), "of a mixture of data sets"),
    ("rlhf.max_completion_length", "trl", "max_completion_length"): (
        ("dpo", "kto", "orpo", "cpo"),
        "of encoder-decoder models",
    ),
    ("rlhf.max_completion_length", "trl", "max_target_length"): ((), "of encoder-decoder models"),
    ("train.reentrant_checkpointing", "trl", "gradient_checkpointing_use_reentrant"): (
        (),
        "read by the command of 0.8 to 0.12 only, by no script",
    ),
    ("train.optimizer", "verl", "optim"): ((), "a group of files"),
    ("train.attention", "vllm", "attention_backend"): ((), "of the engine"),
    ("tuner.targets", "vllm", "lora_target_modules"): ((), "which of an adapter are served"),
}
"""Names that mean something else in a package or do nothing there: for which commands (none: all).

By parameter, package and name.
"""
