"""Arithmetic that the checks of frameworks do on several arguments at once.

A condition compares one fact with a constant. What a check computes of several (a batch divides,
the GPUs add up) stands here as one line of a table and becomes a fact of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from trainrx.facts.reading import derived, product
from trainrx.model.facts import Fact, Facts

Kind = Literal["divides", "at-most", "equal", "sums-to", "sum-at-most"]


class Relation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A fact that says whether two groups of whole numbers stand in a relation.

    divides: the product of `left` divides that of `right`; at-most and equal compare the products;
    sums-to: the sum of `left` is the product of `right`; sum-at-most: it is not above it.
    """

    name: str
    kind: Kind
    left: tuple[str, ...]
    right: tuple[str, ...]


RELATIONS: tuple[Relation, ...] = (
    Relation(
        name="guard.generation_batch_fits_processes",
        kind="divides",
        left=("train.micro_batch", "parallel.world_size"),
        right=("rlhf.generation_batch",),
    ),
    Relation(
        name="guard.generation_batch_fits_global_batch",
        kind="divides",
        left=("train.global_batch",),
        right=("rlhf.generation_batch",),
    ),
    Relation(
        name="guard.eval_batch_fits_generations",
        kind="divides",
        left=("rlhf.num_generations",),
        right=("train.eval_micro_batch", "parallel.world_size"),
    ),
    Relation(
        name="guard.eval_batch_fits_eval_generations",
        kind="divides",
        left=("arg.num_generations_eval",),
        right=("train.eval_micro_batch", "parallel.world_size"),
    ),
    Relation(
        name="guard.engine_parts_fit_processes",
        kind="divides",
        left=("vllm.tensor_parallel",),
        right=("parallel.world_size",),
    ),
    Relation(
        name="guard.gpus_have_processes",
        kind="at-most",
        left=("hardware.gpus_per_node",),
        right=("parallel.processes_per_node",),
    ),
    Relation(
        name="guard.model_parts_fit_processes",
        kind="divides",
        left=("parallel.tensor", "parallel.sequence"),
        right=("parallel.world_size",),
    ),
    Relation(
        name="guard.workers_on_every_gpu",
        kind="equal",
        left=("vllm.num_infer_workers",),
        right=("hardware.gpus_per_node",),
    ),
    Relation(
        name="guard.processes_on_every_gpu",
        kind="equal",
        left=("parallel.processes_per_node",),
        right=("hardware.gpus_per_node",),
    ),
    Relation(
        name="guard.processes_and_workers_fill_gpus",
        kind="sums-to",
        left=("parallel.processes_per_node", "vllm.num_infer_workers"),
        right=("hardware.gpus_per_node",),
    ),
    Relation(
        name="guard.micro_batches_fit_global_batch",
        kind="divides",
        left=("train.micro_batch", "parallel.data_parallel"),
        right=("train.global_batch",),
    ),
    Relation(
        name="guard.global_batch_holds_a_micro_batch",
        kind="at-most",
        left=("train.micro_batch", "parallel.data_parallel"),
        right=("train.global_batch",),
    ),
    Relation(
        name="guard.server_fits_gpus",
        kind="at-most",
        left=("vllm.tensor_parallel", "vllm.data_parallel"),
        right=("hardware.gpus_per_node",),
    ),
    Relation(
        name="guard.server_uses_gpus",
        kind="at-most",
        left=("hardware.gpus_per_node",),
        right=("vllm.tensor_parallel", "vllm.data_parallel"),
    ),
    Relation(
        name="guard.saves_fall_on_evaluations",
        kind="divides",
        left=("train.eval_steps",),
        right=("train.save_steps",),
    ),
    Relation(
        name="guard.mini_batch_fits_prompts",
        kind="at-most",
        left=("rlhf.mini_batch",),
        right=("rlhf.prompts_per_step",),
    ),
    Relation(
        name="guard.mini_batch_divides_prompts",
        kind="divides",
        left=("rlhf.mini_batch",),
        right=("rlhf.prompts_per_step",),
    ),
    Relation(
        name="guard.mini_batch_fits_replicas",
        kind="divides",
        left=("parallel.data_parallel",),
        right=("rlhf.mini_batch", "rlhf.num_generations"),
    ),
    Relation(
        name="guard.micro_batches_fit_mini_batch",
        kind="divides",
        left=("train.micro_batch", "parallel.data_parallel"),
        right=("rlhf.mini_batch", "rlhf.num_generations"),
    ),
    Relation(
        name="guard.lengths_fit_batched_tokens",
        kind="sum-at-most",
        left=("rlhf.max_prompt_length", "rlhf.max_completion_length"),
        right=("vllm.max_batched_tokens",),
    ),
    Relation(
        name="guard.rollouts_fit_gpus",
        kind="divides",
        left=("parallel.world_size",),
        right=("rlhf.prompts_per_step", "rlhf.num_generations"),
    ),
    Relation(
        name="guard.deepspeed_batch_adds_up",
        kind="equal",
        left=("deepspeed.train_batch",),
        right=("deepspeed.micro_batch", "deepspeed.grad_accum", "parallel.world_size"),
    ),
    Relation(
        name="guard.sequences_fit_batched_tokens",
        kind="at-most",
        left=("vllm.max_num_seqs",),
        right=("vllm.max_batched_tokens",),
    ),
    Relation(
        name="guard.context_fits_batched_tokens",
        kind="at-most",
        left=("vllm.max_model_len",),
        right=("vllm.max_batched_tokens",),
    ),
    Relation(
        name="guard.processes_fit_gpus",
        kind="divides",
        left=("parallel.processes_per_node",),
        right=("hardware.gpus_per_node",),
    ),
    Relation(
        name="guard.sequence_parts_fit_world",
        kind="at-most",
        left=("parallel.sequence",),
        right=("parallel.world_size",),
    ),
    Relation(
        name="guard.reward_weights_match",
        kind="equal",
        left=("count.reward_weights",),
        right=("count.reward_funcs",),
    ),
    Relation(
        name="guard.loss_weights_match",
        kind="equal",
        left=("count.loss_weights",),
        right=("count.loss_type",),
    ),
    Relation(
        name="guard.mixing_shares_match",
        kind="equal",
        left=("count.interleave_probs",),
        right=("count.dataset",),
    ),
    Relation(
        name="guard.image_pixels_in_order",
        kind="at-most",
        left=("arg.image_min_pixels",),
        right=("arg.image_max_pixels",),
    ),
    Relation(
        name="guard.video_pixels_in_order",
        kind="at-most",
        left=("arg.video_min_pixels",),
        right=("arg.video_max_pixels",),
    ),
    Relation(
        name="guard.reference_shares_actor_gpus",
        kind="equal",
        left=("rlhf.reference_nodes", "rlhf.reference_gpus_per_node"),
        right=("parallel.world_size",),
    ),
    Relation(
        name="guard.reward_shares_critic_gpus",
        kind="equal",
        left=("rlhf.reward_nodes", "rlhf.reward_gpus_per_node"),
        right=("rlhf.critic_nodes", "rlhf.critic_gpus_per_node"),
    ),
    Relation(
        name="guard.engines_fill_processes",
        kind="equal",
        left=("vllm.num_infer_workers", "vllm.tensor_parallel"),
        right=("parallel.world_size",),
    ),
    Relation(
        name="guard.prompts_fit_processes",
        kind="divides",
        left=("parallel.world_size",),
        right=("rlhf.prompts_per_step",),
    ),
    Relation(
        name="guard.engines_divide_processes",
        kind="divides",
        left=("vllm.num_infer_workers",),
        right=("parallel.world_size",),
    ),
    Relation(
        name="guard.processes_divide_engines",
        kind="divides",
        left=("parallel.world_size",),
        right=("vllm.num_infer_workers",),
    ),
    Relation(
        name="guard.rollout_feeds_actors",
        kind="at-most",
        left=("parallel.world_size", "arg.micro_rollout_batch_size"),
        right=(
            "rlhf.prompts_per_step",
            "rlhf.num_generations",
            "parallel.sequence",
            "parallel.tensor",
        ),
    ),
    Relation(
        name="guard.rollout_feeds_actor_groups",
        kind="at-most",
        left=("parallel.world_size", "arg.rollout.micro_batch_size"),
        right=(
            "rlhf.prompts_per_step",
            "rlhf.num_generations",
            "parallel.sequence",
            "parallel.tensor",
        ),
    ),
)

