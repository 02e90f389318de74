"""Values of a `config.json` that may hold anything, and what a nested section leaves out.

transformers writes into a nested section only what differs from its class. A configuration of a
plain language model names its sizes itself.
Source: the configuration classes of transformers 4.57 (LlamaConfig, MistralConfig, Qwen2Config,
Gemma3TextConfig, Phi3Config, SiglipVisionConfig, CLIPVisionConfig).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Config = Mapping[str, object]

MOST = 10**9
"""No count in a real configuration is larger."""


def section(config: Config, names: Sequence[str]) -> Config | None:
    """Give the first section that is there and not empty; a dot leads into a nested one."""
    for name in names:
        found: object = config
        for part in name.split("."):
            found = found.get(part) if isinstance(found, dict) else None
        if isinstance(found, dict) and found:
            return found
    return None


def count(source: Config, *names: str) -> int | None:
    """Give the first positive whole number under some names (a list of equal ones counts once)."""
    for name in names:
        value = source.get(name)
        if isinstance(value, list) and value and all(item == value[0] for item in value):
            value = value[0]
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value < MOST:
            return value
    return None


def number(source: Config, name: str) -> float | None:
    """Give a positive number that may be broken."""
    value = source.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 < value < MOST else None


def word(source: Config, name: str) -> str:
    """Give a text of sane length; empty when there is none."""
    value = source.get(name)
    return value[:80] if isinstance(value, str) else ""


TEXT: Mapping[str, Mapping[str, object]] = {
    "llama": {
        "hidden_size": 4096,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "intermediate_size": 11008,
        "vocab_size": 32000,
    },
    "mistral": {
        "hidden_size": 4096,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "intermediate_size": 14336,
        "vocab_size": 32000,
    },
    "qwen2": {
        "hidden_size": 4096,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 32,
        "intermediate_size": 22016,
        "vocab_size": 151936,
    },
    "gemma3_text": {
        "hidden_size": 2304,
        "num_hidden_layers": 26,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "head_dim": 256,
        "intermediate_size": 9216,
        "vocab_size": 262208,
    },
    "phi3": {
        "hidden_size": 3072,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "intermediate_size": 8192,
        "vocab_size": 32064,
    },
}

VISION: Mapping[str, Mapping[str, object]] = {
    "siglip_vision_model": {
        "hidden_size": 768,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 3072,
        "patch_size": 16,
        "image_size": 224,
    },
    "clip_vision_model": {
        "hidden_size": 768,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 3072,
        "patch_size": 32,
        "image_size": 224,
    },
}


def filled(part: Config, defaults: Mapping[str, Mapping[str, object]]) -> Config:
    """Give a nested section with what its class would fill in; a null counts as left out."""
    known = defaults.get(word(part, "model_type"))
    if known is None:
        return part
    return {**known, **{name: value for name, value in part.items() if value is not None}}
