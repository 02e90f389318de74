"""How the work is split: replicas, shards of the weights, what leaves the card."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.facts.reading import degrees, derived, framework, is_megatron
from trainrx.model.facts import Fact, Facts

MODEL = ("parallel.tensor", "parallel.pipeline")
LAYOUT = ("parallel.processes_per_node", "parallel.nodes", *MODEL, "parallel.sequence")


def parallel_facts(facts: Facts) -> tuple[Fact, ...]:
    """Derive `parallel.data_parallel`, `parallel.weight_shards` and `parallel.offload_*`."""
    out = Facts(facts)
    for step in (_offload, _data_parallel, _shards):
        out.add(*step(out))
    return tuple(item for item in out if item.kind not in facts)


def sharing(facts: Facts) -> int | None:
    """Give how many GPUs work on the same samples; None when it cannot be told.

    Megatron: world / (TP x PP x CP), as in `MegatronArguments` of ms-swift (swift/megatron/
    arguments/megatron_args.py) and `RayPPOTrainer._validate_config` of verl (verl/trainer/ppo/
    ray_trainer.py).
    """
    if is_megatron(facts):
        return degrees(facts, *MODEL, "parallel.sequence")
    kinds = framework(facts).sharing(facts)
    return None if kinds is None else degrees(facts, *kinds)


def _data_parallel(facts: Facts) -> Iterator[Fact]:
    world, group = facts.whole("parallel.world_size"), sharing(facts)
    if world is not None and group and world % group == 0:
        yield derived(facts, "parallel.data_parallel", world // group, *LAYOUT)


def _offload(facts: Facts) -> Iterator[Fact]:
    for part, kind in (("param", "params"), ("optimizer", "optimizer")):
        value = facts.value(f"parallel.{part}_offload")
        if isinstance(value, bool):
            yield derived(facts, f"parallel.offload_{kind}", value, f"parallel.{part}_offload")


def _shards(facts: Facts) -> Iterator[Fact]:
    shards = _weight_shards(facts)
    if shards is not None:
        sources = ("parallel.deepspeed", "parallel.fsdp", "parallel.strategy", *LAYOUT)
        yield derived(facts, "parallel.weight_shards", shards, *sources)


def _weight_shards(facts: Facts) -> int | None:
    """Count the cards one copy of the weights is split over (experts are not counted apart)."""
    world = facts.whole("parallel.world_size")
    if is_megatron(facts):
        return degrees(facts, *MODEL)
    fsdp = framework(facts).fsdp_shards(facts, world)
    if fsdp is not None:
        return fsdp
    stage = facts.number("parallel.zero_stage")
    if stage is None or "parallel.fsdp" in facts or framework(facts).hybrid_engine:
        return None
    return world if stage == 3 else _cards_per_process(facts, stage)


def _cards_per_process(facts: Facts, stage: float) -> int:
    """Count the cards a process spreads its layers over, where neither DeepSpeed nor FSDP is on."""
    cards = facts.whole("hardware.gpus_per_node")
    processes = facts.whole("parallel.processes_per_node")
    if not framework(facts).spreads_layers or stage != 0 or not cards or not processes:
        return 1
    plain = facts.text("parallel.deepspeed") in (None, "none")
    return max(1, cards // processes) if plain and "parallel.device_map" not in facts else 1
