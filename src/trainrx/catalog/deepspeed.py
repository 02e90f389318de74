"""DeepSpeed settings: a preset's name, a path, or JSON, read as what they shard and offload."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from trainrx.catalog.catalog import catalog
from trainrx.frameworks import framework_of
from trainrx.knowledge.catalogs import read_presets
from trainrx.model.facts import Scalar
from trainrx.model.pattern import late

MAX_JSON = 200_000
"""Characters; a DeepSpeed config is a few thousand."""

_STAGE = late(r"(?:zero|stage|(?<![a-z0-9])z)[ _-]?([0-3])(?![0-9])")
_CANONICAL = frozenset(f"zero{n}{tail}" for n in range(4) for tail in ("", "_offload"))
_AS_WRITTEN = _CANONICAL - {"zero0_offload", "zero1_offload"}
"""There is nothing to hold elsewhere below stage 2."""
_PART = late(r"offload[_-]?(params?|optimi[sz]er|opt)(?![a-z])")
_FURTHER: Mapping[str, tuple[str, Literal["int", "bool", "device", "text"]]] = {
    "train_batch_size": ("deepspeed.train_batch", "int"),
    "train_micro_batch_size_per_gpu": ("deepspeed.micro_batch", "int"),
    "gradient_accumulation_steps": ("deepspeed.grad_accum", "int"),
    "bf16.enabled": ("deepspeed.bf16", "bool"),
    "fp16.enabled": ("deepspeed.fp16", "bool"),
    "zero_optimization.overlap_comm": ("deepspeed.overlap_comm", "bool"),
    "zero_optimization.zero_hpz_partition_size": ("deepspeed.hpz_partition", "int"),
    "zero_optimization.offload_param.device": ("deepspeed.param_device", "device"),
    "zero_optimization.offload_optimizer.device": ("deepspeed.optimizer_device", "device"),
    "zero_optimization.offload_param.nvme_path": ("deepspeed.param_path", "text"),
    "zero_optimization.offload_optimizer.nvme_path": ("deepspeed.optimizer_path", "text"),
    "zero_optimization.stage3_gather_16bit_weights_on_model_save": (
        "deepspeed.gathers_weights",
        "bool",
    ),
    "tensor_parallel.autotp_size": ("deepspeed.autotp", "int"),
}
"""Keys of a DeepSpeed configuration and the facts they give.
https://www.deepspeed.ai/docs/config-json/"""
_MOST_DIGITS = 9


def canonical_deepspeed(text: str) -> str | None:
    """Name a DeepSpeed setting: zero0..zero3, zero2_offload, zero3_offload, else as written."""
    inline = _inline(text)
    if inline is not None:
        return _named(_facts_of(inline))
    stem = _stem(text)
    if stem in _AS_WRITTEN:
        return stem
    found = _STAGE.search(stem)
    if found is None:
        return text
    stage = int(found[1])
    return f"zero{stage}_offload" if stage >= 2 and "offload" in stem else f"zero{stage}"


def read_deepspeed(
    value: str, *, framework: str = "", version: str | None = None, content: str | None = None
) -> dict[str, Scalar]:
    """Read a DeepSpeed setting into facts; what cannot be told is left out.

    `value` is a preset (`zero3`, `default-zero2`), a path (`ds_z3_offload_config.json`) or inline
    JSON; `content` is the text of the file it names, when at hand. Keys: `parallel.deepspeed`,
    `parallel.zero_stage`, `parallel.offload_params`, `parallel.offload_optimizer`, and of a whole
    configuration what it sets itself (`deepspeed.*`; nothing of what is "auto"). Never raises.
    """
    config = _inline(content if content is not None else value)
    if config is not None:
        facts = _facts_of(config)
        return {"parallel.deepspeed": _named(facts) or value[:200], **facts}
    name = canonical_deepspeed(value)
    if name not in _CANONICAL:
        return {"parallel.deepspeed": value[:200]}
    shipped = preset(value, framework, version) if framework_of(framework).ships_presets else ()
    if shipped:
        return {"parallel.deepspeed": name, **_shared(shipped)}
    return {
        "parallel.deepspeed": name,
        "parallel.zero_stage": int(name[4]),
        **_offload(name, value),
    }


def _shared(configs: Sequence[Mapping[str, object]]) -> dict[str, Scalar]:
    """Read what several configurations, of which one holds, have in common."""
    first, *rest = (_facts_of(config) for config in configs)
    return {n: v for n, v in first.items() if all(n in o and o[n] == v for o in rest)}


def keys_of(fact: str) -> tuple[str, ...]:
    """Give the keys a fact is read from, as they stand in a DeepSpeed file."""
    return tuple(key for key, (name, _) in _FURTHER.items() if name == fact)


