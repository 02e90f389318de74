"""A configuration transformers can read: a model's own, or one made of its shape."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from trainrx.model.hardware import ModelShape
from trainrx.model.memory import Refusal

DROPPED = (
    "architectures",
    "auto_map",
    "dtype",
    "name_or_path",
    "_name_or_path",
    "quantization_config",
    "rope_scaling",
    "torch_dtype",
    "transformers_version",
    "use_cache",
    "model_type",
)
"""Keys that name code, values or where a position is: none of them changes what is allocated."""

FAMILIES: tuple[tuple[str, str], ...] = (
    (r"qwen3.*a\d+(\.\d+)?b", "qwen3_moe"),
    (r"qwen3", "qwen3"),
    (r"qwen(1\.5|2).*(a\d+(\.\d+)?b|moe)", "qwen2_moe"),
    (r"qwen(1\.5|2)", "qwen2"),
    (r"mixtral", "mixtral"),
    (r"mi[ns]istral|mistral|zephyr", "mistral"),
    (r"gemma-?3", "gemma3_text"),
    (r"gemma-?2-", "gemma2"),
    (r"gemma", "gemma"),
    (r"deepseek.*(v3|r1(?!-distill))", "deepseek_v3"),
    (r"deepseek.*(v2|moe)", "deepseek_v2"),
    (r"granite|powerlm", "granite"),
    (r"phi-?[34]", "phi3"),
    (r"starcoder2", "starcoder2"),
    (r"olmo-?2", "olmo2"),
)
"""What transformers calls the class of models with such an id; the first that fits."""

NEEDED = ("layers", "hidden", "heads", "inter", "vocab")


class ModelConfig(NamedTuple):
    """A configuration and what was taken for granted to make it."""

    model_type: str
    values: dict[str, Any]
    assumptions: tuple[str, ...] = ()


def given_config(config: Mapping[str, Any], length: int) -> ModelConfig | Refusal:
    """Take a model's own config.json; positions are made to suffice for `length` tokens."""
    kind = config.get("model_type")
    if not isinstance(kind, str) or not kind:
        return Refusal(
            kind="unknown",
            id="exact-no-model-type",
            reason="the model's config.json has no model_type, so its class is not known",
            asks=("model_type in config.json",),
        )
    values = {str(key): value for key, value in config.items() if key not in DROPPED}
    positions = values.get("max_position_embeddings")
    if isinstance(positions, int) and positions < length:
        values["max_position_embeddings"] = length
    return ModelConfig(kind, values)


def shape_config(shape: ModelShape, length: int) -> ModelConfig | Refusal:
    """Make a configuration of a published shape, of the class its id or type tells."""
    missing = [name for name in NEEDED if getattr(shape, name) is None]
    if missing and not (shape.moe_inter and missing == ["inter"]):
        return Refusal(
            kind="unknown",
            id="exact-no-shape",
            reason=f"{shape.id}: {', '.join(missing)} not known; give the model's config.json",
            asks=("--model-config",),
        )
    if shape.linear_layers or shape.encoder_layers:
        what = "linear attention" if shape.linear_layers else "an encoder beside its decoder"
        return Refusal(
            kind="unmodelled",
            id="exact-own-config-needed",
            reason=f"{shape.id} has {what}: a class for that needs the model's own config.json",
            asks=("--model-config",),
        )
    kind, assumptions = _class_of(shape)
    return ModelConfig(kind, {**_common(shape, length), **_experts(shape, kind)}, assumptions)


def _class_of(shape: ModelShape) -> tuple[str, tuple[str, ...]]:
    found = shape.model_type or _family(shape.id)
    known = {kind for _, kind in FAMILIES} | {"llama"}
    sparse = found.endswith("moe") or found in ("mixtral", "deepseek_v2", "deepseek_v3")
    if found in known and sparse == bool(shape.experts):
        return found, ()
    if shape.kv_lora:
        other = "deepseek_v3"
    elif shape.experts:
        other = "qwen2_moe" if shape.shared_inter else "qwen3_moe"
    else:
        other = "starcoder2" if shape.gated is False else "llama"
    if other == found or (other == "llama" and re.search("llama|vicuna|yi-", shape.id.lower())):
        return other, ()
    return other, (f"{shape.id} is counted as a {other} model of the same shape",)


def _family(name: str) -> str:
    low = name.lower()
    return next((kind for pattern, kind in FAMILIES if re.search(pattern, low)), "")


def _common(shape: ModelShape, length: int) -> dict[str, Any]:
    heads, hidden = shape.heads or 1, shape.hidden or 1
    values: dict[str, Any] = {
        "vocab_size": shape.vocab,
        "hidden_size": hidden,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": heads,
        "num_key_value_heads": shape.kv_heads or heads,
        "intermediate_size": shape.inter or shape.moe_inter,
        "tie_word_embeddings": bool(shape.tie),
        "max_position_embeddings": max(length, shape.max_positions or 0, 2048),
        "head_dim": shape.head_dim or hidden // heads,
        "pad_token_id": None,
    }
    if not shape.window_attention:
        values["sliding_window"] = None
    return values


def _experts(shape: ModelShape, kind: str) -> dict[str, Any]:
    if not shape.experts:
        return {}
    chosen = shape.experts_per_token or 2
    width = shape.moe_inter or shape.inter or 1
    if kind == "mixtral":
        return {
            "num_local_experts": shape.experts,
            "num_experts_per_tok": chosen,
            "intermediate_size": width,
        }
    values: dict[str, Any] = {"num_experts_per_tok": chosen, "moe_intermediate_size": width}
    if not kind.startswith("deepseek"):
        values["num_experts"] = shape.experts
        values["mlp_only_layers"] = list(range(shape.first_dense))
        if kind == "qwen2_moe":
            values["shared_expert_intermediate_size"] = shape.shared_inter or width
        return values
    values |= {
        "n_routed_experts": shape.experts,
        "n_shared_experts": round((shape.shared_inter or 0) / width) or None,
        "first_k_dense_replace": shape.first_dense,
        "n_group": 1,
        "topk_group": 1,
        "q_lora_rank": shape.q_lora,
    }
    latent = {
        "kv_lora_rank": shape.kv_lora,
        "qk_nope_head_dim": shape.qk_nope,
        "qk_rope_head_dim": shape.qk_rope,
        "v_head_dim": shape.v_head,
        "head_dim": shape.qk_rope,
    }
    return values | {name: value for name, value in latent.items() if value is not None}
