"""Memory terms of the job at hand as facts; a term whose inputs are unknown is left out."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.memory.parts import BILLION, lora_parameters
from trainrx.memory.recovered import recovered_facts
from trainrx.memory.terms import states_gib, weights_gib
from trainrx.model.facts import Fact, Facts, fact
from trainrx.model.hardware import ModelShape

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
