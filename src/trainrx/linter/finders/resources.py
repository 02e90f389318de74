"""What a job takes: memory of the card, time of evaluations, disk for checkpoints."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.linter.finders.conditions import place
from trainrx.linter.job import LintedJob, RuleHit
from trainrx.linter.places import LineRange
from trainrx.model.job import Argument
from trainrx.model.pattern import late

BACKWARD = 4
"""Forward passes a training step costs at most: one forward, one recomputed, twice one backward."""
DISK_GIB = 2048
"""Checkpoints that take more are told: the NVMe drives of a node hold some TiB."""
_STATES = 12
"""Bytes a parameter takes in the optimizer states of mixed precision: fp32 weights, two moments."""
_COUNTED = late(r"[^#\s]+#(\d{1,9})")
_GENERATES = ("grpo", "ppo", "gkd", "rloo", "online_dpo")


def find(job: LintedJob) -> Iterator[RuleHit]:
    """Compare what the job takes with the card, the disk and the training itself."""
    yield from _memory(job)
    if job.launch.role != "trainer" or job.facts.text("launch.task") in _GENERATES:
        return
    yield from _evaluations(job)
    yield from _checkpoints(job)


def _evaluations(job: LintedJob) -> Iterator[RuleHit]:
    steps, batch = _interval(job, "eval"), job.facts.number("batch.effective")
    held_out = _held_out(job)
    if steps is None or not batch or held_out is None:
        return
    between = steps * batch
    if between and held_out > BACKWARD * between:
        values = {
            "steps": f"{steps:g}",
            "held_out": str(held_out),
            "between": f"{between:g}",
        }
        at = _place(job, "train.eval_steps", "train.dataset")
        yield RuleHit("evaluation-outweighs-training", at, values)


def _checkpoints(job: LintedJob) -> Iterator[RuleHit]:
    steps, every = _all_steps(job), _interval(job, "save")
    params, tuner = job.facts.number("model.params_b"), job.facts.text("tuner.type")
    limit = _argument(job, "save_total_limit")
    if not (steps and every and params and tuner == "full" and limit is not None and limit.known):
        return
    if limit.value not in (None, 0) or not _is_adam(job):
        return
    count = int(steps // every)
    each = params * 1e9 * _bytes_saved(job) / 2**30
    if count >= 2 and count * each >= DISK_GIB:
        values = {
            "count": str(count),
            "each": f"{each:.0f}",
            "total": f"{count * each / 1024:.1f}",
        }
        at = _place(job, "train.save_steps", "train.max_steps", "train.epochs")
        yield RuleHit("checkpoints-fill-the-disk", at, values)


def _interval(job: LintedJob, what: str) -> float | None:
    """Give the steps between two evaluations or checkpoints, where steps are what counts."""
    names = (f"{what}_strategy", "evaluation_strategy") if what == "eval" else ("save_strategy",)
    chosen = [item for name in names if (item := _argument(job, name)) and item.value is not None]
    steps = job.facts.number(f"train.{what}_steps")
    if not any(item.known and str(item.value) == "steps" for item in chosen):
        return None
    return steps if steps is not None and steps >= 1 else None


def _held_out(job: LintedJob) -> int | None:
    """Count the samples of an evaluation; None where the launch does not say it."""
    if job.framework.held_out_argument:
        size = _number(job, job.framework.held_out_argument)
        # below 1 it is a share of a set nobody counted
        return int(size) if size is not None and size >= 2 else None
    if not job.framework.counts_samples(job.version):
        return None
    if job.written("val_dataset") is not None:
        return _counted(job, "val_dataset")
    trained, share = _counted(job, "dataset"), _number(job, "split_dataset_ratio")
    return int(trained * share) if trained is not None and share is not None else None


def _counted(job: LintedJob, name: str) -> int | None:
    """Add the counts behind # of all sets an argument names; None where one has none."""
    written = job.written(name)
    words = " ".join(written.values or ()).split() if written is not None else []
    counts = [_COUNTED.fullmatch(word) if "#" in word else None for word in words]
    if not counts or None in counts:
        return None
    return sum(int(found[1]) for found in counts if found)


def _all_steps(job: LintedJob) -> float | None:
    steps = job.facts.number("train.max_steps")
    if steps is not None and steps > 0:
        return steps
    epochs, batch = job.facts.number("train.epochs"), job.facts.number("batch.effective")
    samples = _counted(job, "dataset") if job.framework.counts_samples(job.version) else None
    return samples * epochs / batch if samples and epochs and batch else None


def _bytes_saved(job: LintedJob) -> int:
    """Give the least bytes a checkpoint takes per parameter."""
    only = _argument(job, "save_only_model")
    if only is None or not only.known or only.value is True:
        return 2
    sharded = (job.facts.number("parallel.zero_stage") or 0) >= 1
    return 2 + (_STATES if sharded else 4)


def _is_adam(job: LintedJob) -> bool:
    return job.facts.text("train.optimizer") in ("adamw_torch", "adamw_torch_fused", "adamw_hf")


def _place(job: LintedJob, *names: str) -> LineRange:
    """Point at the first of these that the launch itself sets."""
    held = [item for name in names if (item := job.facts.get(name)) and item.how == "read"]
    return place(held, job)


def _number(job: LintedJob, name: str) -> float | None:
    item = _argument(job, name)
    value = item.value if item is not None and item.known else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value)


def _argument(job: LintedJob, name: str) -> Argument | None:
    return job.resolved.arguments.get(name)


_WASTED = 0.35


def _memory(job: LintedJob) -> Iterator[RuleHit]:
    """Give what the memory model says of a training on a card that was named."""
    limit = job.facts.number("hardware.gpu_gib")
    known = job.facts.number("model.params_b")
    if limit is None or known is None or job.launch.role != "trainer":
        return
    # the memory model is imported only where there is something to predict
    from trainrx.memory.facts import memory_facts
    from trainrx.memory.predict import predict
    from trainrx.memory.workload import workload_of
    from trainrx.model.facts import Facts
    from trainrx.model.memory import Refusal
    from trainrx.models.facts import shape_of

    knowledge = job.loaded.launches
    shape = shape_of(job.facts, knowledge.models)
    facts = Facts(job.facts)
    facts.add(*memory_facts(facts, shape, job.versions.get("torch", "")))
    found = workload_of(facts, shape, None, models=knowledge.models, datasets=knowledge.datasets)
    if isinstance(found, Refusal):
        return
    result = predict(found[0], knowledge.memory)
    if isinstance(result, Refusal) or result.verdict is None or found[0].open_terms:
        return
    values = {
        "need": f"{result.need_gib:.1f}",
        "low": f"{result.card.low:.1f}",
        "high": f"{result.card.high:.1f}",
        "limit": f"{limit:.1f}",
    }
    at = job.texts.whole(job.launch.origin)
    if result.verdict == "does-not-fit":
        yield RuleHit("memory-exceeds-card", at, values)
    elif result.verdict == "tight":
        rather_not = result.need_gib > limit
        yield RuleHit("memory-may-exceed-card" if rather_not else "memory-is-tight", at, values)
    elif result.card.high < _WASTED * limit:
        yield RuleHit("card-mostly-unused", at, values)
