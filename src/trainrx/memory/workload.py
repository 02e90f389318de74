"""From what is known of a job to the workload the memory model takes."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from trainrx.memory.batch import with_batch, with_kernels, with_recompute
from trainrx.memory.job import LARGEST, TrainingJob
from trainrx.memory.layout import with_layout
from trainrx.memory.lengths import length_of
from trainrx.memory.precision import with_precision
from trainrx.memory.refusals import shape_in, unknown_model, unmodelled
from trainrx.memory.rollout import with_copies, with_rollout
from trainrx.memory.tuning import with_tuner
from trainrx.memory.vision import with_audio, with_images
from trainrx.model.facts import Facts
from trainrx.model.hardware import Dataset, ModelShape, TokenStats
from trainrx.model.memory import Assumption, Length, Refusal, Workload

UNTOLD = Length(low=1.0, typical=1.0, high=1.0)
COUNTS = (
    "tuner.rank",
    "train.max_length",
    "rlhf.max_completion_length",
    "parallel.world_size",
    "parallel.processes_per_node",
    "parallel.nodes",
    "parallel.tensor",
    "parallel.pipeline",
    "parallel.expert",
    "parallel.sequence",
    "vllm.tensor_parallel",
)
"""Numbers that make no sense below 1; of a rank, 0 turns adapters off."""
MAY_BE_ZERO = frozenset({"tuner.rank"})


def workload_of(
    facts: Facts,
    shape: ModelShape | None,
    lengths: TokenStats | None = None,
    *,
    models: Sequence[ModelShape] = (),
    datasets: Sequence[Dataset] = (),
) -> tuple[Workload, tuple[Assumption, ...]] | Refusal:
    """Turn facts of a job into a workload, naming what was taken for granted.

    Args:
        facts: all that is known of the job, derived facts included.
        shape: the model's shape; None when it is not known.
        lengths: token statistics of the user's own data, which come before published ones.
        models: shapes of known models, to name the nearest of an unknown one.
        datasets: published token statistics of data sets.

    Never raises: what cannot be modelled, or cannot run, is a `Refusal`.
    """
    job = TrainingJob(facts)
    folder = job.facts.text("model.load")
    if shape is None and folder and "model.name" not in facts:
        shape = shape_in(folder, models)
        job.assume("model-folder", "model.name", folder=folder[-80:])
    refused = unmodelled(job) or unknown_model(job, shape, models) or _absurd(job)
    if refused is not None or shape is None:
        return refused or job.unknown("no-model", "model.name")
    if not job.task:
        job.assume("task", "launch.task")
    begun = Workload(
        shape=shape,
        framework=job.framework.name,
        framework_version=job.version,
        task=job.text("task.type")
        if job.text("task.type") not in ("", "causal_lm")
        else job.task or "sft",
        length=UNTOLD,
        card_gib=job.card_gib(),
    )
    found = _filled(job, begun, lengths, datasets, models)
    if isinstance(found, Refusal):
        return found
    found = msgspec.structs.replace(found, open_terms=job.left_open())
    return found, tuple(job.assumed.values())


def _filled(
    job: TrainingJob,
    work: Workload,
    lengths: TokenStats | None,
    datasets: Sequence[Dataset],
    models: Sequence[ModelShape],
) -> Workload | Refusal:
    """Fill in one side of the job after the other; the first refusal ends it."""
    for step in (with_tuner, with_layout, with_batch):
        done = step(job, work)
        if isinstance(done, Refusal):
            return done
        work = done
    work = with_images(job, with_recompute(job, with_precision(job, work)), lengths)
    length = length_of(job, work, lengths, datasets)
    if isinstance(length, Refusal):
        return length
    work = msgspec.structs.replace(work, length=length)
    for step in (with_kernels, with_rollout, with_audio):
        done = step(job, work)
        if isinstance(done, Refusal):
            return done
        work = done
    return with_copies(job, work, models)


def _absurd(job: TrainingJob) -> Refusal | None:
    """Refuse counts below 1 and beyond all counting."""
    for kind in COUNTS:
        value = job.facts.number(kind)
        least = 0 if kind in MAY_BE_ZERO else 1
        if value is not None and not least <= value <= LARGEST:
            return job.impossible(
                "not-positive", kind, param=kind, value=f"{value:g}", least=str(least)
            )
    return None
