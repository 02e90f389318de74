"""Facts of a job's memory: its large terms, what is predicted, what a failed request was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainrx.memory.model import BILLION, lora_parameters
from trainrx.memory.request import recovered_facts
from trainrx.model.facts import Fact, Facts, fact
from trainrx.model.hardware import ModelShape
from trainrx.model.memory import Prediction

GIB = 2.0**30
BF16_BYTES = 2.0
# NF4 with double quantisation keeps 4 bits plus 0.127 bit a weight (QLoRA, arXiv 2305.14314)
NF4_BYTES = 0.516
INT8_BYTES = 1.0
# bf16 weight and gradient, fp32 master and two AdamW moments (ZeRO, arXiv 1910.02054, section 3.1)
GRADIENT_BYTES = 2.0
OPTIMIZER_BYTES = 12.0


def bytes_per_weight(quant_bits: int | None) -> float:
    """Give the bytes a resident base weight takes."""
    if quant_bits == 4:
        return NF4_BYTES
    return INT8_BYTES if quant_bits == 8 else BF16_BYTES


def weights_gib(params_b: float, quant_bits: int | None = None) -> float:
    """Size of all weights, in GiB, whole model."""
    return params_b * 1e9 * bytes_per_weight(quant_bits) / GIB


def states_gib(trainable_b: float, *, zero_stage: int, world_size: int) -> float:
    """Gradients and AdamW states of the trainable part per GPU, GiB.

    16 bytes a parameter of which stage 1 shards the 12 of the optimizer, stage 2 the gradients
    too (arXiv 1910.02054, figure 1); the weight itself is counted in `weights_gib`.
    """
    shards = max(world_size, 1)
    gradients = GRADIENT_BYTES / (shards if zero_stage >= 2 else 1)
    optimizer = OPTIMIZER_BYTES / (shards if zero_stage >= 1 else 1)
    return trainable_b * 1e9 * (gradients + optimizer) / GIB


EVERY_MATRIX = ("q", "k", "v", "o", "gate", "up", "down")
ROOM = 0.85
"""Share of the room the static terms may fill before we no longer call it fitting: activations,
the CUDA context and NCCL buffers need the rest (card minus allocated: 1.7 to 14.5 GiB measured)."""


def memory_facts(facts: Facts, shape: ModelShape | None, torch: str = "") -> tuple[Fact, ...]:
    """Derive `memory.*` from model, card, sharding and vLLM, and what a failed request was."""
    out = Facts(facts)
    for step in (_weights, _per_gpu, _states, _vllm, _fits):
        out.add(*step(out, shape))
    out.add(*recovered_facts(out, shape, torch))
    return tuple(item for item in out if item.kind not in facts)


def _derived(facts: Facts, kind: str, value: float | bool, *sources: str) -> Fact:
    rounded = value if isinstance(value, bool) else round(value, 2)
    return fact(kind, rounded, *facts.origins(*sources), how="derived")


def _weights(facts: Facts, _: ModelShape | None) -> Iterator[Fact]:
    params = facts.number("model.params_b")
    if params is None:
        return
    quant = facts.number("tuner.quant_bits")
    size = weights_gib(params, int(quant) if quant else None)
    yield _derived(facts, "memory.weights_gib", size, "model.name", "tuner.quant_bits")
    if facts.number("parallel.zero_stage") == 3 and _colocated(facts):
        # the weights are gathered whole to be handed to the engine, each of whose ranks keeps 1/TP
        yield _derived(facts, "memory.gather_gib", size, "model.name", "parallel.deepspeed")


def _per_gpu(facts: Facts, _: ModelShape | None) -> Iterator[Fact]:
    size, shards = facts.number("memory.weights_gib"), facts.number("parallel.weight_shards")
    if size is not None and shards:
        offloaded = facts.value("parallel.offload_params") is True
        # offloaded parameters visit the card one layer at a time
        yield _derived(
            facts,
            "memory.weights_per_gpu_gib",
            0.0 if offloaded else size / shards,
            "model.name",
            "parallel.deepspeed",
            "parallel.processes_per_node",
        )


def _states(facts: Facts, shape: ModelShape | None) -> Iterator[Fact]:
    params, world = facts.number("model.params_b"), facts.number("parallel.world_size")
    stage = facts.number("parallel.zero_stage")
    tuner = facts.text("tuner.type")
    if params is None or world is None or stage is None or tuner is None:
        return
    trainable: float | None = params
    if tuner != "full":
        rank = facts.number("tuner.rank")
        trainable = None
        if shape is not None and rank and tuner in ("lora", "qlora"):
            adapters = lora_parameters(shape, int(rank), EVERY_MATRIX)
            trainable = None if adapters is None else adapters / BILLION
    if trainable is None:
        return
    offloaded = facts.value("parallel.offload_optimizer") is True
    size = 0.0 if offloaded else states_gib(trainable, zero_stage=int(stage), world_size=int(world))
    sources = ("model.name", "tuner.type", "tuner.rank", "parallel.deepspeed")
    yield _derived(facts, "memory.trainable_states_per_gpu_gib", size, *sources)


def _colocated(facts: Facts) -> bool:
    return facts.value("vllm.enabled") is True and facts.value("vllm.mode") == "colocate"


def _vllm(facts: Facts, _: ModelShape | None) -> Iterator[Fact]:
    card, share = facts.number("hardware.gpu_gib"), facts.number("vllm.share")
    if card is None:
        return
    taken = 0.0
    if facts.value("vllm.enabled") is True:
        if facts.text("vllm.mode") is None or (_colocated(facts) and share is None):
            return
        taken = (share or 0.0) * card if _colocated(facts) else 0.0
        yield _derived(facts, "memory.vllm_gib", taken, "vllm.share", "hardware.gpu_gib")
    elif facts.value("vllm.enabled") is None and facts.text("launch.task") not in ("sft", "pt"):
        return
    yield _derived(
        facts, "memory.left_for_training_gib", card - taken, "vllm.share", "hardware.gpu_gib"
    )


def _fits(facts: Facts, _: ModelShape | None) -> Iterator[Fact]:
    room = facts.number("memory.left_for_training_gib")
    weights = facts.number("memory.weights_per_gpu_gib")
    states = facts.number("memory.trainable_states_per_gpu_gib")
    if room is None or weights is None:
        return
    need = weights + (states or 0.0)
    sources = ("model.name", "parallel.deepspeed", "vllm.share", "hardware.gpu_gib")
    if need > room * ROOM:
        yield _derived(facts, "memory.static_fits", False, *sources)
    elif states is not None and need <= room * 0.6:
        yield _derived(facts, "memory.static_fits", True, *sources)


PARTS: Mapping[str, tuple[str, ...]] = {
    "weights": ("weights", "adapters", "copies", "unpacked"),
    "states": ("master", "optimizer", "gradients", "step", "tied"),
    "activations": ("checkpoints", "activations", "live", "stashed"),
    "logits": ("logits", "head"),
    "tower": ("tower", "scores"),
    "gathered": ("gathered", "buffers", "bucket"),
    "engine": ("engine",),
}
"""Terms of a phase by what a user can change about them."""
SOURCES = ("model.name", "train.max_length", "train.micro_batch", "parallel.deepspeed")


def prediction_facts(facts: Facts, predicted: Prediction) -> Iterator[Fact]:
    """Give the peak's verdict and phase, its largest part, and the share of each part (0..1).

    A part's share is its largest size in any phase over what the largest phase allocates: logits
    that are gone when the optimizer steps still say how far the loss is from being the peak.
    """
    top = max(phase.gib for phase in predicted.phases)
    if top <= 0:
        return
    origins = facts.origins(*SOURCES)
    if predicted.verdict is not None:
        yield fact("memory.verdict", predicted.verdict, *origins, how="derived")
    yield fact("memory.peak_phase", predicted.peak, *origins, how="derived")
    for name, terms in PARTS.items():
        size = max(
            sum(term.gib for term in phase.terms if term.name in terms)
            for phase in predicted.phases
        )
        yield fact(f"memory.{name}_share", round(size / top, 2), *origins, how="derived")
