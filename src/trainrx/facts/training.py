"""What is trained and how, in words the frameworks do not all have."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.facts.reading import derived, framework, task
from trainrx.frameworks.common.memory import runs
from trainrx.frameworks.common.task import DEPLOYS
from trainrx.model.facts import Fact, Facts, fact
from trainrx.models.families import quantisation_of

ADAPTERS = frozenset({"lora", "qlora", "dora"})


def training_facts(facts: Facts) -> tuple[Fact, ...]:
    """Derive `task.stage`, `tuner.*`, `train.precision`, `freeze.*` and `vision.*` trainability."""
    out = Facts(facts)
    for step in (
        _stage,
        _packed,
        _tuner,
        _quantised,
        _kind,
        _precision,
        _frozen,
        _tower_checkpointing,
    ):
        out.add(*step(out))
    return tuple(item for item in out if item.kind not in facts)


def _stage(facts: Facts) -> Iterator[Fact]:
    """Tell servers, rollouts and evaluations apart, which are all inference."""
    command = (facts.text("launch.command") or "").removeprefix("megatron ").replace("-", "_")
    stage = DEPLOYS.get(command) or task(facts)
    if stage:
        yield derived(facts, "task.stage", stage, "launch.command", "launch.task")


def _tuner(facts: Facts) -> Iterator[Fact]:
    rank = facts.number("tuner.rank")
    if framework(facts).lora_by_rank and rank is not None:
        yield derived(facts, "tuner.type", "lora" if rank > 0 else "full", "tuner.rank")
    elif framework(facts).full_without_adapter and facts.is_unset("tuner.type", "tuner.rank"):
        yield derived(facts, "tuner.type", "full", "launch.given")


def _packed(facts: Facts) -> Iterator[Fact]:
    """Rows of Automodel are packed where the length of a packed row is given (recipes/llm)."""
    if facts.whole("train.pack_length") is not None:
        yield derived(facts, "train.packing", True, "train.pack_length")


def _quantised(facts: Facts) -> Iterator[Fact]:
    """Read the quantisation of a base model out of its name (AWQ, GPTQ-Int4, FP8)."""
    bits = facts.number("model.quant_bits")
    found = bits if bits is not None else quantised_bits(facts.text("model.name") or "")
    if found:
        for kind in ("model.quant_bits", "tuner.quant_bits"):
            yield derived(facts, kind, int(found), "model.name")


def quantised_bits(name: str) -> int | None:
    """Give the bits a quantised model's name tells; None when it tells none."""
    stem = name.strip().rstrip("/\\").replace("\\", "/").rsplit("/", 1)[-1].lower()
    found = quantisation_of(stem)
    return None if found is None else found.bits


def _kind(facts: Facts) -> Iterator[Fact]:
    tuner = facts.text("tuner.type")
    if tuner is None or task(facts) == "infer":
        return
    kind = tuner
    if tuner in ADAPTERS and facts.value("tuner.dora") is True:
        kind = "dora"
    elif tuner in ADAPTERS and (
        facts.number("tuner.quant_bits") or facts.number("model.quant_bits")
    ):
        kind = "qlora"
    yield derived(facts, "tuner.kind", kind, "tuner.type", "tuner.quant_bits", "tuner.dora")


def _precision(facts: Facts) -> Iterator[Fact]:
    """Compute in the type the checkpoint is stored in, where that is the default.

    What becomes of a checkpoint in float32 the card decides: left open.
    """
    dtype = facts.text("model.dtype")
    major, since = facts.number("launch.framework_major"), framework(facts).computes_as_stored
    if since is None or major is None or major < since:
        return
    if dtype in ("bf16", "fp16") and facts.is_unset("train.precision"):
        yield derived(facts, "train.precision", dtype, "model.name")


def _frozen(facts: Facts) -> Iterator[Fact]:
    """Say which part of a model with a vision tower gets gradients of its own.

    Adapters freeze all base weights; whether the tower gets adapters follows the freeze settings.
    """
    if facts.value("model.is_vision") is not True:
        return
    frozen = facts.value("freeze.vision")
    if isinstance(frozen, bool):
        yield derived(facts, "vision.trained", not frozen, "freeze.vision")


def _tower_checkpointing(facts: Facts) -> Iterator[Fact]:
    """Checkpoint the vision tower like the rest, where that is the default."""
    whole = facts.value("train.gradient_checkpointing")
    if facts.value("model.is_vision") is not True:
        return
    if not runs(facts, framework(facts).tower_like_rest):
        return
    if isinstance(whole, bool) and facts.is_unset("train.vit_gradient_checkpointing"):
        yield derived(
            facts, "train.vit_gradient_checkpointing", whole, "train.gradient_checkpointing"
        )


QWEN_FAMILIES = ("qwen2-vl", "qwen2.5-vl", "qwen2.5-omni")
QWEN_DEFAULT_CAP = 16384 * 28 * 28
"""MAX_PIXELS of qwen_vl_utils (vision_process.py): 12,845,056 pixels, about 16,384 tokens."""


def vision_facts(facts: Facts) -> tuple[Fact, ...]:
    """Derive the effective cap and whether anyone lowered it below the model's own default."""
    if facts.value("model.is_vision") is False:
        return ()
    unread = framework(facts).unread(facts)
    for source in ("log.max_pixels", "vision.max_pixels"):
        cap = facts.number(source)
        if cap is not None and source in unread:
            return (derived(facts, "vision.pixels_capped", False, source),)
        if cap is not None:
            return _cap(int(cap), facts, source)
    family = facts.text("model.family")
    unset = facts.value("launch.env_complete") is True and facts.value("launch.given") is True
    if family in QWEN_FAMILIES and unset and framework(facts).pixels_of_qwen:
        return _cap(QWEN_DEFAULT_CAP, facts, "launch.given")
    return ()


def _cap(cap: int, facts: Facts, source: str) -> tuple[Fact, ...]:
    origins = facts.origins(source)
    return (
        fact("vision.pixel_cap", cap, *origins, how="derived"),
        fact("vision.pixels_capped", cap < QWEN_DEFAULT_CAP, *origins, how="derived"),
    )
