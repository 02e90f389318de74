"""What ms-swift decides of memory, batches, processes and roles."""

from __future__ import annotations

from trainrx.frameworks.common.layout import OPEN, LayoutTraits, Mode, by_beta, switched_off
from trainrx.frameworks.common.memory import FULL, MemoryTraits, runs
from trainrx.model.facts import Facts


class SwiftLayout(LayoutTraits, MemoryTraits):
    """The parts of the protocol a job's memory follows from."""

    __slots__ = ()

    # Memory ---------------------------------------------------------------------------------------
    hf_trainer = True
    default_tuner = "lora"
    """2 to 4: sft_type, train_type, tuner_type."""
    qkv_targets = "<3.0"
    """DEFAULT: q, k, v of Llama's kind, else the packed matrix (llm/utils/model.py: LoRATM)."""
    full_in_megatron = "<3.7"
    """`train_type` is inherited there and means nothing (swift/megatron/argument of 3.6)."""
    trains_by_name = True
    loads_as = "asked"
    casts_fp16 = True
    """2.x: llm/utils/argument.py: select_dtype; 3.x and later: llm/train/tuner.py."""
    one_process = True
    """Unless NPROC_PER_NODE says otherwise (swift/cli/main.py)."""
    spreads_layers = True
    """Where neither DeepSpeed nor FSDP is on (swift/utils: get_default_device_map, is_mp)."""
    before_sdpa = "<1.6"
    own_fp32_logits = "<3.0"
    drops_logits = ("<3.0",)
    hooks_under_ddp = ">=4.6"
    """swift/trainers/mixin.py: _fix_gradient_checkpointing."""
    completion_logits = True
    """`logits_to_keep` of swift/trainers/rlhf_trainer."""
    completion_logits_of_images = ">=4.0"
    cuts_samples = True
    gathers_whole = True
    """All groups of move_model_batches at once where it is unset (rlhf_trainer/grpo_trainer.py:
    split_batches)."""

    def mixes(self, facts: Facts, *, sharded: bool) -> bool | None:
        """It sets bf16 or fp16 by the precision it loads the weights in.

        base_args/model_args.py: _init_torch_dtype.
        """
        return (facts.word("train.precision") or facts.word("model.dtype")) != FULL

    # Batches, processes and roles -----------------------------------------------------------------
    generation_batch = ("3.4", "3.5", "3.5.2")
    """GRPOTrainer.__init__ and _prepare_grpo of those releases."""
    checks_generations = True
    computes_as_stored = 3
    """swift/llm/model/utils.py: HfConfigFactory, get_default_torch_dtype."""
    tower_like_rest = ">=3.5"
    """Its arguments.py."""
    pixels_of_qwen = True
    ppo_critic = True
    own_model_types = True
    own_messages = frozenset({"remaining-argv", "argument-text-unreadable"})
    now_first_word = "config"
    """From 4.1 on: `parse_yaml_args`, cli/main.py."""
    stands_by = ("transformers", "trl")

    def unread(self, facts: Facts) -> frozenset[str]:
        """Qwen3-VL's tools take IMAGE_MAX_TOKEN_NUM; MAX_PIXELS is turned into it from 3.10.1 on.

        model/qwen.py: compat_qwen_vl_utils. The argument max_pixels scales images beforehand.
        """
        by_variable = facts.get("arg.max_pixels") is None
        if facts.text("model.family") == "qwen3-vl" and runs(facts, ">=3.9.0,<3.10.1"):
            return frozenset({"vision.max_pixels"} if by_variable else ())
        return frozenset()

    def sharing(self, facts: Facts) -> tuple[str, ...] | None:
        """The ranks of a group read the same sample (trainers/sequence_parallel)."""
        return ("parallel.sequence",)

    def rollout_mode(self, facts: Facts) -> Mode | None:
        """An address of a server, from 3.3.1 on, means that the engine is there.

        3.5 to 3.11.0 take colocate (rlhf_args.py: _init_grpo); before, as many workers as cards
        mean it.
        """
        if facts.text("vllm.server_host"):
            return "server", ("vllm.server_host",)
        if not runs(facts, ">=3.5,<3.11.1"):
            return None
        return ("colocate", ("vllm.enabled",)) if facts.is_unset("vllm.server_host") else OPEN

    def has_reference(self, facts: Facts, task: str) -> bool | None:
        """In full tuning only; none for GRPO with beta 0, which is 0.04 unset (rlhf_args.py)."""
        unset = facts.is_unset("rlhf.beta") or None
        return switched_off(facts, task, grpo=by_beta(facts, unknown=unset))

    def has_reward_model(self, facts: Facts, task: str) -> bool | None:
        """PPO does not go without one."""
        if "rlhf.reward_model" in facts:
            return True
        return task == "ppo" if facts.is_unset("rlhf.reward_model") else None
