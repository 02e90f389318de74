"""How the work is split: replicas, shards of the weights, what leaves the card."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.facts.reading import degree, degrees, derived, framework, is_megatron, whole
from trainrx.frameworks.common.traits import having
from trainrx.model.facts import Fact, Facts

MODEL = ("parallel.tensor", "parallel.pipeline")
LAYOUT = ("parallel.processes_per_node", "parallel.nodes", *MODEL, "parallel.sequence")
FSDP2 = having("fsdp2")
HYBRID = having("hybrid_engine")
PLAIN = ("llamafactory", "transformers", "trl", "")
"""Every process is a replica; a script of the user's own takes the arguments of transformers."""


def parallel_facts(facts: Facts) -> tuple[Fact, ...]:
    """Derive `parallel.data_parallel`, `parallel.weight_shards` and `parallel.offload_*`."""
    out = Facts(facts)
    for step in (_offload, _data_parallel, _shards):
        out.add(*step(out))
    return tuple(item for item in out if item.kind not in facts)


def sharing(facts: Facts) -> int | None:
    """Give how many GPUs work on the same samples; None when it cannot be told.

    Sources, by framework: Megatron world / (TP x PP x CP), as in `MegatronArguments` of ms-swift
    (swift/megatron/arguments/megatron_args.py) and `RayPPOTrainer._validate_config` of verl
    (verl/trainer/ppo/ray_trainer.py); ms-swift otherwise its sequence_parallel_size (trainers/
    sequence_parallel: the ranks of a group read the same sample); verl with FSDP and EasyR1 the
    Ulysses degree (verl/workers/fsdp_workers.py); OpenRLHF ring x tensor (utils/deepspeed/
    deepspeed.py); axolotl context x tensor (utils/config/__init__.py: normalize_config); NeMo
    pipeline x tensor x context (Automodel: components/distributed/mesh_utils.py; RL: models/
    policy/lm_policy.py); else none.
    """
    if is_megatron(facts):
        return degrees(facts, *MODEL, "parallel.sequence")
    name = framework(facts)
    if name in FSDP2:
        return degrees(facts, *MODEL, "parallel.sequence")
    if name in ("openrlhf", "axolotl"):
        return degrees(facts, "parallel.tensor", "parallel.sequence")
    if name == "verl" and "fsdp" not in (facts.text("parallel.strategy") or "fsdp"):
        return None
    if name in ("verl", "easyr1", "ms-swift"):
        return degree(facts, "parallel.sequence")
    return 1 if name in PLAIN else None


def _data_parallel(facts: Facts) -> Iterator[Fact]:
    world, group = whole(facts, "parallel.world_size"), sharing(facts)
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
    world = whole(facts, "parallel.world_size")
    if is_megatron(facts):
        return degrees(facts, *MODEL)
    fsdp = _fsdp_shards(facts, world)
    if fsdp is not None:
        return fsdp
    stage = facts.number("parallel.zero_stage")
    if stage is None or "parallel.fsdp" in facts or framework(facts) in HYBRID:
        return None
    return world if stage == 3 else _cards_per_process(facts, stage)


def _cards_per_process(facts: Facts, stage: float) -> int:
    """ms-swift spreads the layers of a process over the cards left to it (`device_map: auto`).

    It does so where neither DeepSpeed nor FSDP is on (get_default_device_map of swift/utils, with
    `is_mp`: two or more cards per process); all other frameworks hold a copy on one card.
    """
    cards = whole(facts, "hardware.gpus_per_node")
    processes = whole(facts, "parallel.processes_per_node")
    if framework(facts) != "ms-swift" or stage != 0 or not cards or not processes:
        return 1
    plain = facts.text("parallel.deepspeed") in (None, "none")
    return max(1, cards // processes) if plain and "parallel.device_map" not in facts else 1


def _fsdp_shards(facts: Facts, world: int | None) -> int | None:
    """FSDP splits over all ranks, within a node (hybrid), or the states only (shard_grad_op)."""
    if framework(facts) in FSDP2:
        # all ranks of a stage hold a part: what TP splits, FSDP2 splits further
        plain = facts.text("parallel.strategy") == "ddp"
        stages = degree(facts, "parallel.pipeline")
        return 1 if plain else world // stages if world and stages else None
    if framework(facts) == "easyr1":
        return whole(facts, "parallel.fsdp_size") or world
    if framework(facts) == "verl":
        if "fsdp" not in (facts.text("parallel.strategy") or ""):
            return None
        return whole(facts, "parallel.fsdp_size") or world
    setting = (facts.text("parallel.fsdp") or "").lower()
    if "hybrid" in setting:
        return whole(facts, "parallel.processes_per_node") if "zero2" not in setting else 1
    if "shard_grad_op" in setting:
        return 1
    return world if "full_shard" in setting or setting.startswith("fsdp2") else None
