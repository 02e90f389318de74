from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.knowledge.load import load
from trainrx.model.hardware import ModelShape, Tower
from trainrx.models.config import shape_from_config
from trainrx.models.facts import find_shape
from trainrx.models.layers import _dense_layers
from trainrx.models.parameters import count_tower

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
            "num_heads": 16,
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
            "num_attention_heads": 16,
            "num_hidden_layers": 24,
            "patch_size": 14,
        },
    },
    "google/gemma-3-4b-it": {
        "model_type": "gemma3",
        "text_config": {
            "model_type": "gemma3_text",
            "hidden_size": 2560,
            "intermediate_size": 10240,
            "num_hidden_layers": 34,
        },
        "vision_config": {
            "model_type": "siglip_vision_model",
            "hidden_size": 1152,
            "image_size": 896,
            "intermediate_size": 4304,
            "num_attention_heads": 16,
            "num_hidden_layers": 27,
            "patch_size": 14,
        },
    },
    "zai-org/GLM-4.1V-9B-Thinking": {
        "model_type": "glm4v",
        "tie_word_embeddings": False,
        "text_config": {
            "model_type": "glm4v_text",
            "hidden_size": 4096,
            "intermediate_size": 13696,
            "num_attention_heads": 32,
            "num_hidden_layers": 40,
            "num_key_value_heads": 2,
            "vocab_size": 151552,
        },
        "vision_config": {
            "model_type": "glm4v",
            "depth": 24,
            "hidden_size": 1536,
            "image_size": 336,
            "intermediate_size": 13696,
            "num_heads": 12,
            "out_hidden_size": 4096,
            "patch_size": 14,
            "spatial_merge_size": 2,
            "temporal_patch_size": 2,
        },
    },
    "llava-hf/llava-1.5-7b-hf": {
        "model_type": "llava",
        "tie_word_embeddings": False,
        "text_config": {"model_type": "llama", "vocab_size": 32064, "torch_dtype": "float16"},
        "vision_config": {
            "model_type": "clip_vision_model",
            "hidden_size": 1024,
            "image_size": 336,
            "intermediate_size": 4096,
            "num_attention_heads": 16,
            "num_hidden_layers": 24,
            "patch_size": 14,
        },
    },
    "Qwen/Qwen3-Next-80B-A3B-Instruct": {
        "model_type": "qwen3_next",
        "decoder_sparse_step": 1,
        "full_attention_interval": 4,
        "head_dim": 256,
        "hidden_size": 2048,
        "intermediate_size": 5120,
        "linear_key_head_dim": 128,
        "linear_num_key_heads": 16,
        "linear_num_value_heads": 32,
        "linear_value_head_dim": 128,
        "max_position_embeddings": 262144,
        "mlp_only_layers": [],
        "moe_intermediate_size": 512,
        "num_attention_heads": 16,
        "num_experts": 512,
        "num_experts_per_tok": 10,
        "num_hidden_layers": 48,
        "num_key_value_heads": 2,
        "shared_expert_intermediate_size": 512,
        "tie_word_embeddings": False,
        "vocab_size": 151936,
    },
    "bigscience/T0_3B": {
        "model_type": "t5",
        "d_ff": 5120,
        "d_kv": 64,
        "d_model": 2048,
        "feed_forward_proj": "gated-gelu",
        "num_decoder_layers": 24,
        "num_heads": 32,
        "num_layers": 24,
        "tie_word_embeddings": False,
        "vocab_size": 32128,
    },
    "meta-llama/Llama-3.2-11B-Vision": {
        "model_type": "mllama",
        "text_config": {
            "model_type": "mllama_text_model",
            "cross_attention_layers": [3, 8, 13, 18, 23, 28, 33, 38],
            "hidden_size": 4096,
            "intermediate_size": 14336,
            "num_attention_heads": 32,
            "num_hidden_layers": 40,
            "num_key_value_heads": 8,
            "tie_word_embeddings": False,
            "vocab_size": 128256,
        },
        "vision_config": {
            "model_type": "mllama_vision_model",
            "attention_heads": 16,
            "hidden_size": 1280,
            "image_size": 560,
            "intermediate_size": 5120,
            "num_global_layers": 8,
            "num_hidden_layers": 32,
            "patch_size": 14,
            "vision_output_dim": 7680,
        },
    },
    "THUDM/glm-4v-9b": {
        "model_type": "chatglm",
        "ffn_hidden_size": 13696,
        "hidden_size": 4096,
        "kv_channels": 128,
        "multi_query_attention": True,
        "multi_query_group_num": 2,
        "num_attention_heads": 32,
        "num_layers": 40,
        "padded_vocab_size": 151552,
        "seq_length": 8192,
        "tie_word_embeddings": False,
        "vision_config": {
            "hidden_size": 1792,
            "image_size": 1120,
            "intermediate_size": 15360,
            "num_heads": 16,
            "num_hidden_layers": 63,
            "patch_size": 14,
        },
    },
    "openbmb/MiniCPM-V-2_6": {
        "model_type": "minicpmv",
        "hidden_size": 3584,
        "image_size": 448,
        "intermediate_size": 18944,
        "num_attention_heads": 28,
        "num_hidden_layers": 28,
        "num_key_value_heads": 4,
        "query_num": 64,
        "tie_word_embeddings": False,
        "vocab_size": 151666,
        "vision_config": {
            "model_type": "siglip",
            "hidden_size": 1152,
            "image_size": 980,
            "intermediate_size": 4304,
            "num_attention_heads": 16,
            "num_hidden_layers": 27,
            "patch_size": 14,
        },
    },
    "Qwen/Qwen-7B": {
        "model_type": "qwen",
        "hidden_size": 4096,
        "intermediate_size": 22016,
        "kv_channels": 128,
        "num_attention_heads": 32,
        "num_hidden_layers": 32,
        "seq_length": 8192,
        "tie_word_embeddings": False,
        "vocab_size": 151936,
    },
    "LiquidAI/LFM2-8B-A1B": {
        "model_type": "lfm2_moe",
        "hidden_size": 2048,
        "intermediate_size": 7168,
        "layer_types": ["conv", "conv", "full_attention", "conv"] * 6,
        "moe_intermediate_size": 1792,
        "num_attention_heads": 32,
        "num_dense_layers": 2,
        "num_experts": 32,
        "num_experts_per_tok": 4,
        "num_hidden_layers": 24,
        "num_key_value_heads": 8,
        "vocab_size": 65536,
    },
    "meta-llama/Llama-4-Maverick-17B-128E-Instruct": {
        "model_type": "llama4_text",
        "head_dim": 128,
        "hidden_size": 5120,
        "interleave_moe_layer_step": 2,
        "intermediate_size": 8192,
        "intermediate_size_mlp": 16384,
        "num_attention_heads": 40,
        "num_experts_per_tok": 1,
        "num_hidden_layers": 48,
        "num_key_value_heads": 8,
        "num_local_experts": 128,
        "tie_word_embeddings": False,
        "vocab_size": 202048,
    },
    "microsoft/Phi-3-vision-128k-instruct": {
        "model_type": "phi3_v",
        "hidden_size": 3072,
        "img_processor": {
            "image_dim_out": 1024,
            "model_name": "openai/clip-vit-large-patch14-336",
            "name": "clip_vision_model",
            "num_img_tokens": 144,
        },
        "intermediate_size": 8192,
        "num_attention_heads": 32,
        "num_hidden_layers": 32,
        "num_key_value_heads": 32,
        "vocab_size": 32064,
    },
    "databricks/dbrx-instruct": {
        "model_type": "dbrx",
        "attn_config": {"kv_n_heads": 8},
        "d_model": 6144,
        "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4},
        "max_seq_len": 32768,
        "n_heads": 48,
        "n_layers": 40,
        "tie_word_embeddings": False,
        "vocab_size": 100352,
    },
    "tiiuae/falcon-7b": {
        "model_type": "falcon",
        "hidden_size": 4544,
        "multi_query": True,
        "new_decoder_architecture": False,
        "num_attention_heads": 71,
        "num_hidden_layers": 32,
        "vocab_size": 65024,
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


def test_latent_attention_and_shared_experts_are_read() -> None:
    shape = read("deepseek-ai/DeepSeek-V3")

    assert (shape.kv_lora, shape.q_lora, shape.qk_nope, shape.qk_rope, shape.v_head) == (
        512,
        1536,
        128,
        64,
        128,
    )
    assert (shape.first_dense, shape.shared_inter) == (3, 2048)


def test_layers_with_linear_attention_are_read() -> None:
    shape = read("Qwen/Qwen3-Next-80B-A3B-Instruct")

    assert (shape.linear_layers, shape.linear_in, shape.linear_out) == (36, 12352, 4096)
    assert shape.gated_attention
    assert shape.max_positions == 262144


def test_every_second_layer_without_experts() -> None:
    shape = read("meta-llama/Llama-4-Maverick-17B-128E-Instruct")

    assert (shape.first_dense, shape.inter, shape.moe_inter, shape.shared_inter) == (
        24,
        16384,
        8192,
        8192,
    )


def test_an_encoder_and_a_decoder() -> None:
    shape = read("bigscience/T0_3B")

    assert (shape.layers, shape.encoder_layers) == (48, 24)


def test_two_matrices_or_three() -> None:
    assert read("tiiuae/falcon-7b").gated is False
    assert read("Qwen/Qwen-7B").gated is None


def test_a_nested_section_is_filled_from_its_class() -> None:
    shape = read("google/gemma-3-4b-it")

    assert (shape.heads, shape.kv_heads, shape.head_dim) == (8, 4, 256)


@pytest.mark.parametrize(
    ("name", "merge", "tokens", "image"),
    [
        ("Qwen/Qwen3-VL-8B-Instruct", 2, None, None),
        ("OpenGVLab/InternVL3-8B", 2, None, 448),
        ("llava-hf/llava-1.5-7b-hf", 1, None, 336),
        ("openbmb/MiniCPM-V-2_6", 1, 64, 448),
        ("meta-llama/Llama-3.2-11B-Vision", 1, 1, 560),
        ("THUDM/glm-4v-9b", 2, None, 1120),
        ("microsoft/Phi-3-vision-128k-instruct", 2, None, 336),
    ],
)
def test_what_becomes_of_patches(
    name: str, merge: int, tokens: int | None, image: int | None
) -> None:
    tower = read(name).tower

    assert tower is not None
    assert (tower.merge, tower.tokens_per_image, tower.image_size) == (merge, tokens, image)


@pytest.mark.parametrize(
    "name", [name for name, config in CONFIGS.items() if "vision_config" in config]
)
def test_the_tower_is_that_of_the_table(name: str) -> None:
    known, tower = find_shape(name, load().models), read(name).tower

    assert known is not None
    assert known.tower is not None
    assert tower is not None
    assert (tower.depth, tower.hidden, tower.heads, tower.inter, tower.gated) == (
        known.tower.depth,
        known.tower.hidden,
        known.tower.heads,
        known.tower.inter,
        known.tower.gated,
    )
    assert tower.projector_b == pytest.approx(known.tower.projector_b, rel=0.02)


def test_a_model_that_speaks_is_not_counted() -> None:
    config = CONFIGS["Qwen/Qwen2.5-7B-Instruct"] | {"talker_config": {"hidden_size": 896}}

    shape = shape_from_config(json.dumps(config), "x")

    assert shape is not None
    assert shape.params_b is None


def test_an_audio_encoder_is_counted() -> None:
    audio = {"d_model": 1280, "encoder_layers": 32, "encoder_ffn_dim": 5120, "num_mel_bins": 128}
    config = CONFIGS["Qwen/Qwen2.5-7B-Instruct"]

    plain = shape_from_config(json.dumps(config), "x")
    hearing = shape_from_config(json.dumps(config | {"audio_config": audio}), "x")

    assert plain is not None
    assert plain.params_b is not None
    assert hearing is not None
    assert hearing.params_b is not None
    # the encoder of Whisper large has 0.64e9 parameters (arXiv 2212.04356, table 1)
    assert hearing.params_b - plain.params_b == pytest.approx(0.64, rel=0.02)


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


def test_behind_the_first_dense_layers_every_so_many_have_experts() -> None:
    assert _dense_layers({"first_k_dense_replace": 3, "moe_layer_freq": 2}, 61) == 3 + 29


def test_patches_of_an_encoder_are_of_three_colours_and_of_all_frames() -> None:
    one = Tower(depth=1, hidden=8, heads=2, inter=16, patch=4, temporal_patch=1)
    two = msgspec.structs.replace(one, temporal_patch=2)

    assert count_tower(two) - count_tower(one) == 3 * 4 * 4 * 8
