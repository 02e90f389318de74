from __future__ import annotations

import pytest

from trainrx.facts.all import derive
from trainrx.knowledge.load import load
from trainrx.model.facts import Facts, Scalar, fact
from trainrx.model.hardware import ModelShape
from trainrx.models.facts import find_shape, is_named, model_facts
from trainrx.models.families import quantisation_of
from trainrx.models.lineage import size_of

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


@pytest.mark.parametrize(
    ("name", "ident"),
    [
        ("qwen/Qwen-1_8B-Chat", "Qwen/Qwen-1_8B"),
        ("qwen1half-7b-chat-int4", "Qwen/Qwen1.5-7B"),
        ("Qwen/Qwen-VL-Chat-Int4", "Qwen/Qwen-VL"),
        ("modelscope/Llama-2-13b-chat-ms", "meta-llama/Llama-2-13b-hf"),
        ("TheBloke/Nous-Hermes-Llama2-70B-GPTQ", "meta-llama/Llama-2-70b-hf"),
        ("ZhipuAI/chatglm3-6b-32k", "THUDM/chatglm3-6b"),
        ("baichuan-inc/Baichuan2-7B-Chat-4bits", "baichuan-inc/Baichuan2-7B-Base"),
        ("AI-ModelScope/WizardLM-2-8x22B", "mistralai/Mixtral-8x22B-v0.1"),
        ("PrimeIntellect/INTELLECT-3", "zai-org/GLM-4.5-Air"),
        ("deepseek-ai/DeepSeek-R1-0528-Qwen3-8B", "Qwen/Qwen3-8B"),
        ("unsloth/Qwen2.5-7B-Instruct-unsloth-bnb-4bit", "Qwen/Qwen2.5-7B"),
        ("LLM-Research/Meta-Llama-3.1-70B-Instruct-AWQ-INT4", "meta-llama/Llama-3.1-70B"),
    ],
)
def test_a_copy_under_another_name_is_the_same_model(name: str, ident: str) -> None:
    shape = find_shape(name, MODELS)

    assert shape is not None
    assert shape.id == ident
    assert is_named(name, shape)


@pytest.mark.parametrize(
    ("name", "ident"),
    [
        ("OpenBuddy/openbuddy-mistral-7b-v17.1-32k", "mistralai/Mistral-7B-v0.1"),
        ("OpenBuddy/openbuddy-mixtral-7bx8-v18.1-32k", "mistralai/Mixtral-8x7B-v0.1"),
        ("Qwen/Qwen2.5-Coder-14B-Instruct", "Qwen/Qwen2.5-14B"),
        ("Qwen/Qwen2-Math-1.5B", "Qwen/Qwen2-1.5B"),
        ("Qwen/Qwen3.6-35B-A3B", "Qwen/Qwen3.5-35B-A3B"),
        ("/data/out/qwen1.5-7b-mine", "Qwen/Qwen1.5-7B"),
        ("my-Qwen2.5-VL-7B-grpo", "Qwen/Qwen2.5-VL-7B-Instruct"),
        ("llama-3-8b-dolphin", "meta-llama/Meta-Llama-3-8B"),
        ("dolphin-llama3.1-8b", "meta-llama/Llama-3.1-8B"),
        ("gemma-2b-tuned", "google/gemma-2b"),
        ("gemma-2-2b-tuned", "google/gemma-2-2b"),
        ("InternVL2_5-8B-MPO", "OpenGVLab/InternVL2_5-8B"),
        ("DeepSeek-R1-Distill-Qwen-7B-mine", "deepseek-ai/DeepSeek-R1-Distill-Qwen-7B"),
    ],
)
def test_a_tuned_model_has_the_shape_of_its_generation_and_size(name: str, ident: str) -> None:
    shape = find_shape(name, MODELS)

    assert shape is not None
    assert shape.id == ident
    assert not is_named(name, shape)


