"""What an argument is about: by its meaning where that is known, else by the words in its name."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from trainrx.model.inspection import Topic
from trainrx.model.pattern import late

_BY_CANONICAL: dict[str, Topic] = {
    "task.dataset": "data",
    "train.dataset": "data",
    "train.streaming": "data",
    "train.lazy_tokenize": "data",
    "train.dataloader_workers": "data",
    "train.preprocess_workers": "data",
    "train.dispatch_batches": "parallel",
    "train.reuse_cache": "data",
    "train.pack_length": "batch",
    "train.micro_batch": "batch",
    "train.grad_accum": "batch",
    "train.eval_micro_batch": "batch",
    "train.global_batch": "batch",
    "train.dynamic_batch": "batch",
    "train.max_tokens_per_gpu": "batch",
    "train.max_length": "batch",
    "train.packing": "batch",
    "train.padding_free": "batch",
    "train.gradient_checkpointing": "memory",
    "train.vit_gradient_checkpointing": "memory",
    "train.reentrant_checkpointing": "memory",
    "train.attention": "memory",
    "train.precision": "memory",
    "train.liger": "memory",
    "train.cut_cross_entropy": "memory",
    "train.chunked_cross_entropy": "memory",
    "train.mixed_precision": "memory",
    "train.pure_half": "memory",
    "train.galore": "optimizer",
    "train.apollo": "optimizer",
    "train.badam": "optimizer",
    "train.lisa_layers": "optimizer",
    "train.ddp_timeout": "parallel",
    "ascend.visible_devices": "parallel",
    "deepspeed.skip_cuda_check": "environment",
    "train.learning_rate": "optimizer",
    "train.warmup_ratio": "optimizer",
    "train.optimizer": "optimizer",
    "train.max_steps": "optimizer",
    "train.epochs": "optimizer",
    "train.eval_accumulation_steps": "saving",
    "train.eval_steps": "saving",
    "train.save_steps": "saving",
    "train.output_dir": "saving",
    "train.resume": "saving",
}
_BY_PREFIX: dict[str, Topic] = {
    "model": "model",
    "task": "model",
    "tuner": "tuner",
    "freeze": "tuner",
    "batch": "batch",
    "memory": "memory",
    "parallel": "parallel",
    "hardware": "parallel",
    "rlhf": "rlhf",
    "vllm": "rlhf",
    "infer": "rlhf",
    "rollout": "rlhf",
    "vision": "vision",
    "nccl": "environment",
    "net": "environment",
    "gloo": "environment",
    "hccl": "environment",
    "store": "environment",
    "triton": "environment",
    "tokenizers": "environment",
    "hub": "environment",
    "host": "environment",
    "debug": "environment",
    "moe": "parallel",
    "megatron": "parallel",
    "video": "vision",
    "alloc": "environment",
    "launch": "other",
}
_STARTS: tuple[tuple[Topic, str], ...] = (
    ("optimizer", "adam_ sgd_ muon_ mm_projector_lr vision_lr vit_lr aligner_lr norm_epsilon"),
    ("tuner", "freeze trainable unfreeze use_rslora lora_lr lorap_lr use_llama_pro quantization_"),
    ("tuner", "modules_to_save lora_modules_to_save ia3_modules_to_save vera_modules_to_save"),
    ("saving", "modelscope_hub hf_hub ms_hub om_hub plot_loss"),
    ("rlhf", "chord_ fipo_ rlsd_ sdar_ gkd_ cosine_ repetition_ overlong_ soft_ pref_ num_mini_"),
    ("rlhf", "rollout ref. vllm use_vllm lmdeploy sglang reward critic algorithm multi_turn"),
    ("rlhf", "use_gym prm_ importance_sampling scale_rewards num_iterations async_generate beta"),
    ("rlhf", "infer_backend num_generations num_infer_workers sleep_level"),
)
"""How names begin, the first that fits decides; they go before `_WORDS`."""
_WORDS: tuple[tuple[Topic, str], ...] = (
    ("rlhf", "kl rlhf grpo dpo ppo kto orpo simpo cpo rpo gae advantage completion temperature"),
    ("rlhf", "top_p top_k epsilon offload_model move_model_batches ref_model ref_adapters teacher"),
    ("vision", "pixel pixels image images video videos fps frame frames vit vision audio mm"),
    ("vision", "multimodal aligner projector"),
    ("saving", "save eval evaluation logging log report_to output_dir run_name hub push wandb"),
    ("saving", "swanlab tensorboard metric checkpoint_dir resume overwrite plot predict project"),
    ("saving", "experiment test_freq trackio mlflow comet"),
    ("tuner", "lora adalora dora qlora galore apollo badam lisa ia3 boft vera fourier adapter"),
    ("tuner", "adapters llamapro reft longlora tuner train_type sft_type finetuning_type freeze"),
    ("tuner", "trainable target_modules target_regex target_parameters unfreeze peft quant bnb"),
    ("tuner", "hqq eora pissa loftq oft additional_target"),
    ("parallel", "deepspeed zero zero3 fsdp fsdp2 ddp nproc nnodes node nodes rank master world"),
    ("parallel", "tensor_parallel tensor_model pipeline sequence_parallel context_parallel"),
    ("parallel", "expert_parallel expert_model ulysses ring_attn tp pp cp ep sp zpg device_map"),
    ("parallel", "torchrun num_processes accelerator distributed n_gpus parallel tpu overlap"),
    ("parallel", "ray device_groups gpus"),
    ("memory", "bf16 fp16 fp8 fp4 tf32 dtype precision flash attn attention sdpa checkpointing"),
    ("memory", "recompute activation liger kernel kernels unsloth offload offloading empty_cache"),
    ("memory", "compile dynamo fused memory low_mem cuda_graph half"),
    ("batch", "batch micro accumulation max_length max_len cutoff_len seq_length seq_len packing"),
    ("batch", "pack padding truncation length sequence_len max_seq max_prompt max_response"),
    ("batch", "max_position max_new_tokens max_tokens token_len"),
    ("optimizer", "lr learning rate warmup optim optimizer adam scheduler max_steps epoch epochs"),
    ("optimizer", "seed grad_norm clip momentum decay iters neftune label_smoothing muon"),
    ("optimizer", "full_determinism loss steps"),
    ("data", "data dataset datasets dataloader train_file files template system column columns"),
    ("data", "streaming shuffle split preprocess preprocessing tokenize tokenized sample samples"),
    ("data", "interleave mix mixture cache_dir val prompt strict tokenizer buffer input_key"),
    ("data", "output_key label_key self_cognition agent tools"),
    ("model", "model pretrain revision trust_remote_code rope rotary vocab config hf_token use_hf"),
    ("model", "ckpt moe num_layers hidden_size ffn qk mtp num_experts architectures layernorm"),
    (
        "model",
        "kv_channels init swiglu geglu layer_types special_tokens task_type num_labels mrope",
    ),
    ("model", "linear"),
)
"""Words anywhere in a name; the first that stands in it decides."""
_ROOM = late(r"^actor_rollout_ref\.(?:actor\.)?(?:ppo_)?")
"""verl names the trained model and its actor in front of what is meant."""
_EDGE = late(r"[._/]")
MOST_JOINED = 3
TRAINING: Topic = "optimizer"
"""Where a setting of the training stands of which nothing says more."""


def topic_of(name: str, canonical: str = "") -> Topic:
    """Give the topic of an argument or a fact.

    Args:
        name: as the framework spells it.
        canonical: its meaning (an id of kb/params), or the id of a fact.
    """
    if canonical in _BY_CANONICAL:
        return _BY_CANONICAL[canonical]
    prefix = canonical.partition(".")[0]
    found = _BY_PREFIX.get(prefix) or _by_words(name)
    return TRAINING if prefix == "train" and found == "other" else found


@cache
def _by_words(name: str) -> Topic:
    lowered = _ROOM.sub("", name.lower().replace("-", "_"))
    for topic, start in _starts():
        if lowered.startswith(start):
            return topic
    parts = _EDGE.split(lowered)
    ranks = _ranks()
    best = min((ranks[run] for run in _runs(parts) if run in ranks), default=(len(_WORDS), "other"))
    return best[1]


def _runs(parts: list[str]) -> Iterator[str]:
    """Give every run of neighbouring words of a name, up to as many as `_WORDS` joins."""
    for start in range(len(parts)):
        for end in range(start + 1, min(start + MOST_JOINED, len(parts)) + 1):
            yield "_".join(parts[start:end])


@cache
def _starts() -> tuple[tuple[Topic, tuple[str, ...]], ...]:
    return tuple((topic, tuple(text.split())) for topic, text in _STARTS)


@cache
def _ranks() -> dict[str, tuple[int, Topic]]:
    order: dict[Topic, int] = {}
    found: dict[str, tuple[int, Topic]] = {}
    for topic, text in _WORDS:
        rank = order.setdefault(topic, len(order))
        for word in text.split():
            found.setdefault(word, (rank, topic))
    return found
