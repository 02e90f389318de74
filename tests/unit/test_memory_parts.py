from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.knowledge.load import load
from trainrx.memory.model import ModelParameters, lora_parameters, parts_of
from trainrx.model.hardware import ModelShape, Tower
from trainrx.model.memory import LORA_ROLES
from trainrx.models.facts import find_shape

MODELS = load().models

SEEN_ELSEWHERE = {
    "Qwen/Qwen2.5-Omni-3B": "audio encoder and talker",
    "Qwen/Qwen2.5-Omni-7B": "audio encoder and talker",
    "Qwen/Qwen3-Omni-30B-A3B-Instruct": "audio encoder and talker",
    "Qwen/Qwen-Audio": "audio encoder",
    "Qwen/Qwen2-Audio-7B": "audio encoder",
    "openbmb/MiniCPM-o-2_6": "audio encoder and speech decoder",
    "microsoft/Phi-4-multimodal-instruct": "encoders and their adapters",
    "internlm/internlm-xcomposer2-7b": "partial LoRA of rank 256",
    "deepseek-ai/deepseek-vl-7b-chat": "two encoders, not described",
    "deepseek-ai/deepseek-vl-1.3b-chat": "two encoders, not described",
    "HuggingFaceM4/Idefics3-8B-Llama3": "encoder, not described",
    "Qwen/Qwen3.5-0.8B": "encoder, not described",
    "AIDC-AI/Ovis1.6-Gemma2-9B": "visual tokens of 65536 entries",
    "MAGAer13/mplug-owl2-llama2-7b": "keys and values of their own for images",
    "THUDM/cogvlm-chat-hf": "visual experts",
    "THUDM/cogagent-chat-hf": "visual experts and cross attention",
    "THUDM/cogvlm2-llama3-chat-19B": "visual experts",
    "google/gemma-4-E2B-it": "embeddings of each layer",
    "google/gemma-4-E4B-it": "embeddings of each layer",
}
"""Models with parts the shape does not describe: more is loaded than counted."""
STATE_SPACE = "state-spaces/"
"""Their projections to and from the state are left out: 4 to 5 %."""


def shape_named(name: str) -> ModelShape:
    shape = find_shape(name, MODELS)
    assert shape is not None
    return shape


def parts_named(name: str) -> ModelParameters:
    parts = parts_of(shape_named(name))
    assert parts is not None
    return parts


def test_the_parts_add_up_to_the_published_size() -> None:
    counted = {shape.id: parts_of(shape) for shape in MODELS if shape.params_b is not None}
    shares = {
        ident: parts.other / parts.total
        for ident, parts in counted.items()
        if parts is not None and parts.complete
    }

    wrong = {ident: share for ident, share in shares.items() if not _is_all_described(ident, share)}

    assert len(shares) > 300
    assert wrong == {}


def _is_all_described(ident: str, share: float) -> bool:
    if ident in SEEN_ELSEWHERE:
        return 0.02 < share < 0.7
    return 0.02 < share < 0.06 if ident.startswith(STATE_SPACE) else abs(share) < 0.02


def test_what_a_token_passes_through_agrees_with_the_published_figure() -> None:
    published = [s for s in MODELS if s.active_b is not None and s.experts_per_token is not None]

    counted = [parts_of(msgspec.structs.replace(shape, active_b=None)) for shape in published]

    assert len(published) > 20
    for shape, parts in zip(published, counted, strict=True):
        assert parts is not None, shape.id
        # figures of model cards are rounded (800M of 880M) and leave out embeddings at times
        assert parts.active / 1e9 == pytest.approx(shape.active_b, rel=0.11), shape.id


def test_every_shape_can_be_counted_or_has_a_size() -> None:
    assert [shape.id for shape in MODELS if parts_of(shape) is None] == []


def test_a_tied_head_is_counted_once() -> None:
    assert parts_named("Qwen/Qwen2.5-0.5B").language.head == 0
    assert (
        parts_named("Qwen/Qwen2.5-7B").language.head
        == parts_named("Qwen/Qwen2.5-7B").language.embedding
    )


def test_two_matrices_without_a_gate() -> None:
    gated = ModelShape(
        id="x", layers=2, hidden=8, heads=2, kv_heads=2, inter=32, vocab=100, tie=True
    )
    plain = msgspec.structs.replace(gated, gated=False)

    with_gate, without = parts_of(gated), parts_of(plain)

    assert with_gate is not None
    assert without is not None
    assert (with_gate.language.mlp, without.language.mlp) == (3 * 8 * 32, 2 * 8 * 32)


def test_experts_dense_layers_and_latent_attention() -> None:
    parts = parts_named("deepseek-ai/DeepSeek-V3")

    assert (parts.dense_layers, parts.language.sparse_layers) == (3, 58)
    assert parts.language.expert == 3 * 7168 * 2048
    assert parts.language.shared == parts.language.expert
    # query down and up, keys and values down and up, output: arXiv 2412.19437, section 2.1.1
    latent = 7168 * 1536 + 1536 * 128 * 192 + 7168 * 576 + 512 * 128 * 256 + 128 * 128 * 7168
    assert parts.language.attention == latent


