"""Read the shape of a model from its `config.json`, as transformers writes it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from trainrx.model.catalog import Value
from trainrx.model.hardware import ModelShape
from trainrx.parse.model_parameters import (
    Count,
    LanguageModel,
    VisionTower,
    count_language,
    count_vision,
)

Config = Mapping[str, object]

MAX_CONFIG = 2_000_000
"""Characters; a config.json has a few thousand, with a quantisation map some hundred thousand."""
MOST = 10**9
"""No count in a real configuration is larger."""

_TEXT = ("text_config", "llm_config", "language_config", "thinker_config")
_VISION = ("vision_config", "visual", "vit_config", "thinker_config.vision_config")
_AUDIO = ("audio_config", "thinker_config.audio_config")
_DTYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
_TIED = ("gemma", "gpt2", "opt", "bloom", "cohere", "starcoder2")
_UNTIED: tuple[str, ...] = (
    "llama",
    "mistral",
    "mixtral",
    "qwen2",
    "qwen3",
    "deepseek",
    "internlm2",
    "phi3",
    "glm",
)
_UNTIED += ("baichuan", "yi", "chatglm", "gpt_oss", "olmo", "qwen")


def shape_from_config(text: str, name: str) -> ModelShape | None:
    """Read a model's shape; None when the text is no configuration of a language model.

    What the file leaves out stays None: transformers omits values that equal the defaults of the
    architecture's class. `params_b` is given only where a formula for the architecture is known.

    Args:
        text: content of `config.json`.
        name: the model's id or folder, which becomes the `id` of the shape.
    """
    config = read_json(text)
    return None if config is None else _shape(config, name)


def _shape(config: Config, name: str) -> ModelShape | None:
    body = _text_part(config)
    layers = _count(body, "num_hidden_layers", "n_layer", "num_layers", "n_layers")
    hidden = _count(body, "hidden_size", "n_embd", "d_model")
    if layers is None or hidden is None:
        return None
    sizes = _sizes(config, body, layers, hidden)
    language = count_language(sizes, body)
    vision, vision_b = _vision(config, hidden)
    quant_bits, quant_method = _quantisation(config)
    total = None if language is None or (vision and vision_b is None) else language.total
    return ModelShape(
        id=name,
        params_b=None if total is None else _billions(total + (vision_b or 0)),
        layers=layers,
        hidden=hidden,
        heads=sizes.heads,
        kv_heads=sizes.kv_heads,
        head_dim=sizes.head_dim,
        inter=sizes.inter,
        vocab=sizes.vocab,
        tie=sizes.tie,
        experts=sizes.experts,
        active_b=_active(language, vision_b) if sizes.experts and total is not None else None,
        experts_per_token=sizes.experts_per_token,
        moe_inter=sizes.moe_inter,
        vision=vision,
        vision_b=None if vision_b is None else _billions(vision_b),
        audio=_section(config, _AUDIO) is not None,
        window_attention=_has_windows(config),
        dtype=_dtype(config, body),
        quant_bits=quant_bits,
        quant_method=quant_method,
        model_type=_word(config, "model_type"),
    )


class _Quantisation(NamedTuple):
    bits: int | None
    method: str


def read_json(text: str) -> Mapping[str, Value] | None:
    """Read a `config.json` as it stands; None when it is no JSON object."""
    if len(text) > MAX_CONFIG:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _text_part(config: Config) -> Config:
    """Give the language model's own section; an omni model nests it twice."""
    body: Config = config
    for _ in range(2):
        inner = _section(body, _TEXT)
        if inner is None:
            break
        body = inner
    return body


def _section(config: Config, names: Sequence[str]) -> Config | None:
    for name in names:
        found: object = config
        for part in name.split("."):
            found = found.get(part) if isinstance(found, dict) else None
        if isinstance(found, dict) and found:
            return found
    return None


