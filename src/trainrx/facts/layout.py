"""How the job is laid out: processes, nodes and cards, replicas, shards of the weights."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.facts.batch import batch_facts
from trainrx.facts.reading import degrees, derived, framework, is_megatron
from trainrx.facts.roles import role_facts, rollout_mode
from trainrx.launchers.allocation import GPUS_PER_NODE, NODES
from trainrx.model.facts import STATED, Fact, Facts, fact

_PROCESSES = "parallel.processes_per_node"


def layout_facts(facts: Facts) -> tuple[Fact, ...]:
    """Derive `hardware.gpus*`, `parallel.*`, `batch.*`, `role.*` and `vllm.mode`."""
    out = Facts(facts)
    for step in (_card, _nodes, _gpus, _processes, _world, _idle, rollout_mode):
        out.add(*step(out))
    for group in (parallel_facts, batch_facts, role_facts, _as_stated):
        out.add(*group(out))
    return tuple(item for item in out if item.kind not in facts)


NOT_TOLD = ("default", "assumed")
CARD = ("hardware.gpu", "hardware.gpu_gib", "hardware.compute_capability", "hardware.bf16")
SAME = 0.06
"""Share by which two figures of one card's memory differ at most: nominal, and as torch sees it."""


def _card(facts: Facts) -> Iterator[Fact]:
    """Take the card a person states, where nothing shows another."""
    seen = facts.number("hardware.gpu_gib") or facts.number("oom.card_gib")
    said = facts.number(STATED + "hardware.gpu_gib")
    differs = seen is not None and said is not None and abs(seen - said) > SAME * seen
    if "hardware.gpu" not in facts and not differs:
        yield from _stated(facts, *CARD)


def _as_stated(facts: Facts) -> Iterator[Fact]:
    yield from _stated(facts, "hardware.gpus", "hardware.nodes")


def _stated(facts: Facts, *names: str) -> Iterator[Fact]:
    for name in names:
        value = facts.value(STATED + name)
        if value is not None and name not in facts:
            yield derived(facts, name, value, STATED + name)


def _nodes(facts: Facts) -> Iterator[Fact]:
    nodes = facts.number("parallel.nodes")
    if _roles_apart(facts):
        return
    if nodes is not None:
        yield derived(facts, "hardware.nodes", int(nodes), "parallel.nodes")
    elif STATED + "hardware.nodes" in facts:
        yield from _stated(facts, "hardware.nodes")
    elif facts.number("hardware.gpus") == 1:
        yield derived(facts, "hardware.nodes", 1, "hardware.gpus")
    elif _is_open(facts, "parallel.nodes") and NODES in facts:
        yield derived(facts, "hardware.nodes", int(facts.number(NODES) or 1), NODES)
    elif facts.value("launch.env_complete") is True and not _is_open(facts, "parallel.nodes"):
        yield derived(facts, "hardware.nodes", 1, "launch.given")


def _is_open(facts: Facts, name: str) -> bool:
    """Tell whether a parameter is set to what nobody can tell (`--nnodes $WORLD_SIZE`)."""
    return name in (facts.text("launch.unresolved") or "").split()


def visible_gpus(text: str) -> int | None:
    """Count the devices CUDA_VISIBLE_DEVICES names; None when it is not a plain list."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or not all(part.isdigit() or part.startswith(("GPU-", "MIG-")) for part in parts):
        return None
    return len(dict.fromkeys(parts))


def _gpus(facts: Facts) -> Iterator[Fact]:
    nodes = int(facts.number("hardware.nodes") or 1)
    total = facts.number("hardware.gpus")
    visible = facts.text("parallel.visible_gpus")
    per_node = visible_gpus(visible) if visible else None
    processes = None if _roles_apart(facts) else facts.number("parallel.processes_per_node")
    if per_node is None and total is not None and total % nodes == 0:
        per_node = int(total) // nodes
    if per_node is None:
        per_node = facts.whole(GPUS_PER_NODE)
    if per_node is None and processes is not None and processes > 1:
        per_node = int(processes)
    stated = facts.whole(STATED + "hardware.gpus")
    if per_node is None and stated is not None and not _roles_apart(facts):
        yield from _stated(facts, "hardware.gpus")
        per_node = None if stated % nodes else stated // nodes
        total = stated
    if per_node is None:
        return
    sources = (
        "hardware.gpus",
        "parallel.visible_gpus",
        GPUS_PER_NODE,
        _PROCESSES,
        *(() if stated is None or total != stated else (STATED + "hardware.gpus",)),
    )
    yield derived(facts, "hardware.gpus_per_node", per_node, *sources)
    if total is None and ("hardware.nodes" in facts or not _is_open(facts, "parallel.nodes")):
        yield derived(facts, "hardware.gpus", per_node * nodes, *sources, "parallel.nodes")


def _processes(facts: Facts) -> Iterator[Fact]:
    if facts.number("parallel.processes_per_node") is not None:
        return
    per_node = facts.number("hardware.gpus_per_node")
    if framework(facts).process_per_gpu and per_node is not None:
        origins = facts.origins("hardware.gpus_per_node")
        yield fact("parallel.processes_per_node", int(per_node), *origins, how="default")


def _world(facts: Facts) -> Iterator[Fact]:
    processes = facts.number("parallel.processes_per_node")
    nodes = facts.number("parallel.nodes" if _roles_apart(facts) else "hardware.nodes")
    if processes is not None and nodes is not None:
        sources = ("parallel.processes_per_node", "parallel.nodes")
        yield derived(facts, "parallel.world_size", int(processes * nodes), *sources)
    elif facts.number("hardware.gpus") == 1:
        yield derived(facts, "parallel.world_size", 1, "hardware.gpus")


def _idle(facts: Facts) -> Iterator[Fact]:
    per_node = facts.number("hardware.gpus_per_node")
    processes = facts.number("parallel.processes_per_node")
    if per_node is None or processes is None or _roles_apart(facts):
        return
    if _replicates(facts):
        return
    workers = facts.number("vllm.num_infer_workers") or 0
    sources = ("parallel.visible_gpus", "parallel.processes_per_node", "vllm.num_infer_workers")
    # infer workers share the trainers' cards when there are as many as cards (colocate)
    used = max(processes, workers) if workers >= per_node else processes + workers
    yield derived(facts, "parallel.idle_gpus", max(int(per_node - used), 0), *sources)


def _replicates(facts: Facts) -> bool:
    """Tell whether one process, which no launcher started, has all cards it sees."""
    processes = facts.get(_PROCESSES)
    alone = processes is not None and processes.value == 1 and processes.how in NOT_TOLD
    return alone and framework(facts).replicates_over_cards


def _roles_apart(facts: Facts) -> bool:
    return framework(facts).roles_apart(facts)


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
    if world == 1 and _replicates(facts):
        yield from _on_each_card(facts)
    elif world is not None and group and world % group == 0:
        yield derived(facts, "parallel.data_parallel", world // group, *LAYOUT)


def _on_each_card(facts: Facts) -> Iterator[Fact]:
    """Count the replicas of a single process: one for each card it sees, one where it shards.

    transformers/training_args.py (_setup_devices) sets `_n_gpu`. A program of one's own may spread
    the model instead, which nobody sees: with several cards it is unknown.
    """
    cards = facts.whole("hardware.gpus_per_node")
    if cards == 1 or facts.text("parallel.deepspeed") not in (None, "none"):
        yield derived(facts, "parallel.data_parallel", 1, "parallel.processes_per_node")


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