def test_layers_without_softmax_attention_are_counted_apart() -> None:
    parts = parts_named("Qwen/Qwen3-Next-80B-A3B-Instruct")

    assert parts.language.linear == 2048 * (2 * 2048 + 2 * 4096 + 64) + 4096 * 2048
    # the query projection gives a gate too
    assert parts.language.attention == 2048 * 256 * (2 * 16 + 2 + 2 + 16)


def test_the_tower_and_its_projector_are_told_apart() -> None:
    parts = parts_named("Qwen/Qwen2.5-VL-7B-Instruct")

    assert parts.projector == pytest.approx(5120 * 5120 + 5120 * 3584, rel=0.01)
    assert parts.tower == pytest.approx(0.63e9, rel=0.01)


def test_a_tower_without_a_published_size_is_counted() -> None:
    tower = Tower(depth=24, hidden=1024, heads=16, inter=4096, patch=14, image_size=336)
    shape = ModelShape(id="x", layers=1, hidden=8, heads=1, inter=8, vocab=8, tie=True, tower=tower)

    parts = parts_of(shape)

    assert parts is not None
    assert parts.tower == pytest.approx(0.303e9, rel=0.01)
    assert parts.other == 0


def test_a_model_known_by_its_size_alone_is_all_other() -> None:
    parts = parts_of(ModelShape(id="x", params_b=7.0))

    assert parts is not None
    assert (parts.complete, parts.total, parts.other, parts.active) == (False, 7e9, 7e9, 7e9)


def test_nothing_known_is_no_count() -> None:
    assert parts_of(ModelShape(id="x")) is None


ALL = ("q", "k", "v", "o", "gate", "up", "down")


def test_adapters_on_all_matrices_of_a_dense_model() -> None:
    shape = shape_named("Qwen/Qwen2.5-7B")

    # the count peft prints for r=8 on all linear layers of this model
    assert lora_parameters(shape, 8, ALL) == 20_185_088


def test_adapters_on_a_fused_matrix_are_smaller() -> None:
    shape = shape_named("Qwen/Qwen-7B")

    # c_attn alone, r=8: 32 layers of 8 x (4096 + 3 x 4096)
    assert lora_parameters(shape, 8, ("qkv",)) == 32 * 8 * 4 * 4096
    assert lora_parameters(shape, 8, ("q", "k", "v")) == 32 * 8 * 6 * 4096


def test_no_role_is_no_adapter() -> None:
    assert lora_parameters(shape_named("Qwen/Qwen2.5-7B"), 8, ()) == 0


def test_every_expert_has_adapters_of_its_own() -> None:
    shape = shape_named("Qwen/Qwen3-30B-A3B")

    assert lora_parameters(shape, 1, ("down",)) == 48 * 128 * (768 + 2048)


def test_linear_attention_is_adapted_where_its_fused_matrix_is_named() -> None:
    shape = shape_named("Qwen/Qwen3-Next-80B-A3B-Instruct")

    few, more = lora_parameters(shape, 1, ("q",)), lora_parameters(shape, 1, ("q", "qkv"))

    assert few == 12 * (2048 + 2 * 16 * 256)
    assert more is not None
    assert more - few == 36 * (2048 + 12352 + 4096 + 2048)


def test_a_vision_tower_is_adapted_only_when_asked_for() -> None:
    shape = shape_named("Qwen/Qwen2-VL-7B-Instruct")

    language, both = lora_parameters(shape, 8, ALL), lora_parameters(shape, 8, (*ALL, "vision"))

    assert language is not None
    assert both is not None
    assert both - language == 8 * 32 * (1280 * 4 + 1280 * 2 + 2 * (1280 + 5120))


def test_adapters_on_unknown_matrices_are_unknown() -> None:
    assert lora_parameters(ModelShape(id="x", layers=2, hidden=8), 8, ALL) is None
    assert lora_parameters(ModelShape(id="x"), 8, ("q",)) is None


COUNTS = ("layers", "hidden", "heads", "kv_heads", "head_dim", "inter", "vocab", "experts")
COUNTS += ("experts_per_token", "moe_inter", "shared_inter", "kv_lora", "q_lora", "qk_nope")
COUNTS += ("qk_rope", "v_head", "linear_in", "linear_out")


@given(
    counts=st.fixed_dictionaries({}, optional={name: st.integers(0, 64) for name in COUNTS}),
    roles=st.sets(st.sampled_from(LORA_ROLES)),
    tie=st.booleans(),
)
def test_any_shape_is_counted_or_not_known(
    counts: dict[str, int], roles: set[str], *, tie: bool
) -> None:
    shape = ModelShape(id="x", tie=tie, **counts)

    parts, adapters = parts_of(shape), lora_parameters(shape, 8, roles)

    assert parts is None or parts.total >= 0
    assert adapters is None or adapters >= 0
    assert lora_parameters(shape, 16, roles) in (None, 2 * (adapters or 0.0))
