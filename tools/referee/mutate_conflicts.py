"""Options that do not go together, or values out of bounds: what to change in a good launch.

Each row: the releases' majors it is meant for, the kind of launch ("" is any), and the change:
`set` gives options new values (None takes one away), `env` variables (None takes one away).
Whether a framework really refuses it is for `judge.py` to tell; rows it takes are of use as well.
"""

from __future__ import annotations

from typing import NamedTuple


class Conflict(NamedTuple):
    """A change that may make a launch one that is refused."""

    name: str
    majors: str
    command: str
    set: dict[str, str | None]
    env: dict[str, str | None] = {}  # noqa: RUF012 - never changed


TWO: dict[str, str | None] = {"CUDA_VISIBLE_DEVICES": "0,1", "NPROC_PER_NODE": None}
DDP: dict[str, str | None] = {"CUDA_VISIBLE_DEVICES": "0,1", "NPROC_PER_NODE": "2"}
ONE: dict[str, str | None] = {"CUDA_VISIBLE_DEVICES": "0", "NPROC_PER_NODE": None}

SWIFT = (
    Conflict("streaming-without-max-steps", "234", "sft", {"streaming": "true", "max_steps": None}),
    Conflict("streaming-with-epochs", "34", "sft", {"streaming": "true", "num_train_epochs": "1"}),
    Conflict("deepspeed-with-device-map", "234", "sft", {"deepspeed": "zero2"}, TWO),
    Conflict("deepspeed-zero3-two-ranks", "34", "sft", {"deepspeed": "zero3"}, DDP),
    Conflict("deepspeed-unknown-preset", "234", "sft", {"deepspeed": "zero4"}, DDP),
    Conflict("deepspeed-json-broken", "34", "sft", {"deepspeed": "{bad"}, DDP),
    Conflict(
        "ranks-do-not-divide-cards", "34", "sft", {}, {**DDP, "CUDA_VISIBLE_DEVICES": "0,1,2"}
    ),
    # 2.x
    Conflict("quantised-full", "2", "sft", {"sft_type": "full", "quantization_bit": "4"}),
    Conflict("full-fp16", "2", "sft", {"sft_type": "full", "dtype": "fp16"}),
    Conflict(
        "freeze-with-lora", "2", "sft", {"sft_type": "lora", "freeze_parameters_ratio": "0.5"}
    ),
    Conflict(
        "freeze-out-of-bounds", "2", "sft", {"sft_type": "full", "freeze_parameters_ratio": "1.5"}
    ),
    Conflict(
        "trainable-with-lora",
        "2",
        "sft",
        {"sft_type": "lora", "additional_trainable_parameters": "lm_head"},
    ),
    Conflict(
        "streaming-with-workers", "2", "sft", {"streaming": "true", "preprocess_num_proc": "4"}
    ),
    Conflict(
        "adalora-on-embedding", "2", "sft", {"sft_type": "adalora", "target_modules": "EMBEDDING"}
    ),
    Conflict("model-type-unknown", "2", "sft", {"model_type": "qwen9-7b"}),
    Conflict("model-type-unknown", "34", "sft", {"model_type": "qwen9"}),
    Conflict("template-unknown", "2", "sft", {"template_type": "qwen9"}),
    Conflict("template-unknown", "34", "sft", {"template": "qwen9"}),
    Conflict("ppo-streaming", "2", "rlhf", {"rlhf_type": "ppo", "streaming": "true"}),
    Conflict("batch-size-zero", "2", "sft", {"batch_size": "0"}),
    Conflict("lora-rank-zero", "2", "sft", {"sft_type": "lora", "lora_rank": "0"}),
    Conflict("targets-unknown", "2", "sft", {"sft_type": "lora", "target_modules": "nothing_proj"}),
    Conflict("lora-arguments-with-full", "2", "sft", {"sft_type": "full", "lora_rank": "8"}),
    # any Trainer
    Conflict(
        "best-model-steps",
        "34",
        "sft",
        {
            "load_best_model_at_end": "true",
            "eval_strategy": "steps",
            "eval_steps": "30",
            "save_steps": "50",
        },
    ),
    Conflict(
        "best-model-strategies",
        "234",
        "sft",
        {"load_best_model_at_end": "true", "eval_strategy": "epoch", "save_strategy": "steps"},
    ),
    Conflict(
        "best-model-no-eval", "34", "sft", {"load_best_model_at_end": "true", "eval_strategy": "no"}
    ),
    Conflict(
        "best-model-good",
        "34",
        "sft",
        {
            "load_best_model_at_end": "true",
            "eval_strategy": "steps",
            "eval_steps": "20",
            "save_steps": "40",
            "split_dataset_ratio": "0.2",
        },
    ),
    Conflict("logging-steps-zero", "34", "sft", {"logging_steps": "0"}),
    Conflict(
        "eval-steps-zero",
        "34",
        "sft",
        {"eval_strategy": "steps", "eval_steps": "0", "split_dataset_ratio": "0.2"},
    ),
    Conflict("logging-steps-fraction-above-1", "34", "sft", {"logging_steps": "1.5"}),
    Conflict("save-steps-fraction", "34", "sft", {"save_steps": "0.5"}),
    Conflict("warmup-ratio-above-1", "34", "sft", {"warmup_ratio": "1.5"}),
    Conflict("warmup-ratio-above-1", "2", "sft", {"warmup_ratio": "1.5"}),
    Conflict("warmup-twice", "34", "sft", {"warmup_ratio": "0.1", "warmup_steps": "10"}),
    Conflict("fp16-and-bf16", "34", "sft", {"fp16": "true", "bf16": "true"}),
    Conflict("scheduler-unknown", "234", "sft", {"lr_scheduler_type": "cosin"}),
    Conflict("optimiser-unknown", "234", "sft", {"optim": "adamw8bit"}),
    Conflict("report-unknown", "34", "sft", {"report_to": "tensorbord"}),
    Conflict("batch-size-zero", "34", "sft", {"per_device_train_batch_size": "0"}),
    Conflict("accumulation-zero", "34", "sft", {"gradient_accumulation_steps": "0"}),
    Conflict(
        "prefetch-without-workers",
        "34",
        "sft",
        {"dataloader_num_workers": "0", "dataloader_prefetch_factor": "2"},
    ),
    Conflict("scheduler-json-broken", "34", "sft", {"lr_scheduler_kwargs": "{num_cycles: 1}"}),
    Conflict(
        "checkpointing-json-broken",
        "34",
        "sft",
        {"gradient_checkpointing_kwargs": "{'use_reentrant': false}"},
    ),
    Conflict("fsdp-and-deepspeed", "34", "sft", {"fsdp": "full_shard", "deepspeed": "zero2"}, DDP),
    Conflict("fsdp-unknown", "34", "sft", {"fsdp": "shard_everything"}, DDP),
    # tuners of 3.x and 4.x
    Conflict("tuner-unknown", "3", "sft", {"train_type": "lorra"}),
    Conflict("tuner-unknown", "4", "sft", {"tuner_type": "qlora"}),
    Conflict("lora-rank-zero", "34", "sft", {"lora_rank": "0"}),
    Conflict("targets-unknown", "34", "sft", {"target_modules": "nothing_proj"}),
    Conflict("lora-arguments-with-full", "3", "sft", {"train_type": "full", "lora_rank": "8"}),
    Conflict("lora-arguments-with-full", "4", "sft", {"tuner_type": "full", "lora_rank": "8"}),
    Conflict("init-weights-unknown", "34", "sft", {"init_weights": "pisa"}),
    Conflict("quant-without-bits", "34", "sft", {"quant_method": "bnb"}),
    Conflict("quant-bits-of-others", "34", "sft", {"quant_method": "bnb", "quant_bits": "3"}),
    Conflict("bits-without-method", "34", "sft", {"quant_bits": "4"}),
    Conflict("optimiser-plugin-unknown", "34", "sft", {"optimizer": "lorap2"}),
    Conflict("loss-type-unknown", "34", "sft", {"loss_type": "cross_entropi"}),
    Conflict("rope-unknown", "4", "sft", {"rope_scaling": "yarnn"}),
    Conflict("dtype-unknown-word", "34", "sft", {"torch_dtype": "fp32"}),
    Conflict(
        "packing-without-flash-attention", "34", "sft", {"packing": "true", "attn_impl": None}
    ),
    Conflict("packing-with-sdpa", "34", "sft", {"packing": "true", "attn_impl": "sdpa"}),
    Conflict("padding-free-with-eager", "4", "sft", {"padding_free": "true", "attn_impl": "eager"}),
    Conflict("packing-with-lazy", "34", "sft", {"packing": "true", "lazy_tokenize": "true"}),
    Conflict(
        "streaming-with-lazy",
        "34",
        "sft",
        {"streaming": "true", "lazy_tokenize": "true", "packing": None},
    ),
    Conflict("split-in-sft", "4", "sft", {"truncation_strategy": "split"}),
    Conflict(
        "zero-partition-without-deepspeed",
        "34",
        "sft",
        {"zero_hpz_partition_size": "2", "deepspeed": None},
    ),
    Conflict("seq-cls-without-labels", "34", "sft", {"task_type": "seq_cls"}),
    Conflict("model-kwargs-broken", "34", "sft", {"model_kwargs": "{MAX_PIXELS:1}"}),
    Conflict(
        "sequence-parallel-one-card",
        "4",
        "sft",
        {"sequence_parallel_size": "2", "attn_impl": "sdpa"},
        ONE,
    ),
    Conflict("fsdp2-with-device-map", "4", "sft", {"fsdp": "fsdp2"}, TWO),
    Conflict("callbacks-unknown", "4", "sft", {"callbacks": "early_stopp"}),
    Conflict("liger-with-device-map", "4", "sft", {"use_liger_kernel": "true"}, TWO),
    Conflict(
        "deepspeed-autotp-without", "4", "sft", {"deepspeed_autotp_size": "2", "deepspeed": None}
    ),
    Conflict(
        "freeze-ratio-above-1",
        "34",
        "sft",
        {"train_type": "full", "freeze_parameters_ratio": "1.5"},
    ),
    Conflict("resume-missing", "34", "sft", {"resume_from_checkpoint": "out/none/checkpoint-1"}),
    Conflict("max-length-negative", "34", "sft", {"max_length": "-1"}),
    # preference and rewards
    Conflict("reference-with-lora", "34", "dpo", {"ref_model": "./tiny"}),
    Conflict("reference-with-orpo", "34", "orpo", {"ref_model": "./tiny"}),
    Conflict(
        "label-smoothing-with-ipo", "34", "dpo", {"loss_type": "ipo", "label_smoothing": "0.1"}
    ),
    Conflict("dpo-loss-unknown", "34", "dpo", {"loss_type": "sigmoyd"}),
    Conflict("kto-batch-of-one", "34", "kto", {"per_device_train_batch_size": "1"}),
    Conflict("loss-weights-without-losses", "4", "dpo", {"loss_weights": "0.5 0.5"}),
    Conflict(
        "generations-do-not-divide",
        "34",
        "grpo",
        {
            "num_generations": "3",
            "per_device_train_batch_size": "4",
            "gradient_accumulation_steps": "1",
        },
        ONE,
    ),
    Conflict(
        "generations-divide",
        "34",
        "grpo",
        {
            "num_generations": "4",
            "per_device_train_batch_size": "4",
            "per_device_eval_batch_size": "4",
        },
        ONE,
    ),
    Conflict(
        "generations-do-not-divide-two-ranks",
        "34",
        "grpo",
        {
            "num_generations": "8",
            "per_device_train_batch_size": "3",
            "gradient_accumulation_steps": "1",
        },
        DDP,
    ),
    Conflict(
        "eval-batch-does-not-divide",
        "34",
        "grpo",
        {
            "num_generations": "4",
            "per_device_train_batch_size": "4",
            "per_device_eval_batch_size": "3",
            "eval_strategy": "steps",
            "eval_steps": "5",
            "split_dataset_ratio": "0.3",
        },
        ONE,
    ),
    Conflict(
        "one-generation",
        "34",
        "grpo",
        {"num_generations": "1", "per_device_train_batch_size": "4"},
        ONE,
    ),
    Conflict("reward-unknown", "34", "grpo", {"reward_funcs": "formatt"}),
    Conflict(
        "rewards-and-weights",
        "34",
        "grpo",
        {"reward_funcs": "format repetition", "reward_weights": "1.0"},
    ),
    Conflict("no-reward", "34", "grpo", {"reward_funcs": None}),
    Conflict("grpo-vllm-mode-unused", "4", "grpo", {"vllm_mode": "colocate", "use_vllm": "false"}),
    Conflict("grpo-vllm-without-mode", "4", "grpo", {"use_vllm": "true", "vllm_mode": None}),
    Conflict("grpo-server-without-host", "4", "grpo", {"use_vllm": "true", "vllm_mode": "server"}),
    Conflict("grpo-truncation-right", "4", "grpo", {"truncation_strategy": "right"}),
    Conflict(
        "grpo-async-colocate",
        "4",
        "grpo",
        {"async_generate": "true", "use_vllm": "true", "vllm_mode": "colocate"},
    ),
    Conflict("grpo-estimator-unknown", "4", "grpo", {"advantage_estimator": "gae"}),
    Conflict("grpo-loss-unknown", "4", "grpo", {"loss_type": "grp"}),
    Conflict("grpo-soft-overlong", "4", "grpo", {"reward_funcs": "soft_overlong"}),
    Conflict(
        "grpo-steps-and-batch",
        "4",
        "grpo",
        {"generation_batch_size": "8", "steps_per_generation": "2"},
    ),
    Conflict(
        "grpo-log-entropy-liger", "4", "grpo", {"use_liger_kernel": "true", "log_entropy": "true"}
    ),
    Conflict(
        "gkd-seq-kd", "4", "rlhf", {"rlhf_type": "gkd", "teacher_model": "./tiny", "seq_kd": "true"}
    ),
    Conflict("gkd-without-teacher", "4", "rlhf", {"rlhf_type": "gkd"}),
    Conflict("rlhf-type-missing", "234", "rlhf", {"rlhf_type": None}),
)

