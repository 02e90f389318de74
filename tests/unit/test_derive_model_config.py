from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.derive.models import find_shape
from trainrx.kb.load import load
from trainrx.model.hardware import ModelShape
from trainrx.parse.model_config import shape_from_config

CONFIGS: dict[str, dict[str, object]] = {
    "Qwen/Qwen2.5-7B-Instruct": {
        "model_type": "qwen2",
        "hidden_size": 3584,
        "intermediate_size": 18944,
        "num_attention_heads": 28,
        "num_hidden_layers": 28,
        "num_key_value_heads": 4,
        "tie_word_embeddings": False,
        "torch_dtype": "bfloat16",
        "vocab_size": 152064,
    },
    "Qwen/Qwen2.5-0.5B": {
        "model_type": "qwen2",
        "hidden_size": 896,
        "intermediate_size": 4864,
        "num_attention_heads": 14,
        "num_hidden_layers": 24,
        "num_key_value_heads": 2,
        "tie_word_embeddings": True,
        "vocab_size": 151936,
    },
    "Qwen/Qwen3-30B-A3B": {
        "model_type": "qwen3_moe",
        "decoder_sparse_step": 1,
        "head_dim": 128,
        "hidden_size": 2048,
        "intermediate_size": 6144,
        "mlp_only_layers": [],
        "moe_intermediate_size": 768,
        "num_attention_heads": 32,
        "num_experts": 128,
        "num_experts_per_tok": 8,
        "num_hidden_layers": 48,
        "num_key_value_heads": 4,
        "tie_word_embeddings": False,
        "vocab_size": 151936,
    },
    "mistralai/Mixtral-8x7B-v0.1": {
        "model_type": "mixtral",
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_attention_heads": 32,
        "num_experts_per_tok": 2,
        "num_hidden_layers": 32,
        "num_key_value_heads": 8,
        "num_local_experts": 8,
        "tie_word_embeddings": False,
        "vocab_size": 32000,
    },
    "deepseek-ai/DeepSeek-V3": {
        "model_type": "deepseek_v3",
        "first_k_dense_replace": 3,
        "hidden_size": 7168,
        "intermediate_size": 18432,
        "kv_lora_rank": 512,
        "moe_intermediate_size": 2048,
        "moe_layer_freq": 1,
        "n_routed_experts": 256,
        "n_shared_experts": 1,
        "num_attention_heads": 128,
        "num_experts_per_tok": 8,
        "num_hidden_layers": 61,
        "num_key_value_heads": 128,
        "q_lora_rank": 1536,
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "quantization_config": {"quant_method": "fp8"},
        "tie_word_embeddings": False,
        "v_head_dim": 128,
        "vocab_size": 129280,
    },
    "Qwen/Qwen2-57B-A14B": {
        "model_type": "qwen2_moe",
        "decoder_sparse_step": 1,
        "hidden_size": 3584,
        "intermediate_size": 18944,
        "moe_intermediate_size": 2560,
        "num_attention_heads": 28,
        "num_experts": 64,
        "num_experts_per_tok": 8,
        "num_hidden_layers": 28,
        "num_key_value_heads": 4,
        "shared_expert_intermediate_size": 20480,
        "tie_word_embeddings": False,
        "vocab_size": 151936,
    },
    "openai/gpt-oss-20b": {
        "model_type": "gpt_oss",
        "head_dim": 64,
        "hidden_size": 2880,
        "intermediate_size": 2880,
        "num_attention_heads": 64,
        "num_experts_per_tok": 4,
        "num_hidden_layers": 24,
        "num_key_value_heads": 8,
        "num_local_experts": 32,
        "tie_word_embeddings": False,
        "vocab_size": 201088,
    },
    "microsoft/phi-2": {
        "model_type": "phi",
        "hidden_size": 2560,
        "intermediate_size": 10240,
        "num_attention_heads": 32,
        "num_hidden_layers": 32,
        "num_key_value_heads": 32,
        "tie_word_embeddings": False,
        "vocab_size": 51200,
    },
    "Qwen/Qwen2.5-VL-7B-Instruct": {
        "model_type": "qwen2_5_vl",
        "hidden_size": 3584,
        "intermediate_size": 18944,
        "num_attention_heads": 28,
        "num_hidden_layers": 28,
        "num_key_value_heads": 4,
        "tie_word_embeddings": False,
        "vocab_size": 152064,
        "vision_config": {
            "depth": 32,
            "hidden_size": 1280,
            "intermediate_size": 3420,
            "out_hidden_size": 3584,
            "patch_size": 14,
            "spatial_merge_size": 2,
            "fullatt_block_indexes": [7, 15, 23, 31],
        },
    },
    "Qwen/Qwen2-VL-2B-Instruct": {
        "model_type": "qwen2_vl",
        "hidden_size": 1536,
        "intermediate_size": 8960,
        "num_attention_heads": 12,
        "num_hidden_layers": 28,
        "num_key_value_heads": 2,
        "tie_word_embeddings": True,
        "vocab_size": 151936,
        "vision_config": {
            "depth": 32,
            "embed_dim": 1280,
            "mlp_ratio": 4,
            "hidden_size": 1536,
            "patch_size": 14,
            "spatial_merge_size": 2,
        },
    },
    "Qwen/Qwen3-VL-8B-Instruct": {
        "model_type": "qwen3_vl",
        "tie_word_embeddings": False,
        "text_config": {
            "model_type": "qwen3_vl_text",
            "head_dim": 128,
            "hidden_size": 4096,
            "intermediate_size": 12288,
            "num_attention_heads": 32,
            "num_hidden_layers": 36,
            "num_key_value_heads": 8,
            "vocab_size": 151936,
            "dtype": "bfloat16",
        },
        "vision_config": {
            "deepstack_visual_indexes": [8, 16, 24],
            "depth": 27,
            "hidden_size": 1152,
            "intermediate_size": 4304,
            "model_type": "qwen3_vl",
            "num_position_embeddings": 2304,
            "out_hidden_size": 4096,
            "patch_size": 16,
            "spatial_merge_size": 2,
        },
    },
    "OpenGVLab/InternVL3-8B": {
        "model_type": "internvl_chat",
        "llm_config": {
            "model_type": "qwen2",
            "hidden_size": 3584,
            "intermediate_size": 18944,
            "num_attention_heads": 28,
            "num_hidden_layers": 28,
            "num_key_value_heads": 4,
            "tie_word_embeddings": False,
            "vocab_size": 151674,
        },
        "vision_config": {
            "model_type": "intern_vit_6b",
            "hidden_size": 1024,
            "image_size": 448,
            "intermediate_size": 4096,
            "num_hidden_layers": 24,
            "patch_size": 14,
        },
    },
    "google/gemma-3-4b-it": {
        "model_type": "gemma3",
        "text_config": {
            "model_type": "gemma3_text",
            "head_dim": 256,
            "hidden_size": 2560,
            "intermediate_size": 10240,
            "num_attention_heads": 8,
            "num_hidden_layers": 34,
            "num_key_value_heads": 4,
            "vocab_size": 262208,
        },
        "vision_config": {
            "model_type": "siglip_vision_model",
            "hidden_size": 1152,
            "image_size": 896,
            "intermediate_size": 4304,
            "num_hidden_layers": 27,
            "patch_size": 14,
        },
    },
}
"""The fields of published configurations that say something about the shape."""


