"""Batches: samples per update, tokens per forward pass, completions per round of generation."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.facts.reading import derived, framework, is_megatron, task
from trainrx.model.facts import Fact, Facts
from trainrx.versions.ranges import in_range

PAIRS = frozenset({"dpo", "orpo", "simpo", "cpo", "rm"})
"""One sample is two sequences, chosen and rejected, which go through the model together."""
ONLINE = frozenset({"grpo", "ppo", "gkd"})
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

    Megatron is told; who is not has micro-batch x accumulation x replicas (transformers Trainer;
    axolotl utils/config/__init__.py).
    """
    if framework(facts).batch_of_prompts and task(facts) != "sft":
        return _times(facts, "rlhf.mini_batch", "rlhf.num_generations")
    if framework(facts).global_batch or is_megatron(facts):
        return facts.whole("train.global_batch")
    if _is_open(facts):
        return None
    return _times(facts, "train.micro_batch", "train.grad_accum", "parallel.data_parallel")


def _is_open(facts: Facts) -> bool:
    """Tell whether what nobody understands may set the micro-batch that is a default otherwise."""
    micro = facts.get("train.micro_batch")
    unset = micro is None or micro.how in ("default", "assumed")
    return unset and "batch" in (facts.text("launch.open_terms") or "").split()


def _times(facts: Facts, *kinds: str) -> int | None:
    product = 1
    for kind in kinds:
        value = facts.whole(kind)
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
        facts.whole("batch.effective"),
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

    Dynamic micro-batches are filled up to a number of tokens per GPU, or up to what the micro-batch
    has when all samples are as long as they may be; ranks that share sequences each take their
    part.
    """
    if facts.value("train.dynamic_batch") is True and not framework(facts).dynamic_by_longest:
        return facts.whole("train.max_tokens_per_gpu")
    micro, length = facts.whole("train.micro_batch"), sequence_length(facts)
    share = facts.degree("parallel.sequence") if framework(facts).name else 1
    if micro is None or length is None:
        return None
    sequences = 2 * micro if task(facts) in PAIRS else micro
    return -(-sequences * length // (share or 1))


def sequence_length(facts: Facts) -> int | None:
    """Give the longest sequence in tokens: the limit, or longest prompt and completion."""
    limit = facts.whole("train.max_length")
    prompt, completion = (
        facts.whole("rlhf.max_prompt_length"),
        facts.whole("rlhf.max_completion_length"),
    )
    if task(facts) not in ONLINE:
        return limit
    if framework(facts).limits_total and limit is not None:
        return limit
    before = prompt if prompt is not None else limit
    if before is None or (completion is None and prompt is not None):
        return None
    return before + (completion or 0)


def generation_batch(facts: Facts) -> int | None:
    """Give how many completions are made at once, whole job; None when it cannot be told.

    Prompts of a rollout x completions of each, or by release micro-batches of all processes, x
    accumulation, x steps_per_generation. Megatron commands: global batch x steps_per_generation, 1
    when unset (megatron_args.py of ms-swift: resolve_generation_batch_size).
    """
    if framework(facts).prompts_per_step:
        return _times(facts, "rlhf.prompts_per_step", "rlhf.num_generations")
    given = facts.whole("rlhf.generation_batch")
    if given is not None:
        return given
    if is_megatron(facts):
        steps = facts.degree("rlhf.steps_per_generation")
        batch = facts.whole("train.global_batch")
        return batch * steps if batch is not None and steps is not None else None
    if (facts.degree("parallel.sequence") or 1) > 1:
        return None
    version = facts.text("launch.framework_version")
    at_once = _times(facts, "train.micro_batch", "parallel.world_size")
    bounds = framework(facts).generation_batch
    if at_once is None or version is None or bounds is None:
        return None
    return _by_release(facts, version, at_once, bounds)


def _by_release(
    facts: Facts, version: str, at_once: int, bounds: tuple[str, str, str]
) -> int | None:
    first, second, third = bounds
    accum = facts.whole("train.grad_accum")
    if in_range(version, f"<{first}"):
        return at_once
    if in_range(version, f">={first},<{second}"):
        return None if accum is None else at_once * accum
    if not in_range(version, f">={third}"):
        return None
    steps = facts.whole("rlhf.steps_per_generation") or accum
    return None if steps is None else at_once * steps


def _generations(facts: Facts) -> Iterator[Fact]:
    if task(facts) not in ("grpo", "ppo") or (
        task(facts) == "ppo" and not framework(facts).prompts_per_step
    ):
        return
    batch, wanted = generation_batch(facts), facts.whole("rlhf.num_generations")
    sources = ("train.micro_batch", "rlhf.num_generations", "rlhf.prompts_per_step", *LAYOUT)
    if batch is None:
        return
    yield derived(facts, "batch.generation", batch, *sources)
    if wanted is not None and framework(facts).checks_generations:
        divides = batch % wanted == 0
        yield derived(facts, "batch.divisible_by_generations", divides, *sources)
