"""What has no figure: what is not modelled, is not known enough, or cannot run."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from difflib import get_close_matches
from functools import lru_cache

from trainrx.knowledge.identity import ByIdentity
from trainrx.memory.job import TrainingJob, refusal
from trainrx.memory.model import Model
from trainrx.memory.states import STATES
from trainrx.model.hardware import ModelShape
from trainrx.model.memory import Refusal, Workload

NOT_TRAINING = frozenset({"infer", "deploy", "rollout", "eval", "export"})
NOT_MODELLED = frozenset({"gkd"})
NEEDED = ("params_b", "layers", "hidden", "vocab")
SWITCHES = ("train.galore", "train.badam", "train.apollo")
NPU_WORDS = ("ascend", "npu", "910b", "910c", "mlu", "gcu")
NAMED = 3
_MCORE = re.compile(r"-(?:mcore|megatron|output).*$")
_KIND = re.compile(r"(?:-(?:instruct|chat|base|hf|it))+$")


def unmodelled(job: TrainingJob) -> Refusal | None:
    """Refuse commands and settings no formula is measured for."""
    stage = job.text("task.stage")
    if stage in NOT_TRAINING or job.task in NOT_TRAINING:
        command = job.text("launch.command") or stage or job.task
        return job.unmodelled("not-training", "launch.command", command=command)
    npu = _npu(job)
    if npu is not None:
        return npu
    measured = job.framework.memory_measured
    kind = "launch.task" if measured else "launch.framework"
    if not measured or job.task in NOT_MODELLED:
        return job.unmodelled_value(kind, job.text(kind))
    kind = job.framework.unmodelled_setting(job.facts, megatron=job.megatron)
    if kind:
        value = str(job.facts.value(kind) or "")
        return job.unmodelled_value(kind, value)
    for kind in SWITCHES:
        if job.is_on(kind):
            return job.unmodelled_value(kind, "true")
    layers = job.whole("train.lisa_layers")
    if layers:
        return job.unmodelled_value("train.lisa_layers", str(layers))
    if job.is_on("train.unsloth"):
        return job.unmodelled_value("train.unsloth", "true")
    return None


def _npu(job: TrainingJob) -> Refusal | None:
    for kind in (
        "ascend.visible_devices",
        "ascend.nz_format",
        "hccl.base_port",
        "hccl.connect_timeout",
    ):
        item = job.facts.get(kind)
        if item is not None and item.how not in ("default", "assumed"):
            return job.unmodelled("npu", kind, param=kind)
    card = job.text("hardware.gpu")
    if any(word in card for word in NPU_WORDS):
        return job.unmodelled("npu", "hardware.gpu", param=card)
    return None


def shape_in(folder: str, models: Sequence[ModelShape]) -> ModelShape | None:
    """Find the model whose Megatron weights a folder is named after (`Qwen3-8B-Base-mcore`)."""
    wanted = _KIND.sub("", _MCORE.sub("", _stem(folder)))
    for shape in models if wanted else ():
        for known in (shape.id, *shape.aliases):
            if _KIND.sub("", _stem(known)) == wanted:
                return shape
    return None


def unknown_model(
    job: TrainingJob, shape: ModelShape | None, models: Sequence[ModelShape]
) -> Refusal | None:
    """Ask for a model that is not known, naming the nearest known ones."""
    name = (job.facts.text("model.name") or job.facts.text("model.type") or "").strip()[:200]
    if shape is None:
        if not name:
            return job.unknown("no-model", "model.name")
        near = nearest(name, models)
        hint = f" (known and near: {', '.join(near)})" if near else ""
        return job.unknown("model-unknown", "model.name", model=name, nearest=hint)
    missing = [field for field in NEEDED if not getattr(shape, field)]
    if missing:
        named = name or shape.id or "the model"
        return job.unknown(
            "model-incomplete", "model.name", model=named, missing=", ".join(missing)
        )
    return None


def nearest(name: str, models: Sequence[ModelShape]) -> tuple[str, ...]:
    """Give the known models whose names are nearest, best first."""
    return _nearest(ByIdentity(models), _stem(name))


@lru_cache(maxsize=256)
def _nearest(models: ByIdentity[Sequence[ModelShape]], wanted: str) -> tuple[str, ...]:
    by_stem = _by_stem(models)
    found = get_close_matches(wanted, by_stem, n=NAMED, cutoff=0.5)
    return tuple(by_stem[stem] for stem in found)


@lru_cache(maxsize=4)
def _by_stem(models: ByIdentity[Sequence[ModelShape]]) -> dict[str, str]:
    """Give the first name of each short form."""
    found: dict[str, str] = {}
    for shape in models.part:
        for known in (shape.id, *shape.aliases):
            found.setdefault(_stem(known), known)
    return found


def _stem(name: str) -> str:
    return name.rstrip("/\\").replace("\\", "/").rsplit("/", 1)[-1].lower().replace("_", "-")


MOST_TOKENS = 100_000_000.0
COUNTS = (
    "world",
    "data",
    "tensor",
    "pipeline",
    "context",
    "expert",
    "device_map",
    "ranks_per_node",
    "accumulation",
)


def refused(work: Workload, model: Model) -> Refusal | None:
    """Give the reason there is no figure for a workload; None when there is one."""
    return _impossible(work, model) or _unmodelled(work)


def unknown_shape(work: Workload) -> Refusal:
    """Say that a model's layers, width or vocabulary are not known."""
    lacking = [name for name in ("layers", "hidden", "vocab") if not getattr(work.shape, name)]
    values = {"model": work.shape.id, "missing": ", ".join(lacking) or "params_b"}
    return refusal("unknown", "model-incomplete", values, asks=("model.name",))


def _impossible(work: Workload, model: Model) -> Refusal | None:
    for name in COUNTS:
        count = getattr(work, name)
        if count < 1:
            return _no("not-positive", param=name, value=count, least=1)
    for name, size in (
        ("micro_batch", work.micro_batch),
        ("length", work.length.typical),
        ("length", work.length.high),
    ):
        if not math.isfinite(size) or not 0 < size <= MOST_TOKENS:
            return _no("not-positive", param=name, value=f"{size:g}", least=1)
    if model.heads % work.tensor:
        return _no("heads-not-divisible", heads=model.heads, tensor=work.tensor, param="tensor")
    group = work.tensor * work.pipeline * work.context
    if work.world % group:
        degrees = f"{work.tensor} x {work.pipeline} x {work.context}"
        return _no("world-not-divisible", world=work.world, group=group, degrees=degrees)
    if work.pipeline > model.layers:
        return _no("layers-fewer-than-stages", layers=model.layers, stages=work.pipeline)
    share = work.rollout.share
    if share is not None and not 0 < share <= 1:
        return _no("share-range", param="share", value=f"{share:g}")
    return None


def _unmodelled(work: Workload) -> Refusal | None:
    if work.optimizer not in STATES:
        values = {"param": "train.optimizer", "value": work.optimizer}
        return refusal("unmodelled", "setting", values)
    if work.tuner in ("adapter", "freeze") and work.trained_b is None:
        return refusal("unknown", "trained-unknown", {})
    if work.rollout.mode == "colocate" and not work.card_gib:
        return refusal("unknown", "no-card", {}, asks=("hardware.gpu_gib",))
    return None


def _no(name: str, **values: object) -> Refusal:
    return refusal("impossible", name, values)
