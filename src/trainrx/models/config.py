"""Read the shape of a model from its `config.json`, as transformers writes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from trainrx.model.catalog import Value
from trainrx.model.hardware import ModelShape
from trainrx.models.layers import (
    expert_widths,
    feed_forward_width,
    is_gated,
    linear_widths,
    uncounted,
)
from trainrx.models.parameters import count_language
from trainrx.models.sections import TEXT, Config, count, filled, section, word
from trainrx.models.tower import AUDIO, SECTIONS, audio_encoder, vision_tower

MAX_CONFIG = 2_000_000
"""Characters; a config.json has a few thousand, with a quantisation map some hundred thousand."""

_TEXT = ("text_config", "llm_config", "language_config", "thinker_config")
_DTYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
_TIED = ("gemma", "gpt2", "opt", "bloom", "cohere", "starcoder2", "gpt_bigcode", "falcon", "lfm2")
_UNTIED: tuple[str, ...] = (
    "llama",
    "mistral",
    "mixtral",
    "qwen2",
    "qwen3",
    "deepseek",
    "internlm",
    "phi3",
    "glm",
)
_UNTIED += ("baichuan", "yi", "chatglm", "gpt_oss", "olmo", "qwen", "dbrx", "gpt_neox")


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
    layers = count(body, "num_hidden_layers", "n_layer", "num_layers", "n_layers")
    hidden = count(body, "hidden_size", "n_embd", "d_model")
    if layers is None or hidden is None:
        return None
    vision = section(config, SECTIONS) is not None
    quant_bits, quant_method = _quantisation(config)
    shape = _body(config, body, layers, hidden)
    shape = msgspec.structs.replace(
        shape,
        id=name,
        vision=vision,
        tower=vision_tower(config, hidden),
        audio=section(config, AUDIO) is not None,
        window_attention=_has_windows(config),
        dtype=_dtype(config, body),
        quant_bits=quant_bits,
        quant_method=quant_method,
        model_type=word(config, "model_type"),
    )
    if uncounted(body) or section(config, ("talker_config",)) is not None:
        return shape
    return _counted(shape, audio_encoder(config, hidden) if shape.audio else 0)


def _body(config: Config, body: Config, layers: int, hidden: int) -> ModelShape:
    """Read the language model's own numbers."""
    kind = word(body, "model_type") or word(config, "model_type")
    heads = count(body, "num_attention_heads", "n_head", "n_heads", "num_heads")
    experts = expert_widths(body, kind, layers)
    linear = linear_widths(body, kind, layers, hidden)
    decoder = count(body, "num_decoder_layers") or layers
    encoder = layers if kind.endswith("t5") else 0
    return ModelShape(
        id="",
        layers=layers + (decoder if encoder else 0),
        hidden=hidden,
        heads=heads,
        kv_heads=_kv_heads(body, kind) or heads,
        head_dim=count(body, "head_dim", "kv_channels", "d_kv"),
        inter=feed_forward_width(body, kind, hidden),
        gated=False if not is_gated(body, kind) else None,
        vocab=count(body, "vocab_size", "padded_vocab_size") or count(config, "vocab_size"),
        tie=_tie(config, body, kind),
        experts=experts.number,
        experts_per_token=experts.used,
        moe_inter=experts.width,
        shared_inter=experts.shared,
        first_dense=experts.dense_layers,
        kv_lora=count(body, "kv_lora_rank"),
        q_lora=count(body, "q_lora_rank"),
        qk_nope=count(body, "qk_nope_head_dim"),
        qk_rope=count(body, "qk_rope_head_dim"),
        v_head=count(body, "v_head_dim"),
        linear_layers=linear.layers,
        linear_in=linear.inward,
        linear_out=linear.outward,
        gated_attention=linear.gate,
        encoder_layers=encoder,
        max_positions=count(
            body, "max_position_embeddings", "n_positions", "seq_length", "max_sequence_length"
        ),
    )


def _kv_heads(body: Config, kind: str) -> int | None:
    """Count key heads; without groups there is one per head, and an explicit null says the same."""
    if kind == "falcon" and not body.get("new_decoder_architecture") and body.get("multi_query"):
        return 1
    if kind == "gpt_bigcode" and body.get("multi_query", True):
        return 1
    if body.get("multi_query_attention"):
        return count(body, "multi_query_group_num")
    inner = section(body, ("attn_config",)) or {}
    return count(body, "num_key_value_heads", "num_kv_heads") or count(inner, "kv_n_heads")


def _counted(shape: ModelShape, audio: int | None) -> ModelShape:
    """Add what can be counted: nothing where a part of the model has an unknown layout."""
    tower = shape.tower
    vision_b = None if tower is None else tower.params_b
    found = count_language(shape)
    if found is None or audio is None or (shape.vision and vision_b is None):
        return msgspec.structs.replace(shape, vision_b=_rounded(vision_b))
    encoders = (vision_b or 0.0) + audio / 1e9
    whole = found.total / 1e9 + encoders
    active = None if found.active is None else found.active / 1e9 + encoders
    return msgspec.structs.replace(
        shape, params_b=_rounded(whole), active_b=_rounded(active), vision_b=_rounded(vision_b)
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
        inner = section(body, _TEXT)
        if inner is None:
            break
        body = filled(inner, TEXT)
    return body


def _tie(config: Config, body: Config, kind: str) -> bool | None:
    for source in (body, config):
        value = source.get("tie_word_embeddings")
        if isinstance(value, bool):
            return value
    if kind.startswith(_TIED):
        return True
    return False if kind.startswith(_UNTIED) else None


def _quantisation(config: Config) -> _Quantisation:
    part = section(config, ("quantization_config", "compression_config"))
    if part is None:
        return _Quantisation(None, "")
    bits = count(part, "bits", "w_bit", "num_bits")
    for name, width in (("load_in_4bit", 4), ("load_in_8bit", 8)):
        if part.get(name) is True:
            bits = width
    method = word(part, "quant_method").lower()
    return _Quantisation(8 if bits is None and method == "fp8" else bits, method)


def _dtype(config: Config, body: Config) -> str:
    for source in (config, body):
        for key in ("dtype", "torch_dtype"):
            name = word(source, key).removeprefix("torch.")
            if name in _DTYPES:
                return _DTYPES[name]
    return ""


def _has_windows(config: Config) -> bool:
    part = section(config, SECTIONS)
    return part is not None and bool(part.get("fullatt_block_indexes"))


def _rounded(billions: float | None) -> float | None:
    return None if billions is None else round(billions, 3)