def deepspeed_facts(flat: Mapping[str, str]) -> dict[str, Scalar]:
    """Read DeepSpeed facts out of flattened keys (its own JSON or dump, or accelerate's YAML)."""
    facts: dict[str, Scalar] = {}
    for outer in ("", "deepspeed_config.", "deepspeed."):
        prefix = f"{outer}zero_optimization."
        _put_stage(facts, flat.get(prefix + "stage"))
        _put_device(facts, "params", flat.get(prefix + "offload_param.device"))
        _put_device(facts, "optimizer", flat.get(prefix + "offload_optimizer.device"))
        own = {
            name.removeprefix(outer): text for name, text in flat.items() if name.startswith(outer)
        }
        facts |= _further(own.get)
    _put_stage(facts, flat.get("zero_optimization_stage"))
    _put_stage(facts, flat.get("deepspeed_config.zero_stage"))
    _put_device(facts, "params", flat.get("deepspeed_config.offload_param_device"))
    _put_device(facts, "optimizer", flat.get("deepspeed_config.offload_optimizer_device"))
    name = _named(facts)
    return {"parallel.deepspeed": name, **facts} if name else facts


def _offload(name: str, value: str) -> dict[str, Scalar]:
    """Tell from its name what a configuration offloads."""
    params, optimizer = "parallel.offload_params", "parallel.offload_optimizer"
    if not name.endswith("_offload"):
        return {params: False, optimizer: False}
    part = _PART.search(_stem(value))
    if part is not None:
        on_params = part[1].startswith("param")
        return {params: on_params, optimizer: not on_params}
    return {params: name != "zero2_offload", optimizer: True}


def _facts_of(config: Mapping[str, object]) -> dict[str, Scalar]:
    """Read a DeepSpeed config; a missing section is stage 0, its documented default."""
    section = config.get("zero_optimization")
    zero = section if isinstance(section, dict) else {}
    facts: dict[str, Scalar] = {}
    stage = zero.get("stage", 0)
    if section is True:  # the form of before 2020: ZeRO 1
        stage = 1
    if isinstance(stage, int) and not isinstance(stage, bool) and 0 <= stage <= 3:
        facts["parallel.zero_stage"] = stage
    for part, key in (("params", "offload_param"), ("optimizer", "offload_optimizer")):
        device = zero.get(key)
        named = device.get("device", "none") if isinstance(device, dict) else "none"
        facts[f"parallel.offload_{part}"] = str(named).lower() in {"cpu", "nvme"}
    if zero.get("cpu_offload") is True:  # the older name of an optimizer in host memory
        facts["parallel.offload_optimizer"] = True
    return facts | _further(lambda name: _text(_at(config, name)))


def _further(get: Callable[[str], str | None]) -> dict[str, Scalar]:
    """Read what else a configuration sets: concrete values only, "auto" is left to the trainer."""
    facts: dict[str, Scalar] = {}
    for name, (fact, kind) in _FURTHER.items():
        text = (get(name) or "").strip().lower()
        if kind == "bool" and text in {"true", "false"}:
            facts[fact] = text == "true"
        elif kind == "int" and text.isdecimal() and len(text) <= _MOST_DIGITS and int(text):
            facts[fact] = int(text)
        elif kind == "text" and text:
            facts[fact] = text[:200]
        elif kind == "device" and text in {"cpu", "nvme", "none"}:
            facts[fact] = text
    return facts


def _at(config: Mapping[str, object], name: str) -> object:
    found: object = config
    for part in name.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def _text(value: object) -> str | None:
    if isinstance(value, float) and value == int(value):
        value = int(value)
    return None if value is None or isinstance(value, (dict, list)) else str(value)


def _named(facts: Mapping[str, Scalar]) -> str | None:
    stage = facts.get("parallel.zero_stage")
    if stage is None:
        return None
    moved = facts.get("parallel.offload_params") or facts.get("parallel.offload_optimizer")
    return f"zero{stage}_offload" if moved and stage in {2, 3} else f"zero{stage}"


def _put_stage(facts: dict[str, Scalar], text: str | None) -> None:
    if text is not None and text.strip() in {"0", "1", "2", "3"}:
        facts["parallel.zero_stage"] = int(text)


def _put_device(facts: dict[str, Scalar], part: str, text: str | None) -> None:
    if text is not None:
        facts[f"parallel.offload_{part}"] = text.strip().lower() in {"cpu", "nvme"}


def _inline(text: str) -> Mapping[str, object] | None:
    """Parse a JSON object; None when the text is none (or is absurdly long or deep)."""
    stripped = text.strip()
    if not stripped.startswith("{") or len(stripped) > MAX_JSON:
        return None
    import json  # few values are JSON

    try:
        config = json.loads(stripped)
    except (ValueError, RecursionError):
        return None
    return config if isinstance(config, dict) else None


def _stem(text: str) -> str:
    """Give what of a path names the preset: the file's name without its ending."""
    name = text.strip().replace("\\", "/").rstrip("/").rsplit("/", 1)[-1].lower()
    ending = next((end for end in (".json", ".yaml", ".yml") if name.endswith(end)), "")
    return name.removesuffix(ending)[:200]


def preset(name: str, framework: str, version: str | None) -> tuple[Mapping[str, Any], ...]:
    """Give what a preset holds at the releases a job may run, the different ones, oldest first.

    Args:
        name: as written: `zero3`, in 2.x also `default-zero3` and `zero3-offload`.
        framework: what ships it.
        version: of the framework, exact or in part; None is any.
    """
    known = catalog(framework)
    wanted = name.strip().removeprefix("default-").replace("-", "_")
    bits = known.of(version)
    return tuple(
        content
        for item in read_presets()
        if item.name == wanted and known.mask(item.spans) & bits
        for content in known.values(item.contents, known.mask(item.spans) & bits)
    )
