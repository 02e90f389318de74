"""The engine that generates samples, and the models beside the trained one."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from trainrx.memory.job import ONLINE, TrainingJob
from trainrx.model.hardware import ModelShape
from trainrx.model.memory import Refusal, Rollout, Workload

COMPARES = frozenset({"dpo", "kto", "ppo", "grpo"})
"""Tasks that compare with a reference model; ORPO, SimPO and CPO do without one."""


def with_rollout(job: TrainingJob, work: Workload) -> Workload | Refusal:
    """Fill in the engine that generates samples."""
    share = job.facts.number("vllm.share")
    if job.task not in (*ONLINE, "gkd") or not _has_engine(job):
        return work
    if share is not None and not 0 < share <= 1:
        return job.impossible("share-range", "vllm.share", param="vllm.share", value=f"{share:g}")
    mode = _mode(job)
    if share is None and mode == "colocate":
        share = job.framework.engine_share
        job.assume("engine-share", "vllm.share", share=f"{share:g}")
    sleep = job.whole("vllm.sleep_level") or 0
    if job.framework.engine_sleeps(job.facts):
        sleep = max(sleep, 1)
    return msgspec.structs.replace(
        work,
        rollout=Rollout(
            mode="colocate" if mode == "colocate" else "server",
            share=share,
            tensor_parallel=job.degree("vllm.tensor_parallel"),
            max_model_len=job.positive("vllm.max_model_len"),
            sequences=job.positive("vllm.max_num_seqs"),
            sleep=min(max(sleep, 0), 2),
            eager=job.is_on("vllm.enforce_eager"),
            move_batches=job.positive("vllm.move_model_batches"),
            offload_model=job.framework.leaves_card(job.facts, "model"),
            offload_optimizer=job.framework.leaves_card(job.facts, "optimizer"),
            kv_bytes=1.0 if "fp8" in job.text("vllm.kv_cache_dtype") else 2.0,
        ),
    )


def _has_engine(job: TrainingJob) -> bool:
    if job.framework.always_samples:
        return job.task in ONLINE and job.facts.text("role.rollout_mode") != "none"
    return job.is_on("vllm.enabled")


def _mode(job: TrainingJob) -> str:
    told = job.text("role.rollout_mode") or job.text("vllm.mode")
    if told in ("colocate", "server", "async"):
        return told
    assumed = "server" if job.text("vllm.server_host") else "colocate"
    job.assume("rollout-mode", "vllm.mode", mode=assumed)
    return assumed


def with_copies(job: TrainingJob, work: Workload, models: Sequence[ModelShape]) -> Workload:
    """Fill in the models beside the trained one: reference, reward, critic."""
    copies: list[ModelShape] = []
    if _holds_reference(job):
        copies.append(work.shape)
    if job.facts.value("role.reward_model") is True:
        copies.append(_reward_shape(job, work, models))
    critic = (work.shape,) if job.facts.value("role.critic") is True else ()
    whole = job.framework.full_critic and job.trains_adapters()
    return msgspec.structs.replace(
        work,
        copies=tuple(copies),
        trained_copies=critic,
        copies_whole=whole,
        copies_on_host=job.framework.copies_on_host(job.facts),
        critic_away=job.framework.critic_leaves(job.facts) if critic else None,
    )


def _holds_reference(job: TrainingJob) -> bool:
    held = job.facts.value("role.reference")
    if isinstance(held, bool) and not job.trains_whole_in_megatron():
        return held
    if job.task not in COMPARES or job.trains_adapters():
        return False
    beta = job.facts.number("rlhf.beta")
    if beta is not None and job.task == "grpo":
        return beta > 0
    job.assume("reference", "rlhf.reference_model", state="one")
    return True


def _reward_shape(job: TrainingJob, work: Workload, models: Sequence[ModelShape]) -> ModelShape:
    name = (job.facts.text("rlhf.reward_model") or "").split()
    if name:
        wanted = name[0].rstrip("/").rsplit("/", 1)[-1].lower()
        for shape in models:
            if shape.id.rsplit("/", 1)[-1].lower() == wanted:
                return shape
    job.assume("reward-shape", "rlhf.reward_model", model=(name or ["the reward model"])[0][:80])
    return work.shape