def read(name: str) -> ModelShape:
    shape = shape_from_config(json.dumps(CONFIGS[name]), name)
    assert shape is not None
    return shape


@pytest.mark.parametrize("name", CONFIGS)
def test_the_count_agrees_with_the_published_one(name: str) -> None:
    known = find_shape(name, load().models)
    assert known is not None
    assert known.params_b is not None

    assert read(name).params_b == pytest.approx(known.params_b, rel=0.015)


@pytest.mark.parametrize("row", load().models, ids=lambda row: row.id)
def test_the_formula_holds_for_every_dense_text_model(row: ModelShape) -> None:
    special = {"microsoft/phi-2", "openbmb/MiniCPM3-4B"}  # other matrices: latent, no gate
    known = None not in (row.params_b, row.layers, row.heads, row.inter, row.vocab)
    if row.experts or row.vision or row.id in special or not known:
        return
    config = {
        "model_type": "llama",
        "num_hidden_layers": row.layers,
        "hidden_size": row.hidden,
        "num_attention_heads": row.heads,
        "num_key_value_heads": row.kv_heads,
        "head_dim": row.head_dim,
        "intermediate_size": row.inter,
        "vocab_size": row.vocab,
        "tie_word_embeddings": row.tie,
    }

    shape = shape_from_config(json.dumps(config), row.id)

    assert shape is not None
    assert shape.params_b == pytest.approx(row.params_b, rel=0.02)


