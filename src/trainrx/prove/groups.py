"""Whether the batch of a candidate can be split into groups of num_generations."""

from __future__ import annotations

from collections.abc import Callable

from trainrx.facts.batch import generation_batch
from trainrx.model.facts import Facts, fact
from trainrx.model.memory import Workload


def divisible(facts: Facts) -> Callable[[Workload], bool]:
    """Give the test whether num_generations divides the generation batch of a candidate."""
    if "batch.divisible_by_generations" not in facts:
        return lambda _: True
    kinds = (
        "launch.framework",
        "launch.command",
        "launch.framework_version",
        "rlhf.generation_batch",
        "rlhf.steps_per_generation",
        "train.global_batch",
        "parallel.sequence",
        "launch.given",
        "launch.env_complete",
    )
    own = [found for kind in kinds if (found := facts.get(kind)) is not None]

    def test(work: Workload) -> bool:
        changed = (
            fact("train.micro_batch", int(work.micro_batch)),
            fact("parallel.world_size", work.world),
            fact("train.grad_accum", work.accumulation),
        )
        batch = generation_batch(Facts((*changed, *own)))
        return batch is None or batch % max(1, work.generations) == 0

    return test
