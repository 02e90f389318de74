"""What lies on the card at the height of each phase of a job."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from trainrx.frameworks import framework_of
from trainrx.memory.model import Model
from trainrx.model.memory import Phase, PhaseUse, Term, Workload

GIB = 2.0**30


class Use(msgspec.Struct):
    """Bytes of one GPU by part.

    `weights` to `buffers` lie there for good; `gathered` to `stashed` come and go with a
    micro-batch, `scores` with the vision tower, `head` (a 2-byte copy of an fp32 head) with the
    loss, `bucket`, `unpacked` (a packed matrix at work) and `tied` (two gradients of an embedding
    that is the head as well, until their sum is made) with the backward. `block`: an fp32 copy of
    the logits, one of several in `logits`. `resident` is what lies there of `copies` while nothing
    trains. `step` is the update's temporary; `engine` what the
    engine takes awake, `engine_asleep` while the trainer works.
    """

    weights: float = 0.0
    adapters: float = 0.0
    gradients: float = 0.0
    master: float = 0.0
    optimizer: float = 0.0
    copies: float = 0.0
    resident: float = 0.0
    buffers: float = 0.0
    gathered: float = 0.0
    checkpoints: float = 0.0
    activations: float = 0.0
    live: float = 0.0
    logits: float = 0.0
    tower: float = 0.0
    stashed: float = 0.0
    scores: float = 0.0
    head: float = 0.0
    bucket: float = 0.0
    unpacked: float = 0.0
    tied: float = 0.0
    block: float = 0.0
    step: float = 0.0
    engine: float = 0.0
    engine_asleep: float = 0.0

    @property
    def steady(self) -> float:
        """Bytes that lie there through a whole step, beside the engine."""
        return (
            self.weights + self.adapters + self.copies + self.master + self.optimizer + self.buffers
        )


SOURCES = {
    "weights": "ZeRO, arXiv 1910.02054, section 3; QLoRA, arXiv 2305.14314",
    "adapters": "LoRA, arXiv 2106.09685, section 4.1",
    "master": "ZeRO, arXiv 1910.02054, section 3.1",
    "optimizer": "ZeRO, arXiv 1910.02054, section 3.1",
    "gradients": "ZeRO, arXiv 1910.02054, section 3.1",
    "step": "torch.optim, foreach implementation",
    "checkpoints": "arXiv 2205.05198, section 5",
    "activations": "arXiv 2205.05198, section 4.1",
    "live": "arXiv 2205.05198, section 4.1, fitted on measured runs",
    "logits": "Liger-Kernel, arXiv 2410.10989, fitted on measured runs",
    "gathered": "PyTorch FSDP, arXiv 2304.11277",
    "tower": "arXiv 2205.05198, on patches in place of tokens",
    "stashed": "bitsandbytes, MatMul8bitLt",
    "scores": "arXiv 2205.05198, section 4.1, on patches in place of tokens",
    "head": "torch, autocast",
    "bucket": "DeepSpeed, reduce_bucket_size",
    "tied": "torch.autograd, sum of two gradients",
    "engine": "vLLM, gpu_memory_utilization",
}
Parts = tuple[tuple[str, float], ...]


def phases_of(use: Use, work: Workload, model: Model) -> tuple[PhaseUse, ...]:
    """Give the phases in the order they run, GiB per GPU by term."""
    return tuple(
        PhaseUse(
            phase=name,
            gib=sum(size for _, size in parts) / GIB,
            terms=tuple(
                Term(name=term, gib=size / GIB, source=SOURCES.get(term, ""))
                for term, size in parts
                if size > 0
            ),
        )
        for name, parts in _phases(use, work, model)
    )


def _phases(use: Use, work: Workload, model: Model) -> Iterator[tuple[Phase, Parts]]:
    weights: Parts = (
        ("weights", use.weights),
        ("adapters", use.adapters),
        ("copies", use.copies),
    )
    states: Parts = (("master", use.master), ("optimizer", use.optimizer))
    steady: Parts = (*weights, *states, ("buffers", use.buffers), ("engine", use.engine_asleep))
    kept: Parts = (
        ("checkpoints", use.checkpoints),
        ("activations", use.activations),
        ("tower", use.tower),
        ("stashed", use.stashed),
        ("gathered", use.gathered),
    )
    early = early_gradients(use, work)
    yield "load", (*weights, ("unpacked", unpacked(use, work, model)))
    if work.rollout.mode == "colocate":
        waking = ("engine", woken(use, work, model))
        yield "weight-sync", (*synced(use, work, model), waking)
        yield "rollout", (*awake(use, work), ("engine", use.engine))
    elif _sends_whole(work):
        yield "weight-sync", synced(use, work, model)
    yield (
        "loss",
        (*steady, *kept, ("gradients", early), ("logits", use.logits), ("head", use.head)),
    )
    backward = _backwards(use, early)
    yield (
        "backward",
        (
            *steady,
            *max(backward, key=lambda parts: sum(size for _, size in parts)),
            ("gathered", use.gathered),
            ("tower", use.tower),
        ),
    )
    yield "step", (*steady, ("gradients", use.gradients), ("step", use.step))
    largest = 2.0 * model.layer / work.tensor if work.zero_stage == 3 else 0.0
    yield "save", (*steady, ("gathered", largest))


def _backwards(use: Use, early: float) -> tuple[Parts, ...]:
    """Give what may be the height of a backward, beside the tower and what is gathered.

    At the last layer all inputs are kept; at the first one all gradients are there and no other
    layer's input is kept; then the embedding's gradient is added to the head's; at last comes the
    tower.
    """
    kept: Parts = (
        ("checkpoints", use.checkpoints),
        ("activations", use.activations),
        ("stashed", use.stashed),
    )
    live: Parts = (("live", use.live), ("bucket", use.bucket), ("unpacked", use.unpacked))
    return (
        (*kept, ("gradients", early), *live),
        (("gradients", use.gradients), *live),
        (("gradients", use.gradients), ("tied", use.tied), ("bucket", use.bucket)),
        (("gradients", use.gradients), ("scores", use.scores)),
    )


def early_gradients(use: Use, work: Workload) -> float:
    """Give the gradients that lie there before a backward: those of earlier micro-batches.

    DeepSpeed's stage 3 has one buffer for them from the beginning to the end
    (runtime/zero/stage3.py: `__param_id_to_grad_partition`).
    """
    always = work.precision == "deepspeed" and work.zero_stage == 3 and not work.offload_optimizer
    return use.gradients if always or work.accumulation > 1 else 0.0


def awake(use: Use, work: Workload) -> Parts:
    """Give what of the trainer stays on the card while the engine generates."""
    roll = work.rollout
    weights = 0.0 if roll.offload_model else use.weights
    # models without switches of their own leave with the trainer
    leave = roll.offload_model and work.critic_away is None
    states = 0.0 if roll.offload_optimizer else use.master + use.optimizer
    return (
        ("weights", weights),
        ("copies", 0.0 if leave else use.resident),
        ("adapters", use.adapters),
        ("optimizer", states),
        ("buffers", use.buffers),
    )


def _sends_whole(work: Workload) -> bool:
    """Tell whether weights are gathered whole for a server elsewhere, not tensor by tensor."""
    return work.rollout.mode == "server" and framework_of(work.framework).gathers_whole


def synced(use: Use, work: Workload, model: Model) -> Parts:
    """Give what lies on the card while weights go to the engine: sharded ones are gathered."""
    whole = 0.0
    if work.zero_stage == 3 and work.precision == "deepspeed":
        whole = model.total * work.weight_bytes / (work.rollout.move_batches or 1)
    return (
        ("weights", use.weights),
        ("copies", use.resident),
        ("adapters", use.adapters),
        ("optimizer", 0.0 if work.rollout.offload_optimizer else use.master + use.optimizer),
        ("buffers", use.buffers),
        ("gathered", whole),
    )


def unpacked(use: Use, work: Workload, model: Model) -> float:
    """Give what weights take beyond their packed size while they are quantised on the card."""
    if not (work.packs_on_card and work.quant_bits):
        return 0.0
    return max(0.0, model.total * work.weight_bytes - use.weights)


def woken(use: Use, work: Workload, model: Model) -> float:
    """Give what an engine holds while it takes new weights: one that slept has no cache yet."""
    if not work.rollout.sleep:
        return use.engine
    return min(use.engine, model.total * 2.0 / max(1, work.rollout.tensor_parallel))


def top_of(use: Use, work: Workload, model: Model) -> float:
    """Give the largest phase in bytes: the same sums as `phases_of`, without the records."""
    steady = use.steady + use.engine_asleep
    early = early_gradients(use, work)
    kept = use.checkpoints + use.activations + use.stashed
    beside = use.tower + use.gathered
    working = use.live + use.bucket + use.unpacked
    top = steady + max(
        kept + beside + early + use.logits + use.head,
        beside + working + max(kept + early, use.gradients),
        beside + use.gradients + max(use.tied + use.bucket, use.scores),
        use.gradients + use.step,
    )
    if work.packs_on_card:
        top = max(top, use.weights + use.adapters + unpacked(use, work, model))
    if work.rollout.mode == "colocate":
        rollout = sum(size for _, size in awake(use, work))
        sync = sum(size for _, size in synced(use, work, model))
        top = max(top, use.engine + rollout, woken(use, work, model) + sync)
    elif _sends_whole(work):
        top = max(top, sum(size for _, size in synced(use, work, model)))
    return top
