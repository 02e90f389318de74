"""Numbers that do not fit each other: processes, nodes, cards, and those of a DeepSpeed file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainrx.facts.layout import visible_gpus
from trainrx.linter.engine_file import EngineFile, engine_file, key_place
from trainrx.linter.finders.conditions import place
from trainrx.linter.job import LintedJob, RuleHit
from trainrx.linter.places import LineRange

_PROCESSES, _VISIBLE = "parallel.processes_per_node", "parallel.visible_gpus"
_NODES, _RANK = "parallel.nodes", "parallel.node_rank"
_LOOPBACK = ("127.0.0.1", "localhost", "::1", "0.0.0.0")  # noqa: S104 - a text that is looked for


def find(job: LintedJob) -> Iterator[RuleHit]:
    """Compare what the launch says of processes, cards and nodes, and what its files say."""
    yield from _deepspeed(job)
    if job.launch.role != "trainer":
        return
    yield from _cards(job)
    yield from _ranks(job)


def _cards(job: LintedJob) -> Iterator[RuleHit]:
    processes, visible = _whole(job, _PROCESSES), _visible(job)
    told = _whole(job, "hardware.gpus") if job.facts.get("hardware.gpus") else None
    given = job.facts.get("hardware.gpus")
    nodes = _whole(job, _NODES) or _whole(job, "hardware.nodes") or 1
    known = processes is not None and visible is not None and _read(job, _PROCESSES)
    if known and (processes or 0) > (visible or 0):
        values = {"processes": str(processes), "gpus": str(visible)}
        yield RuleHit("more-processes-than-gpus", _at(job, _PROCESSES), values)
    if told is None or given is None or given.how != "given":
        return
    for name, used in ((_PROCESSES, processes), (_VISIBLE, visible)):
        if used is not None and _read(job, name) and used * nodes > told:
            values = {"used": str(used * nodes), "gpus": str(told)}
            yield RuleHit("more-gpus-than-there-are", _at(job, name), values)
            return


def _ranks(job: LintedJob) -> Iterator[RuleHit]:
    nodes, rank = _whole(job, _NODES), _whole(job, _RANK)
    if nodes is not None and rank is not None and rank >= nodes and _read(job, _RANK):
        values = {"rank": str(rank), "nodes": str(nodes), "last": str(nodes - 1)}
        yield RuleHit("node-rank-too-high", _at(job, _RANK), values)
    address = job.facts.text("parallel.master_addr")
    if nodes is not None and nodes > 1 and address in _LOOPBACK and rank != 0:
        values = {"address": address or "", "nodes": str(nodes)}
        severity = "" if rank is not None else "warning"
        yield RuleHit(
            "master-address-is-loopback",
            _at(job, "parallel.master_addr"),
            values,
            severity=severity,
        )
    yield from _world(job, nodes)


def _world(job: LintedJob, nodes: int | None) -> Iterator[RuleHit]:
    """Compare a WORLD_SIZE that is set by hand with what the launcher will start."""
    processes = _whole(job, _PROCESSES)
    item = next((env for env in job.launch.env if env.name == "WORLD_SIZE"), None)
    if item is None or not (item.value or "").isdecimal() or processes is None or nodes is None:
        return
    world = int(item.value or "0")
    if world not in (nodes, nodes * processes):
        values = {"world": str(world), "processes": str(processes), "nodes": str(nodes)}
        yield RuleHit("world-size-differs", job.texts.variable(item.name, item.origin), values)


def _whole(job: LintedJob, name: str) -> int | None:
    value = job.facts.value(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _visible(job: LintedJob) -> int | None:
    """Count the cards that CUDA_VISIBLE_DEVICES names."""
    text = job.facts.value(_VISIBLE)
    if isinstance(text, int) and not isinstance(text, bool):
        return text
    # `gpu_ids: all` of accelerate names none
    return visible_gpus(text) if isinstance(text, str) else None


def _read(job: LintedJob, name: str) -> bool:
    item = job.facts.get(name)
    return item is not None and item.how == "read"


def _at(job: LintedJob, name: str) -> LineRange:
    item = job.facts.get(name)
    return place([] if item is None else [item], job)


_SAME: Mapping[str, str] = {
    "train_micro_batch_size_per_gpu": "per_device_train_batch_size",
    "gradient_accumulation_steps": "gradient_accumulation_steps",
    "gradient_clipping": "max_grad_norm",
    "optimizer.params.lr": "learning_rate",
    "optimizer.params.eps": "adam_epsilon",
    "optimizer.params.weight_decay": "weight_decay",
    "scheduler.params.warmup_max_lr": "learning_rate",
    "fp16.enabled": "fp16",
    "bf16.enabled": "bf16",
}
_BATCH = "train_batch_size"


def _deepspeed(job: LintedJob) -> Iterator[RuleHit]:
    """Give each key of the DeepSpeed file that contradicts an argument of the launch."""
    if not job.framework.training_arguments or job.launch.command.startswith("megatron"):
        return
    file = engine_file(job)
    if file is None:
        return
    for key, name in _SAME.items():
        wanted = _given(name, job)
        held = file.values.get(key)
        if held is None or held == "auto" or wanted is None or _equal(held, wanted):
            continue
        yield _differs(key, held, name, wanted, job, file)
    yield from _triangle(job, file)


def _triangle(job: LintedJob, file: EngineFile) -> Iterator[RuleHit]:
    """Compare the batch of all cards: micro batch x accumulation x processes."""
    held = file.values.get(_BATCH)
    names = ("train.micro_batch", "train.grad_accum", "parallel.world_size")
    factors = [job.facts.number(name) for name in names]
    if not isinstance(held, int) or isinstance(held, bool) or None in factors:
        return
    micro, accum, world = (int(value or 0) for value in factors)
    if held != micro * accum * world:
        values = {
            "held": str(held),
            "wanted": str(micro * accum * world),
            "micro": str(micro),
            "accum": str(accum),
            "world": str(world),
        }
        yield RuleHit("deepspeed-batch-differs", key_place(_BATCH, job, file), values)


def _differs(
    key: str, held: object, name: str, wanted: object, job: LintedJob, file: EngineFile
) -> RuleHit:
    values = {"key": key, "held": _json(held), "name": name, "wanted": _json(wanted)}
    return RuleHit("deepspeed-value-differs", key_place(key, job, file), values)


def _json(value: object) -> str:
    import json

    return json.dumps(value)


def _given(name: str, job: LintedJob) -> object:
    """Give the value of a training argument, None when it is not known or not the user's."""
    argument = job.resolved.arguments.get(name)
    if argument is None or not argument.known or argument.via not in ("arg", "config"):
        return None
    return argument.value


def _equal(held: object, wanted: object) -> bool:
    if isinstance(held, bool) or isinstance(wanted, bool):
        return held is wanted
    if isinstance(held, (int, float)) and isinstance(wanted, (int, float)):
        return float(held) == float(wanted)
    return held == wanted