HOLDS: dict[Kind, Callable[[Sequence[int], Sequence[int]], bool]] = {
    "divides": lambda left, right: product(right) % product(left) == 0,
    "at-most": lambda left, right: product(left) <= product(right),
    "equal": lambda left, right: product(left) == product(right),
    "sum-at-most": lambda left, right: sum(left) <= product(right),
    "sums-to": lambda left, right: sum(left) == product(right),
}


WHOLE_ABOVE_ONE: Mapping[str, str] = {
    "guard.save_steps_whole": "train.save_steps",
    "guard.eval_steps_whole": "train.eval_steps",
    "guard.logging_steps_whole": "arg.logging_steps",
}
"""Numbers of steps that are a share of all steps up to 1, and a count above."""


def guard_facts(facts: Facts, relations: Sequence[Relation] = RELATIONS) -> Iterator[Fact]:
    """Give each relation whose numbers are all known (whole, from 1), and which steps are whole."""
    for relation in relations:
        left, right = _all(facts, relation.left), _all(facts, relation.right)
        if left is not None and right is not None:
            holds = HOLDS[relation.kind](left, right)
            yield derived(facts, relation.name, holds, *relation.left, *relation.right)
    for name, source in WHOLE_ABOVE_ONE.items():
        value = facts.number(source)
        if value is not None and value > 1:
            yield derived(facts, name, value == int(value), source)


def _all(facts: Facts, names: Sequence[str]) -> tuple[int, ...] | None:
    found = [facts.whole(name) for name in names]
    return None if None in found else tuple(value for value in found if value is not None)