@pytest.mark.parametrize(
    "name",
    [
        "my-qwen-7b",  # of any Qwen
        "Qwen2.5-9B-merged-layers",  # no such size
        "Qwen2.5-7B-Audio",
        "Llama-3.1-8B-Omni",
        "Qwen2.5-2x7B-moe",
        "sheared-llama-2-7b",
        "qwen3-8b-embed-mine",
        "llama-7b-and-llama-13b-stack",
        "Mistral-Nemo-7B-something",
        "llama3-something",
        "Qwen3.9-8B-Instruct",  # a generation of its own
        "generic-7B",
    ],
)
def test_a_name_that_is_not_sure_gives_no_shape(name: str) -> None:
    assert find_shape(name, MODELS) is None


def test_it_is_said_that_a_shape_is_a_relatives() -> None:
    relative = told(model__name="OpenBuddy/openbuddy-mistral-7b-v13.1")
    known = told(model__name="mistralai/Mistral-7B-v0.1")

    assert relative["model.shape_like"] == "mistralai/Mistral-7B-v0.1"
    assert relative["model.layers"] == 32
    assert "model.shape_like" not in known


def test_a_name_of_the_type_comes_before_a_relative_of_the_name() -> None:
    out = told(model__name="/out/my-qwen2.5-7b", model__type="qwen2_5-14b-instruct")

    assert out["model.params_b"] == 14.77
    assert "model.shape_like" not in out


def test_a_configuration_needs_no_relative() -> None:
    shape = ModelShape(id="x", params_b=7.2, layers=30)

    out = told(shape, model__name="my-qwen2.5-7b")

    assert "model.shape_like" not in out


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("qwen-7b-chat-int8", (8, "gptq")),
        ("qwen1.5-72b-chat-gptq-int4", (4, "gptq")),
        ("qwen2.5-7b-instruct-awq", (4, "awq")),
        ("mistral-7b-v0.1-gptq", (4, "gptq")),
        ("qwen2.5-7b-bnb-4bit", (4, "bitsandbytes")),
        ("meta-llama-3.1-405b-instruct-bnb-nf4", (4, "bitsandbytes")),
        ("baichuan2-7b-chat-4bits", (4, "")),
        ("internvl-chat-v1-5-int8", (8, "")),
        ("qwen3-32b-fp8", (8, "fp8")),
        ("llama-2-7b-aqlm-2bit-1x16-hf", (2, "aqlm")),
        ("qwen2.5-7b-instruct", None),
        ("print4you-7b", None),
        ("hint8-model", None),
    ],
)
def test_a_quantised_checkpoint_is_known_by_its_name(
    name: str, expected: tuple[int, str] | None
) -> None:
    found = quantisation_of(name)

    assert (None if found is None else (found.bits, found.method)) == expected


def test_bits_and_method_become_facts() -> None:
    out = told(model__name="Qwen/Qwen2.5-7B-Instruct-GPTQ-Int8")

    assert (out["model.quant_bits"], out["model.quant_method"]) == (8, "gptq")


def test_a_configuration_knows_the_quantisation_better_than_the_name() -> None:
    shape = ModelShape(id="x", layers=2, quant_bits=3, quant_method="hqq")

    out = told(shape, model__name="x-AWQ")

    assert (out["model.quant_bits"], out["model.quant_method"]) == (3, "hqq")


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("qwen-1_8b-chat", "1.8"),
        ("qwen3-30b-a3b", "30-a3"),
        ("mixtral-8x7b", "8x7"),
        ("openbuddy-mixtral-7bx8-v18", "8x7"),
        ("smollm2-135m", "0.135"),
        ("internlm2_5-1_8b", "1.8"),
        ("qwen1.5-moe-a2.7b", None),
        ("model-4bit", None),
        ("7b-to-13b", None),
    ],
)
def test_the_size_in_a_name(name: str, size: str | None) -> None:
    assert size_of(name) == size


def test_names_are_unique() -> None:
    names = [known.rsplit("/", 1)[-1].lower() for row in MODELS for known in (row.id, *row.aliases)]

    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_every_alias_finds_its_own_model() -> None:
    wrong = [
        (alias, row.id)
        for row in MODELS
        for alias in row.aliases
        if find_shape(alias, MODELS) is not row
    ]

    assert wrong == []
