"""Read the vision tower of a model from the sections of its `config.json`."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from trainrx.model.hardware import Tower
from trainrx.models.parameters import count_tower
from trainrx.models.sections import VISION, Config, count, filled, number, section, word

SECTIONS = (
    "vision_config",
    "visual",
    "vit_config",
    "thinker_config.vision_config",
    "mm_vision_config",
    "img_processor",
)
AUDIO = ("audio_config", "thinker_config.audio_config")

_QWEN: Mapping[str, int] = {"depth": 32, "heads": 16, "patch": 14, "merge": 2, "temporal": 2}
"""Defaults of Qwen2VLVisionConfig and Qwen2_5_VLVisionConfig (transformers 4.57)."""

_CLIP: Mapping[str, int] = {"depth": 24, "heads": 16, "width": 1024, "inter": 4096}
"""openai/clip-vit-large-patch14-336, which Phi-3-vision names instead of describing it."""


def vision_tower(config: Config, out: int) -> Tower | None:
    """Read the tower; None when there is none or the file does not tell its layers.

    Args:
        config: the whole `config.json`.
        out: width of the language model the projector leads to.
    """
    part = section(config, SECTIONS)
    if part is None:
        return None
    family = word(config, "model_type")
    if "clip" in word(part, "model_name").lower() or word(part, "name") == "clip_vision_model":
        return _named_clip(family, out)
    if family.startswith("qwen") or "spatial_merge_size" in part:
        return _merging(part, family, out)
    return _plain(config, filled(part, VISION), family, out)


def audio_encoder(config: Config, out: int) -> int | None:
    """Count an audio encoder of Whisper's layout with its projector; None for another layout.

    Two convolutions of width 3 before the layers: modeling_whisper, modeling_qwen2_audio.
    """
    part = section(config, AUDIO) or {}
    width = count(part, "d_model")
    layers, inter = count(part, "encoder_layers"), count(part, "encoder_ffn_dim")
    if width is None or layers is None or inter is None:
        return None
    mels = count(part, "num_mel_bins") or 128
    convolutions = 3 * mels * width + 3 * width * width
    return convolutions + layers * (4 * width * width + 2 * width * inter) + width * out


def _named_clip(family: str, out: int) -> Tower:
    tower = Tower(
        depth=_CLIP["depth"],
        hidden=_CLIP["width"],
        heads=_CLIP["heads"],
        inter=_CLIP["inter"],
        patch=14,
        merge=2 if family.startswith("phi") else 1,
        image_size=336,
    )
    return with_projector(tower, _two_layers(tower, out))


def _merging(part: Config, family: str, out: int) -> Tower | None:
    """Read a tower whose projector joins `merge` x `merge` patches (Qwen2-VL and its kin)."""
    known = _QWEN if family.startswith(("qwen2_vl", "qwen2_5")) else {}
    width = count(part, "embed_dim", "hidden_size")
    depth = count(part, "depth", "num_hidden_layers") or known.get("depth")
    heads = count(part, "num_heads", "num_attention_heads") or known.get("heads")
    patch = count(part, "patch_size", "spatial_patch_size") or known.get("patch")
    if width is None or depth is None or heads is None or patch is None:
        return None
    glm = family.startswith("glm4v")
    out = count(part, "out_hidden_size") or out
    inter = out if glm else count(part, "intermediate_size")
    ratio = number(part, "mlp_ratio")
    if inter is None and ratio is not None:
        inter = int(width * ratio)
    if inter is None:
        return None
    merge = count(part, "spatial_merge_size") or known.get("merge", 1)
    full = part.get("fullatt_block_indexes")
    tower = Tower(
        depth=depth,
        hidden=width,
        heads=heads,
        inter=inter,
        patch=patch,
        merge=merge,
        temporal_patch=count(part, "temporal_patch_size") or known.get("temporal", 1),
        gated=glm or "qwen2_5" in family,
        window=count(part, "window_size") if isinstance(full, list) else None,
        full_layers=len(full) if isinstance(full, list) else 0,
    )
    if glm:
        return with_projector(tower, _glm_merger(tower, part, out))
    indexes = part.get("deepstack_visual_indexes")
    mergers = 1 + (len(indexes) if isinstance(indexes, list) else 0)
    merged = width * merge**2
    positions = (count(part, "num_position_embeddings") or 0) * width
    return with_projector(tower, mergers * (merged * merged + merged * out), positions)


def _glm_merger(tower: Tower, part: Config, out: int) -> int:
    """Count the convolution that joins patches and the gated block after it (modeling_glm4v)."""
    inter = count(part, "intermediate_size") or out
    return tower.hidden * tower.merge**2 * out + out * out + 3 * out * inter


def _plain(config: Config, part: Config, family: str, out: int) -> Tower | None:
    width = count(part, "hidden_size")
    depth = count(part, "num_hidden_layers", "depth")
    heads = count(part, "num_attention_heads", "attention_heads", "num_heads")
    inter, patch = count(part, "intermediate_size"), count(part, "patch_size")
    if width is None or depth is None or heads is None or inter is None or patch is None:
        return None
    shuffled = family.startswith("internvl")
    joined = shuffled or family == "chatglm"
    # MiniCPM-V cuts images into tiles smaller than its encoder has positions for
    tile = count(config, "image_size") or count(part, "image_size")
    tower = Tower(
        depth=depth + (count(part, "num_global_layers") or 0),
        hidden=width,
        heads=heads,
        inter=inter,
        patch=patch,
        merge=2 if joined else 1,
        image_size=tile if family.startswith("minicpm") else count(part, "image_size"),
        tokens_per_image=_tokens(config, family),
        gated=family.startswith(("mistral3", "pixtral")),
    )
    projector = _projector(config, tower, family, out)
    if projector is None:
        return tower
    return with_projector(tower, projector)


def _tokens(config: Config, family: str) -> int | None:
    """Give the tokens of one image or tile in the language model's own sequence."""
    if family.startswith("mllama"):
        # images are reached by cross attention: one token marks the place
        return 1
    return count(config, "mm_tokens_per_image", "query_num", "image_seq_length")


