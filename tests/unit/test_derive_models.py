from __future__ import annotations

import pytest

from trainrx.api.facts import derive
from trainrx.derive.models import find_shape, model_facts
from trainrx.kb.load import load
from trainrx.model.facts import Facts, Scalar, fact
from trainrx.model.hardware import ModelShape

MODELS = load().models


def told(shape: ModelShape | None = None, **values: Scalar) -> dict[str, Scalar | None]:
    facts = Facts(fact(name.replace("__", "."), value) for name, value in values.items())
    return {item.kind: item.value for item in model_facts(facts, MODELS, shape)}


@pytest.mark.parametrize(
    ("name", "ident"),
    [
        ("Qwen/Qwen2.5-VL-7B-Instruct", "Qwen/Qwen2.5-VL-7B-Instruct"),
        ("/data/models/Qwen2.5-7B-Instruct-GPTQ-Int4/", "Qwen/Qwen2.5-7B"),
        ("C:\\models\\qwen2.5-7b", "Qwen/Qwen2.5-7B"),
        ("qwen2_5-7b-instruct", "Qwen/Qwen2.5-7B"),
        ("qwen2-vl-7b-instruct", "Qwen/Qwen2-VL-7B-Instruct"),
        ("deepseek-ai/DeepSeek-V3-0324", "deepseek-ai/DeepSeek-V3"),
        ("deepseek-ai/DeepSeek-V2", "deepseek-ai/DeepSeek-V2"),
        ("meta-llama/Meta-Llama-3-8B", "meta-llama/Meta-Llama-3-8B"),
    ],
)
def test_a_model_is_found_by_what_people_call_it(name: str, ident: str) -> None:
    shape = find_shape(name, MODELS)

    assert shape is not None
    assert shape.id.removesuffix("-Instruct") == ident.removesuffix("-Instruct")


def test_every_known_model_is_found_by_its_own_name() -> None:
    assert {row.id: find_shape(row.id, MODELS) for row in MODELS} == {row.id: row for row in MODELS}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("qwen2_5_vl", {"family": "qwen2.5-vl", "is_vision": True, "modality": "image"}),
        ("qwen3_moe", {"family": "qwen3", "is_moe": True, "modality": "text"}),
        ("internvl_chat", {"family": "internvl", "is_vision": True}),
        ("qwen2_audio", {"family": "qwen2-audio", "modality": "audio", "is_vision": False}),
        ("qwen3_omni", {"family": "qwen3-omni", "modality": "omni"}),
        ("deepseek_v3", {"family": "deepseek-v3", "is_moe": True}),
        ("glm4v", {"family": "glm4v", "is_vision": True}),
        ("llava_next_video", {"family": "llava", "modality": "video"}),
        ("minicpmv2_6", {"family": "minicpm-v", "is_vision": True}),
    ],
)
def test_a_model_type_tells_the_family(name: str, expected: dict[str, Scalar]) -> None:
    out = told(model__type=name, launch__framework="ms-swift")

    assert {key: out[f"model.{key}"] for key in expected} == expected


def test_a_nameless_checkpoint_is_known_by_its_type() -> None:
    out = told(model__name="/out/checkpoint-500", model__type="qwen2_5_vl")

    assert out["model.family"] == "qwen2.5-vl"


def test_the_name_comes_before_the_type() -> None:
    out = told(model__name="/m/Qwen3-8B", model__type="qwen2")

    assert out["model.family"] == "qwen3"
    assert out["model.params_b"] == 8.19


def test_a_chat_template_only_hints_at_images() -> None:
    text = told(launch__framework="llamafactory", model__name="/m/ckpt", model__type="qwen")
    image = told(launch__framework="llamafactory", model__name="/m/ckpt", model__type="qwen2_vl")

    assert text == {}
    assert image == {"model.is_vision": True, "model.modality": "image"}


def test_a_configuration_at_hand_comes_before_the_name() -> None:
    shape = ModelShape(id="/m/Qwen3-8B", params_b=3.2, layers=12, dtype="bf16")

    out = told(shape, model__name="/m/Qwen3-8B")

    assert (out["model.params_b"], out["model.layers"], out["model.dtype"]) == (3.2, 12, "bf16")
    assert out["model.vocab"] == 151936


def test_a_configuration_alone_names_the_model() -> None:
    facts = derive((), load(), ModelShape(id="x", params_b=7.6, model_type="qwen2_5_vl"))

    assert facts.text("model.family") == "qwen2.5-vl"
    assert facts.number("memory.weights_gib") == pytest.approx(14.2, abs=0.1)


def test_words_that_name_no_model_tell_nothing() -> None:
    assert told(model__name="/data/my-project/final") == {}
