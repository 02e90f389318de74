"""Cards, models and data sets: sizes that are published."""

# No postponed annotations: as texts they would be compiled one by one when a decoder is made.
from typing import Literal

import msgspec


class Gpu(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A card: what nvidia-smi calls it, what torch reports as its total, what it can do."""

    id: str
    name_regex: str
    memory_gb: float
    compute_capability: str = ""
    bf16: bool | None = None
    fp8_tensor: bool | None = None
    torch_total_gib: tuple[float, ...] = ()
    vendor: str = "nvidia"
    sources: tuple[str, ...] = ()


class Tower(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """The shape of a vision or audio encoder beside the language model.

    `patch` and `image_size` in pixels; `merge` x `merge` patches become one token of the language
    model. `image_size` is the side of an image or tile of a tower with a fixed resolution, None
    where the image keeps its own. `tokens_per_image`: what the language model receives of one
    image (or tile) where patches and merge do not tell it. `gated`: the MLP has three matrices.
    `window`: attention runs within windows of so many pixels in all but `full_layers` layers.
    `params_b` is the tower with its projector, `projector_b` the projector alone, in 1e9.
    """

    depth: int
    hidden: int
    heads: int
    inter: int
    patch: int = 14
    merge: int = 1
    temporal_patch: int = 1
    image_size: int | None = None
    tokens_per_image: int | None = None
    gated: bool = False
    window: int | None = None
    full_layers: int = 0
    params_b: float | None = None
    projector_b: float | None = None


class ModelShape(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """The published shape of a model; counts in units, `params_b` in 1e9 parameters.

    `moe_inter` is the width of one expert, `experts_per_token` how many of them a token passes
    through. `vision_b` is the part of `params_b` that is the vision tower with its projector.
    `inter` is the width of a dense layer's MLP, `gated` tells whether that has three matrices
    (None: it has, as in Llama) or two. Of a mixture of experts, the first `first_dense` layers are
    dense and `shared_inter` is the width of all shared experts together. `kv_lora`, `q_lora`,
    `qk_nope`, `qk_rope` and `v_head` are the widths of multi-head latent attention (DeepSeek-V2,
    arXiv 2405.04434). `linear_layers` have linear attention, whose memory does not grow with the
    square of the length: `linear_in` is the width of what they project the hidden state to,
    `linear_out` of what they project back. `gated_attention`: the query projection gives a gate of
    the same width too. Of an encoder-decoder, `encoder_layers` of the `layers` are the encoder's;
    the others have a second attention over its output. `aliases` are further ids with the same
    shape.
    `dtype` is what the weights are stored in (bf16, fp16, fp32), `quant_bits` and `quant_method`
    how they are quantised, `model_type` the architecture's name in transformers.
    """

    id: str
    params_b: float | None = None
    layers: int | None = None
    hidden: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    inter: int | None = None
    vocab: int | None = None
    tie: bool | None = None
    experts: int | None = None
    active_b: float | None = None
    experts_per_token: int | None = None
    moe_inter: int | None = None
    shared_inter: int | None = None
    first_dense: int = 0
    gated: bool | None = None
    kv_lora: int | None = None
    q_lora: int | None = None
    qk_nope: int | None = None
    qk_rope: int | None = None
    v_head: int | None = None
    linear_layers: int = 0
    linear_in: int | None = None
    linear_out: int | None = None
    gated_attention: bool = False
    encoder_layers: int = 0
    max_positions: int | None = None
    tower: Tower | None = None
    aliases: tuple[str, ...] = ()
    vision: bool = False
    vision_b: float | None = None
    audio: bool = False
    window_attention: bool = False
    dtype: str = ""
    quant_bits: int | None = None
    quant_method: str = ""
    model_type: str = ""
    sources: tuple[str, ...] = ()

    @property
    def head_size(self) -> int | None:
        """Give the width of one attention head."""
        if self.head_dim is not None:
            return self.head_dim
        return self.hidden // self.heads if self.hidden and self.heads else None


class TokenStats(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of the samples of some data, and what else a sample carries.

    `how`: tokenizer (counted), characters (estimated from the script of the text), published (a
    table of the framework's makers). Percentiles are None where only moments are known. `images`,
    `videos` and `audios` are the mean number a sample carries; None where it cannot be told.
    `pair` tells that a sample is two answers to one prompt, and `mean` is that of one of them with
    its prompt. `images_counted`: the tokens images become are among them. `unread` counts samples
    that could not be read. `longest_row` is where the longest stands, counted from 1; `pixels` and
    `pixels_max` are those of an image, on average and at most, None where none was looked at.
    """

    count: int | None = None
    mean: float
    std: float = 0.0
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None
    max: float | None = None
    images: float | None = None
    videos: float | None = None
    audios: float | None = None
    pair: bool = False
    images_counted: bool = False
    how: Literal["tokenizer", "characters", "published"] = "characters"
    source: str = ""
    unread: int = 0
    longest_row: int | None = None
    pixels: float | None = None
    pixels_max: float | None = None


class Dataset(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Published token statistics of a data set: `id`, its further names, and per-sample tokens.

    The counts are those of one tokenizer (`tokenizer`); another gives a few per cent more or less.
    """

    id: str
    aliases: tuple[str, ...] = ()
    mean: float
    std: float
    min: float | None = None
    max: float | None = None
    samples: int | None = None
    tokenizer: str = ""
    source: str
