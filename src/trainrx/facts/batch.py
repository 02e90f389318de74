"""Batches: samples per update, tokens per forward pass, completions per round of generation."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.facts.reading import degree, derived, framework, is_megatron, task, whole
from trainrx.frameworks.common.traits import having
from trainrx.model.facts import Fact, Facts
from trainrx.versions.ranges import in_range

PAIRS = frozenset({"dpo", "orpo", "simpo", "cpo", "rm"})
"""One sample is two sequences, chosen and rejected, which go through the model together."""
ONLINE = frozenset({"grpo", "ppo", "gkd"})
HYBRID = having("hybrid_engine")
GLOBAL = HYBRID | {"openrlhf", "nemo-automodel", "nemo-rl"}
"""These are told the samples of a step, and work out the accumulation."""
TOTAL = frozenset({"openrlhf", "nemo-rl"})
"""Here the limit of prompt and completion together is told (`data.max_len`,
`policy.max_total_sequence_length`)."""
SOURCES = ("train.micro_batch", "train.grad_accum", "train.global_batch", "rlhf.mini_batch")
LAYOUT = ("parallel.processes_per_node", "parallel.nodes")


def batch_facts(facts: Facts) -> tuple[Fact, ...]:
    """Derive `batch.*`, and `train.grad_accum` where the framework computes it."""
    out = Facts(facts)
    for step in (_effective, _accumulation, _tokens, _generations):
        out.add(*step(out))
    return tuple(item for item in out if item.kind not in facts)


def effective_batch(facts: Facts) -> int | None:
    """Give the samples of one optimizer step, whole job; None when it cannot be told.

    Megatron, OpenRLHF (`train_batch_size`, utils/deepspeed/deepspeed.py), verl's SFT
    (trainer/fsdp_sft_trainer.py), NeMo Automodel (components/training/step_scheduler.py) and NeMo
    RL (`train_global_batch_size`) are told; verl's actor takes ppo_mini_batch_size prompts with n
    completions each, EasyR1's global_batch_size (workers/fsdp_workers.py of both); the others
    micro-batch x accumulation x replicas (transformers Trainer; axolotl utils/config/__init__.py).
    """
    if framework(facts) in HYBRID and task(facts) != "sft":
        return _times(facts, "rlhf.mini_batch", "rlhf.num_generations")
    if framework(facts) in GLOBAL or is_megatron(facts):
        return whole(facts, "train.global_batch")
    return _times(facts, "train.micro_batch", "train.grad_accum", "parallel.data_parallel")


def _times(facts: Facts, *kinds: str) -> int | None:
    product = 1
    for kind in kinds:
        value = whole(facts, kind)
        if value is None:
            return None
        product *= value
    return product


def _effective(facts: Facts) -> Iterator[Fact]:
    batch = effective_batch(facts)
    if batch is not None:
        yield derived(facts, "batch.effective", batch, *SOURCES, *LAYOUT)


def _accumulation(facts: Facts) -> Iterator[Fact]:
    """Where the global batch is given, the accumulation follows from it."""
    batch, at_once = (
        whole(facts, "batch.effective"),
        _times(facts, "train.micro_batch", "parallel.data_parallel"),
    )
    if facts.value("train.dynamic_batch") is True or batch is None or at_once is None:
        return
    if "train.grad_accum" not in facts and batch % at_once == 0:
        yield derived(facts, "train.grad_accum", batch // at_once, *SOURCES, *LAYOUT)


def _tokens(facts: Facts) -> Iterator[Fact]:
    tokens = tokens_per_micro_batch(facts)
    if tokens is not None:
        sources = ("train.micro_batch", "train.max_length", "rlhf.max_completion_length")
        yield derived(facts, "batch.tokens_per_micro_batch", tokens, *sources)


def tokens_per_micro_batch(facts: Facts) -> int | None:
    """Give the tokens one GPU takes per forward pass at most; None when it cannot be told.

    verl (utils/seqlen_balancing.py) and OpenRLHF fill dynamic micro-batches up to a number of
    tokens per GPU; ranks that share sequences each take their part. EasyR1 fills them up to what
    its micro-batch has when all samples are as long as they may be (workers/actor/dp_actor.py).
    """
    if facts.value("train.dynamic_batch") is True and framework(facts) != "easyr1":
        return whole(facts, "train.max_tokens_per_gpu")
    micro, length = whole(facts, "train.micro_batch"), sequence_length(facts)
    share = degree(facts, "parallel.sequence") if framework(facts) != "" else 1
    if micro is None or length is None:
        return None
    sequences = 2 * micro if task(facts) in PAIRS else micro
    return -(-sequences * length // (share or 1))


def sequence_length(facts: Facts) -> int | None:
    """Give the longest sequence in tokens: the limit, or longest prompt and completion."""
    limit = whole(facts, "train.max_length")
    prompt, completion = (
        whole(facts, "rlhf.max_prompt_length"),
        whole(facts, "rlhf.max_completion_length"),
    )
    if task(facts) not in ONLINE:
        return limit
    if framework(facts) in TOTAL and limit is not None:
        return limit
    before = prompt if prompt is not None else limit
    if before is None or (completion is None and prompt is not None):
        return None
    return before + (completion or 0)


def generation_batch(facts: Facts) -> int | None:
    """Give how many completions are made at once, whole job; None when it cannot be told.

    verl, EasyR1 and OpenRLHF: prompts of a rollout x completions of each. ms-swift: world x
    per-device batch (3.1.1 to 3.3), x accumulation (3.4), x steps_per_generation (3.5.2 and later):
    GRPOTrainer.__init__ and _prepare_grpo of those releases. Its Megatron commands: global batch x
    steps_per_generation, 1 when unset (megatron_args.py: resolve_generation_batch_size). TRL: as
    ms-swift, accumulation from 0.17, steps_per_generation from 0.18 (grpo_trainer.py,
    grpo_config.py).
    """
    if _rolls_out(facts):
        return _times(facts, "rlhf.prompts_per_step", "rlhf.num_generations")
    given = whole(facts, "rlhf.generation_batch")
    if given is not None:
        return given
    if is_megatron(facts):
        steps = degree(facts, "rlhf.steps_per_generation")
        batch = whole(facts, "train.global_batch")
        return batch * steps if batch is not None and steps is not None else None
    if (degree(facts, "parallel.sequence") or 1) > 1:
        return None
    version = facts.text("launch.framework_version")
    at_once = _times(facts, "train.micro_batch", "parallel.world_size")
    if at_once is None or version is None:
        return None
    bounds = ("0.17", "0.18", "0.18") if framework(facts) == "trl" else ("3.4", "3.5", "3.5.2")
    return _by_release(facts, version, at_once, bounds)


def _by_release(
    facts: Facts, version: str, at_once: int, bounds: tuple[str, str, str]
) -> int | None:
    first, second, third = bounds
    accum = whole(facts, "train.grad_accum")
    if in_range(version, f"<{first}"):
        return at_once
    if in_range(version, f">={first},<{second}"):
        return None if accum is None else at_once * accum
    if not in_range(version, f">={third}"):
        return None
    steps = whole(facts, "rlhf.steps_per_generation") or accum
    return None if steps is None else at_once * steps


def _generations(facts: Facts) -> Iterator[Fact]:
    if task(facts) not in ("grpo", "ppo") or (task(facts) == "ppo" and not _rolls_out(facts)):
        return
    batch, wanted = generation_batch(facts), whole(facts, "rlhf.num_generations")
    sources = ("train.micro_batch", "rlhf.num_generations", "rlhf.prompts_per_step", *LAYOUT)
    if batch is None:
        return
    yield derived(facts, "batch.generation", batch, *sources)
    if wanted is not None and framework(facts) in ("ms-swift", "trl"):
        divides = batch % wanted == 0
        yield derived(facts, "batch.divisible_by_generations", divides, *sources)


def _rolls_out(facts: Facts) -> bool:
    return framework(facts) in HYBRID | {"openrlhf", "nemo-rl"}
