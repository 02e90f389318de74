"""Read what the layers of a language model are made of, as each family's `config.json` names it."""

from __future__ import annotations

from typing import NamedTuple

from trainrx.models.sections import Config, count, section, word

_UNGATED = frozenset(
    {"gpt2", "gpt_neox", "gptj", "gpt_bigcode", "opt", "bloom", "falcon", "phi", "starcoder2"}
    | {"mpt", "codegen", "nemotron", "polylm", "phi-msft"}
)
"""Two matrices in the feed-forward block (in, out); all others have three (gate, up, down)."""

_UNCOUNTED = (
    "mamba_d_state",
    "ssm_cfg",
    "hidden_size_per_layer_input",
    "num_mem_heads",
    "num_global_key_value_heads",
)
"""Keys of architectures whose layers have parts that no formula here counts."""

_GATED_ATTENTION = ("qwen3_next", "qwen3_5")


class Experts(NamedTuple):
    """The experts of a layer: how many, of what width, and how many layers go without."""

    number: int | None = None
    used: int | None = None
    width: int | None = None
    shared: int | None = None
    dense_layers: int = 0


class Linear(NamedTuple):
    """The layers without softmax attention, and whether attention has an output gate."""

    layers: int = 0
    inward: int | None = None
    outward: int | None = None
    gate: bool = False


def uncounted(body: Config) -> bool:
    """Tell whether the model has layers that cannot be counted from its configuration."""
    return any(body.get(key) for key in _UNCOUNTED)


def is_gated(body: Config, kind: str) -> bool:
    """Tell whether a feed-forward block has three matrices."""
    if kind.endswith("t5"):
        return word(body, "feed_forward_proj").startswith("gated")
    return kind not in _UNGATED


def feed_forward_width(body: Config, kind: str, hidden: int) -> int | None:
    """Give the width of a dense layer's feed-forward block."""
    inner = section(body, ("ffn_config",)) or {}
    width = (
        count(body, "intermediate_size_mlp")
        or count(body, "intermediate_size", "ffn_hidden_size", "n_inner", "ffn_dim", "d_ff")
        or count(inner, "ffn_hidden_size")
    )
    if width is None:
        # gpt2 and its kin leave it out: four times the width
        return 4 * hidden if kind in _UNGATED else None
    # the first Qwen gives the width of gate and up together
    return width // 2 if kind == "qwen" else width


def expert_widths(body: Config, kind: str, layers: int) -> Experts:
    """Read the experts; no `number` for a model without."""
    inner = section(body, ("ffn_config",)) or {}
    number = count(
        body, "num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"
    ) or count(inner, "moe_num_experts")
    if number is None or number == 1:
        return Experts()
    width = count(body, "moe_intermediate_size", "expert_ffn_hidden_size")
    if kind.startswith("llama4"):
        width = count(body, "intermediate_size")
    return Experts(
        number=number,
        used=count(body, "num_experts_per_tok", "moe_topk", "moe_k", "top_k_experts")
        or count(inner, "moe_top_k"),
        width=width,
        shared=_shared(body, kind, width),
        dense_layers=_dense_layers(body, layers),
    )


def _shared(body: Config, kind: str, width: int | None) -> int | None:
    """Give the width of all shared experts together; None when there are none."""
    whole = count(body, "shared_expert_intermediate_size", "shared_intermediate_size")
    if whole is not None:
        return whole
    if kind.startswith("llama4"):
        return width
    number = count(body, "n_shared_experts", "num_shared_experts", "moe_num_shared_experts")
    return None if number is None or width is None else number * width


def _dense_layers(body: Config, layers: int) -> int:
    """Count the layers without experts, as each family of configurations names them."""
    first = count(body, "first_k_dense_replace", "num_dense_layers") or 0
    step = count(body, "decoder_sparse_step", "interleave_moe_layer_step") or 1
    frequency = count(body, "moe_layer_freq") or 1
    only = body.get("mlp_only_layers")
    named = len(only) if isinstance(only, list) else 0
    periodic = layers - layers // step if step > 1 else 0
    rest = max(layers - first, 0)
    sparse = -(-rest // frequency)
    return min(layers, max(first + rest - sparse, periodic, named))


def linear_widths(body: Config, kind: str, layers: int, hidden: int) -> Linear:
    """Read gated delta-net layers (modeling_qwen3_next) and short convolutions (modeling_lfm2)."""
    types = body.get("layer_types")
    named = [str(item) for item in types] if isinstance(types, list) else []
    if kind.startswith("lfm2"):
        number = min(sum(item == "conv" for item in named), layers)
        return Linear(number, 3 * hidden, hidden)
    keys, values = _width(body, "key"), _width(body, "value")
    interval = count(body, "full_attention_interval") or 4
    number = sum(item == "linear_attention" for item in named) or layers - layers // interval
    number = min(number, layers)
    if keys is None or values is None:
        return Linear(number) if "linear_num_key_heads" in body else Linear()
    gates = 2 * (count(body, "linear_num_value_heads") or 0)
    gate = body.get("attn_output_gate", kind.startswith(_GATED_ATTENTION)) is True
    return Linear(number, 2 * keys + 2 * values + gates, values, gate)


def _width(body: Config, kind: str) -> int | None:
    heads = count(body, f"linear_num_{kind}_heads")
    head = count(body, f"linear_{kind}_head_dim")
    return None if heads is None or head is None else heads * head