def _projector(config: Config, tower: Tower, family: str, out: int) -> int | None:
    """Count what leads to the language model; None for a family whose layout is not known.

    Sources: modeling_internvl_chat, modeling_gemma3, modeling_mllama, modeling_llava of
    transformers 4.57; resampler.py of OpenBMB/MiniCPM-V-2_6; visual.py of THUDM/glm-4v-9b.
    """
    width = tower.hidden
    if family.startswith("minicpm"):
        # cross attention of as many queries as an image gives tokens
        return width * out + 5 * out * out + (tower.tokens_per_image or 0) * out
    if family == "chatglm":
        inter = count(config, "ffn_hidden_size") or 0
        return width * tower.merge**2 * out + out * out + 3 * out * inter
    if family.startswith("gemma"):
        return width * out
    if family.startswith("mllama"):
        part = section(config, SECTIONS) or {}
        return (count(part, "vision_output_dim") or width) * out
    if family.startswith(("internvl", "llava")):
        return _two_layers(tower, out)
    return None


def _two_layers(tower: Tower, out: int) -> int:
    """Count two linear layers after joining `merge` x `merge` patches (LLaVA-1.5, Phi-3-vision)."""
    return tower.hidden * tower.merge**2 * out + out * out


def with_projector(tower: Tower, projector: int, further: int = 0) -> Tower:
    """Give the tower with its sizes in 1e9; `further` parameters belong to the tower."""
    whole = count_tower(tower) + further + projector
    return msgspec.structs.replace(
        tower, params_b=round(whole / 1e9, 4), projector_b=round(projector / 1e9, 4)
    )