def _sizes(config: Config, body: Config, layers: int, hidden: int) -> LanguageModel:
    heads = _count(body, "num_attention_heads", "n_head", "n_heads")
    groups = _count(body, "multi_query_group_num") if body.get("multi_query_attention") else None
    kv_heads = _count(body, "num_key_value_heads", "num_kv_heads") or groups
    experts = _count(body, "num_experts", "num_local_experts", "n_routed_experts")
    return LanguageModel(
        kind=_word(body, "model_type") or _word(config, "model_type"),
        layers=layers,
        hidden=hidden,
        heads=heads,
        # a configuration without groups has one key head per head; an explicit null says the same
        kv_heads=kv_heads or heads,
        head_dim=_count(body, "head_dim", "kv_channels"),
        inter=_count(body, "intermediate_size", "ffn_hidden_size", "n_inner", "ffn_dim"),
        vocab=_count(body, "vocab_size", "padded_vocab_size") or _count(config, "vocab_size"),
        tie=_tie(config, body),
        experts=experts,
        experts_per_token=_count(body, "num_experts_per_tok", "moe_topk"),
        moe_inter=_count(body, "moe_intermediate_size", "expert_ffn_hidden_size"),
    )


def _tie(config: Config, body: Config) -> bool | None:
    for source in (body, config):
        value = source.get("tie_word_embeddings")
        if isinstance(value, bool):
            return value
    kind = _word(body, "model_type") or _word(config, "model_type")
    if kind.startswith(_TIED):
        return True
    return False if kind.startswith(_UNTIED) else None


def _vision(config: Config, hidden: int) -> tuple[bool, int | None]:
    """Tell whether there is a vision tower, and its parameters; None when they cannot be told."""
    section = _section(config, _VISION)
    if section is None:
        return False, None
    indexes = section.get("deepstack_visual_indexes")
    ratio = section.get("mlp_ratio")
    tower = VisionTower(
        kind=_word(section, "model_type") or _word(config, "model_type"),
        family=_word(config, "model_type"),
        width=_count(section, "embed_dim", "hidden_size"),
        layers=_count(section, "depth", "num_hidden_layers"),
        inter=_count(section, "intermediate_size"),
        mlp_ratio=float(ratio) if isinstance(ratio, (int, float)) else None,
        patch=_count(section, "patch_size", "spatial_patch_size"),
        image=_count(section, "image_size"),
        merge=_count(section, "spatial_merge_size"),
        out=hidden,
        extra_mergers=len(indexes) if isinstance(indexes, list) else 0,
        positions=_count(section, "num_position_embeddings"),
    )
    return True, count_vision(tower)


def _quantisation(config: Config) -> _Quantisation:
    section = _section(config, ("quantization_config", "compression_config"))
    if section is None:
        return _Quantisation(None, "")
    bits = _count(section, "bits", "w_bit", "num_bits")
    for name, width in (("load_in_4bit", 4), ("load_in_8bit", 8)):
        if section.get(name) is True:
            bits = width
    method = _word(section, "quant_method").lower()
    return _Quantisation(8 if bits is None and method == "fp8" else bits, method)


def _dtype(config: Config, body: Config) -> str:
    for source in (config, body):
        for key in ("dtype", "torch_dtype"):
            name = _word(source, key).removeprefix("torch.")
            if name in _DTYPES:
                return _DTYPES[name]
    return ""


def _has_windows(config: Config) -> bool:
    section = _section(config, _VISION)
    return section is not None and bool(section.get("fullatt_block_indexes"))


def _active(language: Count | None, vision: int | None) -> float | None:
    if language is None or language.active is None:
        return None
    return _billions(language.active + (vision or 0))


def _count(source: Config, *names: str) -> int | None:
    """Give the first positive whole number under some names (a pair of equal ones counts once)."""
    for name in names:
        value = source.get(name)
        if isinstance(value, list) and value and all(item == value[0] for item in value):
            value = value[0]
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value < MOST:
            return value
    return None


def _word(source: Config, name: str) -> str:
    value = source.get(name)
    return value[:80] if isinstance(value, str) else ""


def _billions(count: float) -> float:
    return round(count / 1e9, 3)
