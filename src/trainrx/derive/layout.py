"""How the job is laid out: processes, shards, idle cards, batches."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.model.facts import Fact, Facts, Scalar, fact
from trainrx.parse.version_range import in_range

ALL_GPUS = ("llamafactory",)
"""Start one process per visible GPU (llamafactory/cli.py: NPROC_PER_NODE or the device count)."""


def layout_facts(facts: Facts) -> tuple[Fact, ...]:
    """Derive `hardware.gpus*`, `parallel.*` and `batch.*` from what is set."""
    out = Facts(facts)
    for step in (_nodes, _gpus, _processes, _world, _idle, _vllm_mode, _shards, _batch):
        out.add(*step(out))
    out.add(*_generations(out))
    return tuple(item for item in out if item.kind not in facts)


def _derived(facts: Facts, kind: str, value: Scalar, *sources: str) -> Fact:
    return fact(kind, value, *facts.origins(*sources), how="derived")


def _nodes(facts: Facts) -> Iterator[Fact]:
    nodes = facts.number("parallel.nodes")
    if nodes is not None:
        yield _derived(facts, "hardware.nodes", int(nodes), "parallel.nodes")
    elif facts.value("launch.env_complete") is True:
        yield _derived(facts, "hardware.nodes", 1, "launch.given")


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
    processes = facts.number("parallel.processes_per_node")
    if per_node is None and total is not None and total % nodes == 0:
        per_node = int(total) // nodes
    if per_node is None and processes is not None and processes > 1:
        per_node = int(processes)
    if per_node is None:
        return
    sources = ("hardware.gpus", "parallel.visible_gpus", "parallel.processes_per_node")
    yield _derived(facts, "hardware.gpus_per_node", per_node, *sources)
    if total is None:
        yield _derived(facts, "hardware.gpus", per_node * nodes, *sources, "parallel.nodes")


def _processes(facts: Facts) -> Iterator[Fact]:
    if facts.number("parallel.processes_per_node") is not None:
        return
    framework = facts.text("launch.framework")
    per_node = facts.number("hardware.gpus_per_node")
    if framework in ALL_GPUS and per_node is not None:
        origins = facts.origins("hardware.gpus_per_node")
        yield fact("parallel.processes_per_node", int(per_node), *origins, how="default")


def _world(facts: Facts) -> Iterator[Fact]:
    processes = facts.number("parallel.processes_per_node")
    nodes = facts.number("hardware.nodes")
    if processes is not None and nodes is not None:
        sources = ("parallel.processes_per_node", "parallel.nodes")
        yield _derived(facts, "parallel.world_size", int(processes * nodes), *sources)


def _idle(facts: Facts) -> Iterator[Fact]:
    per_node = facts.number("hardware.gpus_per_node")
    processes = facts.number("parallel.processes_per_node")
    if per_node is None or processes is None:
        return
    workers = facts.number("vllm.num_infer_workers") or 0
    sources = ("parallel.visible_gpus", "parallel.processes_per_node", "vllm.num_infer_workers")
    # infer workers share the trainers' cards when there are as many as cards (colocate)
    used = max(processes, workers) if workers >= per_node else processes + workers
    yield _derived(facts, "parallel.idle_gpus", max(int(per_node - used), 0), *sources)


def _vllm_mode(facts: Facts) -> Iterator[Fact]:
    """Before ms-swift 3.5 the mode follows from the workers: as many as cards means colocate."""
    if facts.value("vllm.enabled") is not True or facts.text("vllm.mode") is not None:
        return
    workers = facts.number("vllm.num_infer_workers")
    processes = facts.number("parallel.processes_per_node")
    per_node = facts.number("hardware.gpus_per_node")
    sources = ("vllm.num_infer_workers", "parallel.processes_per_node", "parallel.visible_gpus")
    if per_node is None or processes is None:
        return
    if processes >= per_node:
        # no card is left for an engine of its own
        yield _derived(facts, "vllm.mode", "colocate", *sources)
    elif workers is not None and processes + workers <= per_node:
        yield _derived(facts, "vllm.mode", "async", *sources)


def _shards(facts: Facts) -> Iterator[Fact]:
    stage, world = facts.number("parallel.zero_stage"), facts.number("parallel.world_size")
    if stage is None or (stage == 3 and world is None):
        return
    tensor = 1
    if (facts.text("launch.command") or "").startswith("megatron"):
        tensor = int(facts.number("parallel.tensor") or 1)
        tensor *= int(facts.number("parallel.pipeline") or 1)
    shards = int(world or 1) if stage == 3 else tensor
    sources = ("parallel.deepspeed", "parallel.processes_per_node", "parallel.nodes")
    yield _derived(facts, "parallel.weight_shards", shards, *sources)


def _batch(facts: Facts) -> Iterator[Fact]:
    micro, accum = facts.number("train.micro_batch"), facts.number("train.grad_accum")
    world = facts.number("parallel.world_size")
    sources = ("train.micro_batch", "train.grad_accum", "parallel.processes_per_node")
    if micro is not None and accum is not None and world is not None:
        yield _derived(facts, "batch.effective", int(micro * accum * world), *sources)
    length = facts.number("train.max_length")
    if micro is not None and length is not None:
        length += facts.number("rlhf.max_completion_length") or 0
        tokens = int(micro * length)
        yield _derived(
            facts, "batch.tokens_per_micro_batch", tokens, "train.micro_batch", "train.max_length"
        )


def generation_batch(facts: Facts) -> int | None:
    """Give how many completions ms-swift's GRPO makes at once; None when it cannot be told.

    world x per-device batch (3.1.1 to 3.3), x accumulation (3.4), x steps_per_generation (3.5.2
    and later): GRPOTrainer.__init__ and _prepare_grpo of those releases.
    """
    micro, world = facts.number("train.micro_batch"), facts.number("parallel.world_size")
    version = facts.text("launch.framework_version")
    if micro is None or world is None or version is None:
        return None
    if in_range(version, "<3.4"):
        return int(world * micro)
    accum = facts.number("train.grad_accum")
    if in_range(version, ">=3.4,<3.5"):
        return None if accum is None else int(world * micro * accum)
    if not in_range(version, ">=3.5.2"):
        return None
    steps = facts.number("rlhf.steps_per_generation") or accum
    return None if steps is None else int(world * micro * steps)


def _generations(facts: Facts) -> Iterator[Fact]:
    if facts.text("launch.task") != "grpo" or facts.text("launch.framework") != "ms-swift":
        return
    batch, wanted = generation_batch(facts), facts.number("rlhf.num_generations")
    sources = ("train.micro_batch", "rlhf.num_generations", "parallel.processes_per_node")
    if batch is None:
        return
    yield _derived(facts, "batch.generation", batch, *sources)
    if wanted:
        divides = batch % int(wanted) == 0
        yield _derived(facts, "batch.divisible_by_generations", divides, *sources)