def test_experts_and_what_a_token_passes_through() -> None:
    shape = read("Qwen/Qwen3-30B-A3B")

    assert (shape.experts, shape.experts_per_token, shape.moe_inter) == (128, 8, 768)
    assert shape.active_b == pytest.approx(3.3, abs=0.1)


def test_the_vision_tower_is_told_apart() -> None:
    shape = read("Qwen/Qwen2.5-VL-7B-Instruct")

    assert shape.vision
    assert shape.window_attention
    assert shape.vision_b == pytest.approx(0.676, rel=0.02)


def test_nested_sections_and_types_are_read() -> None:
    shape = read("Qwen/Qwen3-VL-8B-Instruct")

    assert (shape.hidden, shape.kv_heads, shape.head_dim, shape.tie) == (4096, 8, 128, False)
    assert shape.dtype == "bf16"
    assert shape.model_type == "qwen3_vl"


def test_quantised_weights_are_noticed() -> None:
    assert (read("deepseek-ai/DeepSeek-V3").quant_bits, read("microsoft/phi-2").quant_bits) == (
        8,
        None,
    )


def test_an_omni_model_hears() -> None:
    inner = {"text_config": CONFIGS["Qwen/Qwen2.5-7B-Instruct"], "audio_config": {"d_model": 1280}}
    config = {"model_type": "qwen2_5_omni", "thinker_config": inner}

    shape = shape_from_config(json.dumps(config), "x")

    assert shape is not None
    assert shape.audio
    assert shape.hidden == 3584


def test_an_unknown_vision_tower_leaves_the_count_open() -> None:
    config = CONFIGS["Qwen/Qwen2.5-7B-Instruct"] | {"vision_config": {"model_type": "mystery"}}

    shape = shape_from_config(json.dumps(config), "x")

    assert shape is not None
    assert shape.vision
    assert shape.params_b is None


def test_layers_that_are_no_attention_leave_the_count_open() -> None:
    config = CONFIGS["Qwen/Qwen2.5-7B-Instruct"] | {"linear_num_key_heads": 16}

    shape = shape_from_config(json.dumps(config), "x")

    assert shape is not None
    assert shape.params_b is None
    assert shape.layers == 28


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "[" * 9000, '{"hidden_size": 10}', '{"hidden_size": 1e999}', "not json"],
)
def test_what_is_no_model_configuration_gives_nothing(text: str) -> None:
    assert shape_from_config(text, "x") is None


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(sorted(CONFIGS["deepseek-ai/DeepSeek-V3"])), values))
def test_any_values_are_read_or_refused(config: dict[str, object]) -> None:
    base = CONFIGS["deepseek-ai/DeepSeek-V3"] | config

    shape = shape_from_config(json.dumps(base), "x")

    assert shape is None or shape.params_b is None or shape.params_b > 0
