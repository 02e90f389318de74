"""Count the parameters of a transformer from the numbers of its configuration.

Biases and norms are left out: less than 0.1 % of any model here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

Config = Mapping[str, object]

_UNGATED = frozenset(
    {"gpt2", "gpt_neox", "gptj", "gpt_bigcode", "opt", "bloom", "falcon", "phi", "starcoder2"}
    | {"mpt", "codegen", "stablelm_epoch"}
)
"""Two matrices in the feed-forward block (in, out); all others have three (gate, up, down)."""

_OTHER_LAYERS = (
    "linear_num_key_heads",
    "mamba_d_state",
    "ssm_cfg",
    "cross_attention_layers",
    "hidden_size_per_layer_input",
    "full_attention_interval",
    "num_mem_heads",
)
"""Keys of architectures whose layers are not all attention and feed-forward: not counted."""


class Count(NamedTuple):
    """Parameters of a language model: all, and those one token passes through."""

    total: int
    active: int | None


class LanguageModel(NamedTuple):
    """The numbers a decoder is built from; `kind` is its `model_type`."""

    kind: str
    layers: int
    hidden: int
    heads: int | None
    kv_heads: int | None
    head_dim: int | None
    inter: int | None
    vocab: int | None
    tie: bool | None
    experts: int | None
    experts_per_token: int | None
    moe_inter: int | None


class VisionTower(NamedTuple):
    """The numbers a vision tower is built from; `out` is the width of the language model."""

    kind: str
    family: str
    width: int | None
    layers: int | None
    inter: int | None
    mlp_ratio: float | None
    patch: int | None
    image: int | None
    merge: int | None
    out: int
    extra_mergers: int
    positions: int | None


def count_language(model: LanguageModel, config: Config) -> Count | None:
    """Count a decoder's parameters; None where the configuration does not tell them.

    Embeddings, attention (grouped or latent), feed-forward or experts with their router: modeling
    files of transformers 4.57 (llama, qwen2_moe, qwen3_moe, deepseek_v3, mixtral, gpt_oss, phi).
    """
    attention = _attention(model, config)
    if attention is None or model.vocab is None or model.tie is None:
        return None
    if any(config.get(key) for key in _OTHER_LAYERS):
        return None
    embeddings = model.vocab * model.hidden * (1 if model.tie else 2)
    fixed = embeddings + model.layers * attention
    if not model.experts:
        dense = _feed_forward(model, model.inter)
        return None if dense is None else Count(fixed + model.layers * dense, None)
    return _with_experts(model, config, fixed)


def _attention(model: LanguageModel, config: Config) -> int | None:
    if model.heads is None or model.kv_heads is None:
        return None
    rank = _whole(config, "kv_lora_rank")
    if rank is not None:
        return _latent_attention(model, config, rank)
    head = model.head_dim or model.hidden // model.heads
    return model.hidden * head * 2 * (model.heads + model.kv_heads)


def _latent_attention(model: LanguageModel, config: Config, rank: int) -> int | None:
    rope, plain = _whole(config, "qk_rope_head_dim"), _whole(config, "qk_nope_head_dim")
    value = _whole(config, "v_head_dim") or (model.hidden // (model.heads or 1))
    if rope is None or plain is None or model.heads is None:
        return None
    narrow = _whole(config, "q_lora_rank")
    wide = model.heads * (rope + plain)
    query = model.hidden * wide if narrow is None else narrow * (model.hidden + wide)
    keys = model.hidden * (rank + rope) + rank * model.heads * (plain + value)
    return query + keys + model.heads * value * model.hidden


def _feed_forward(model: LanguageModel, inter: int | None) -> int | None:
    if inter is None:
        # gpt2 and its kin leave it out: four times the width
        inter = 4 * model.hidden if model.kind in _UNGATED else None
    if inter is None:
        return None
    if model.kind == "qwen":
        # the first Qwen gives the width of gate and up together
        inter //= 2
    return model.hidden * inter * (2 if model.kind in _UNGATED else 3)


def _with_experts(model: LanguageModel, config: Config, fixed: int) -> Count | None:
    experts, used = model.experts or 0, model.experts_per_token
    expert = _feed_forward(model, model.moe_inter or model.inter)
    if expert is None:
        return None
    shared = _shared_expert(model, config)
    dense_layers = _dense_layers(model, config)
    dense = _feed_forward(model, _whole(config, "intermediate_size_mlp") or model.inter) or 0
    sparse = model.layers - dense_layers
    router = model.hidden * experts
    common = fixed + dense_layers * dense + sparse * (shared + router)
    active = None if used is None else common + sparse * used * expert
    return Count(common + sparse * experts * expert, active)


def _shared_expert(model: LanguageModel, config: Config) -> int:
    width = _whole(config, "shared_expert_intermediate_size")
    if width is None:
        number = _whole(config, "n_shared_experts") or _whole(config, "num_shared_experts")
        width = number * (model.moe_inter or 0) if number is not None else None
    if width is None and model.kind.startswith("llama4"):
        width = model.inter
    return _feed_forward(model, width) or 0 if width is not None else 0


def _dense_layers(model: LanguageModel, config: Config) -> int:
    """Count the layers without experts, as each family of configurations names them."""
    first = _whole(config, "first_k_dense_replace") or 0
    step = _whole(config, "decoder_sparse_step") or _whole(config, "interleave_moe_layer_step") or 1
    frequency = _whole(config, "moe_layer_freq") or 1
    only = config.get("mlp_only_layers")
    named = len(only) if isinstance(only, list) else 0
    periodic = model.layers - model.layers // step if step > 1 else 0
    rest = model.layers - first
    sparse = -(-rest // frequency)
    return min(model.layers, max(first + rest - sparse, periodic, named))


def count_vision(tower: VisionTower) -> int | None:
    """Count a vision tower with its projector; None for a kind whose layout is not known.

    Sources: modeling_qwen2_vl, modeling_qwen2_5_vl, modeling_qwen3_vl, modeling_siglip,
    modeling_clip of transformers 4.57; modeling_internvl_chat of OpenGVLab/InternVL.
    """
    if tower.width is None or tower.layers is None or tower.patch is None:
        return None
    inter = tower.inter
    if inter is None and tower.mlp_ratio is not None:
        inter = int(tower.width * tower.mlp_ratio)
    if inter is None:
        return None
    kind = tower.family if tower.family.startswith("qwen") else tower.kind
    if kind.startswith(("qwen2_vl", "qwen2_5_vl", "qwen3_vl")):
        return _qwen_tower(tower, kind, inter, tower.width)
    if kind.startswith(("clip", "siglip", "intern_vit", "internvl")):
        return _plain_tower(tower, inter, tower.width)
    return None


def _qwen_tower(tower: VisionTower, kind: str, inter: int, width: int) -> int:
    gates = 3 if kind.startswith("qwen2_5") else 2
    # two frames of a video go into one patch
    patches = 3 * 2 * (tower.patch or 0) ** 2 * width
    merged = width * (tower.merge or 2) ** 2
    merger = merged * merged + merged * tower.out
    layer = 4 * width * width + gates * width * inter
    positions = (tower.positions or 0) * width
    # deepstack layers have mergers of their own
    mergers = merger * (1 + tower.extra_mergers)
    return patches + positions + (tower.layers or 0) * layer + mergers


def _plain_tower(tower: VisionTower, inter: int, width: int) -> int | None:
    if tower.image is None:
        return None
    patch = tower.patch or 1
    embeddings = 3 * patch * patch * width + (tower.image // patch) ** 2 * width
    layers = (tower.layers or 0) * (4 * width * width + 2 * width * inter)
    if tower.family.startswith("internvl"):
        # pixel shuffle joins four patches
        projector = 4 * width * tower.out + tower.out * tower.out
    elif tower.family.startswith("gemma"):
        projector = width * tower.out
    else:
        projector = width * tower.out + tower.out * tower.out
    return embeddings + layers + projector


def _whole(config: Config, name: str) -> int | None:
    value = config.get(name)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 < value < 10**9 else None