LLAMAFACTORY = (
    Conflict(
        "streaming-without-max-steps",
        "0",
        "sft",
        {"streaming": "true", "max_steps": None, "max_samples": None},
    ),
    Conflict(
        "streaming-with-samples",
        "0",
        "sft",
        {"streaming": "true", "max_steps": "8", "max_samples": "10"},
    ),
    Conflict("val-size-and-eval-dataset", "0", "sft", {"val_size": "0.1", "eval_dataset": "sft"}),
    Conflict("eval-without-data", "0", "sft", {"do_eval": "true"}),
    Conflict(
        "eval-strategy-without-data", "0", "sft", {"eval_strategy": "steps", "eval_steps": "5"}
    ),
    Conflict(
        "adapter-with-full",
        "0",
        "sft",
        {"finetuning_type": "full", "adapter_name_or_path": "saves/lora"},
    ),
    Conflict("quantised-full", "0", "sft", {"finetuning_type": "full", "quantization_bit": "4"}),
    Conflict("quantised-resize", "0", "sft", {"quantization_bit": "4", "resize_vocab": "true"}),
    Conflict("quantised-pissa", "0", "sft", {"quantization_bit": "4", "pissa_init": "true"}),
    Conflict(
        "quantised-device-map",
        "0",
        "sft",
        {"quantization_bit": "4", "quantization_device_map": "auto"},
    ),
    Conflict("dora-with-full", "0", "sft", {"finetuning_type": "full", "use_dora": "true"}),
    Conflict("rslora-with-full", "0", "sft", {"finetuning_type": "full", "use_rslora": "true"}),
    Conflict(
        "loraplus-with-full", "0", "sft", {"finetuning_type": "full", "loraplus_lr_ratio": "16"}
    ),
    Conflict("lora-rank-with-full", "0", "sft", {"finetuning_type": "full"}),
    Conflict("galore-with-lora", "0", "sft", {"use_galore": "true"}),
    Conflict(
        "galore-and-badam",
        "0",
        "sft",
        {"finetuning_type": "full", "use_galore": "true", "use_badam": "true"},
    ),
    Conflict(
        "llama-pro-with-full", "0", "sft", {"finetuning_type": "full", "use_llama_pro": "true"}
    ),
    Conflict("finetuning-type-unknown", "0", "sft", {"finetuning_type": "qlora"}),
    Conflict("stage-unknown", "0", "sft", {"stage": "grpo"}),
    Conflict("template-unknown", "0", "sft", {"template": "qwen9"}),
    Conflict("neat-packing-dpo", "0", "dpo", {"neat_packing": "true"}),
    Conflict("mask-history-dpo", "0", "dpo", {"mask_history": "true"}),
    Conflict(
        "mask-history-and-prompt", "0", "sft", {"mask_history": "true", "train_on_prompt": "true"}
    ),
    Conflict("label-smoothing-ipo", "0", "dpo", {"pref_loss": "ipo", "dpo_label_smoothing": "0.1"}),
    Conflict("pref-loss-unknown", "0", "dpo", {"pref_loss": "sigmoyd"}),
    Conflict("predict-without-generate", "0", "sft", {"do_predict": "true", "eval_dataset": "sft"}),
    Conflict("generate-in-dpo", "0", "dpo", {"predict_with_generate": "true"}),
    Conflict(
        "best-model-in-rm",
        "0",
        "rm",
        {
            "load_best_model_at_end": "true",
            "eval_strategy": "steps",
            "eval_steps": "500",
            "val_size": "0.1",
        },
    ),
    Conflict("ppo-without-reward", "0", "sft", {"stage": "ppo"}),
    Conflict(
        "ppo-report",
        "0",
        "sft",
        {
            "stage": "ppo",
            "reward_model": "./tiny",
            "reward_model_type": "full",
            "report_to": "mlflow",
        },
    ),
    Conflict(
        "ppo-shift-attention",
        "0",
        "sft",
        {
            "stage": "ppo",
            "reward_model": "./tiny",
            "reward_model_type": "full",
            "shift_attn": "true",
        },
    ),
    Conflict("interleave-without-mixing", "0", "sft", {"interleave_probs": "0.5,0.5"}),
    Conflict(
        "interleave-lengths",
        "0",
        "sft",
        {"mix_strategy": "interleave_under", "interleave_probs": "0.5,0.3,0.2"},
    ),
    Conflict("deepspeed-without-torchrun", "0", "sft", {"deepspeed": "ds.json"}),
    Conflict(
        "deepspeed-torchrun",
        "0",
        "sft",
        {"deepspeed": "ds.json"},
        {"FORCE_TORCHRUN": "1", "NPROC_PER_NODE": "2"},
    ),
    Conflict("backend-vllm", "0", "sft", {"infer_backend": "vllm"}),
    Conflict(
        "pixels-turned-round",
        "0",
        "sft",
        {"image_min_pixels": "1000000", "image_max_pixels": "1024"},
    ),
    Conflict("slow-tokenizer-needed", "0", "sft", {"split_special_tokens": "true"}),
    Conflict("fp16-and-bf16", "0", "sft", {"fp16": "true", "bf16": "true"}),
    Conflict("fp16-misspelt", "0", "sft", {"fp16": "ture"}),
    Conflict("scheduler-unknown", "0", "sft", {"lr_scheduler_type": "cosin"}),
    Conflict("optimiser-unknown", "0", "sft", {"optim": "adamw8bit"}),
    Conflict("save-strategy-unknown", "0", "sft", {"save_strategy": "step"}),
    Conflict(
        "best-model-steps",
        "0",
        "sft",
        {
            "load_best_model_at_end": "true",
            "eval_strategy": "steps",
            "eval_steps": "300",
            "save_steps": "500",
            "val_size": "0.1",
        },
    ),
    Conflict("pissa-in-rm", "0", "rm", {"pissa_init": "true"}),
    Conflict(
        "reference-quantised-3",
        "0",
        "dpo",
        {"ref_model": "./tiny", "ref_model_quantization_bit": "3"},
    ),
    Conflict("warmup-ratio-above-1", "0", "sft", {"warmup_ratio": "1.5"}),
    Conflict("logging-steps-zero", "0", "sft", {"logging_steps": "0"}),
    Conflict("no-training", "0", "sft", {"do_train": None}),
    Conflict("lora-target-unknown", "0", "sft", {"lora_target": "nothing_proj"}),
    Conflict(
        "val-size-streaming-fraction",
        "0",
        "sft",
        {"streaming": "true", "max_steps": "8", "max_samples": None, "val_size": "0.1"},
    ),
    Conflict(
        "freeze-with-lora-args",
        "0",
        "sft",
        {"finetuning_type": "freeze", "freeze_trainable_layers": "1"},
    ),
    Conflict("learning-rate-exponent", "0", "sft", {"learning_rate": "1e-4"}),
    Conflict("learning-rate-word", "0", "sft", {"learning_rate": "small"}),
    Conflict("batch-word", "0", "sft", {"per_device_train_batch_size": "two"}),
    Conflict("lora-rank-word", "0", "sft", {"lora_rank": "eight"}),
    Conflict("rank-zero", "0", "sft", {"lora_rank": "0"}),
    Conflict("cutoff-word", "0", "sft", {"cutoff_len": "2k"}),
)
