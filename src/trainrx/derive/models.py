"""Which model is it? By id, by folder name, or at least by the words in its name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from trainrx.model.facts import Fact, Facts, Scalar, fact
from trainrx.model.hardware import ModelShape

TAIL = re.compile(
    r"[-_.](instruct|chat|base|hf|it|awq|gptq|int4|int8|bf16|fp8|v\d+(\.\d+)?|\d{4}|sft|merged)$"
)
FAMILY = (
    ("qwen2.5-vl", r"qwen[-_]?2[._]?5[-_]?vl"),
    ("qwen3-vl", r"qwen[-_]?3[-_]?vl"),
    ("qwen2-vl", r"qwen[-_]?2[-_]?vl|qvq"),
    ("qwen2.5-omni", r"qwen[-_]?2[._]?5[-_]?omni"),
    ("qwen3.5", r"qwen[-_]?3[._]5"),
    ("qwen3", r"qwen[-_]?3"),
    ("qwen2.5", r"qwen[-_]?2[._]?5|qwq"),
    ("qwen2", r"qwen[-_]?2"),
    ("qwen", r"qwen"),
    ("internvl", r"internvl"),
    ("minicpm-v", r"minicpm[-_]?v"),
    ("llava", r"llava"),
    ("glm4v", r"glm[-_]?4[._]?\d?v"),
    ("glm4", r"glm[-_]?4|chatglm"),
    ("deepseek-v3", r"deepseek[-_]?(v3|r1(?!.distill))"),
    ("mixtral", r"mixtral"),
    ("mistral", r"mistral"),
    ("llama", r"llama"),
    ("gemma", r"gemma"),
    ("phi", r"\bphi\b"),
)
VISION = re.compile(r"vl\b|[-_]vl[-_]|vision|llava|internvl|minicpm-?v|glm-?4\.?\d?v|qvq|omni|ovis")
MOE = re.compile(r"a\d+(\.\d+)?b\b|moe|mixtral|\d+x\d+b|deepseek[-_]?v[23](?!.*lite)|kimi|gpt-oss")
SIZE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)b(?![a-z])")


def find_shape(name: str, models: Sequence[ModelShape]) -> ModelShape | None:
    """Find the shape of a model by its hub id or the folder it lies in; None when not known."""
    wanted = _stem(name)
    for shape in models:
        if _stem(shape.id) == wanted:
            return shape
    return None


def model_facts(facts: Facts, models: Sequence[ModelShape]) -> tuple[Fact, ...]:
    """Derive `model.*` from the model's name, path or type."""
    name = facts.text("model.name") or facts.text("model.type")
    if not name:
        return ()
    origins = facts.origins("model.name") or facts.origins("model.type")
    shape = find_shape(name, models)
    pairs = dict(_from_words(name))
    if shape is not None:
        pairs.update(_from_shape(shape))
    return tuple(fact(f"model.{k}", v, *origins, how="derived") for k, v in pairs.items())


def _from_shape(shape: ModelShape) -> Iterator[tuple[str, Scalar]]:
    if shape.params_b is not None:
        yield "params_b", shape.params_b
    if shape.vocab is not None:
        yield "vocab", shape.vocab
    yield "is_vision", shape.vision or bool(VISION.search(shape.id.lower()))
    yield "is_moe", shape.experts is not None or bool(MOE.search(shape.id.lower()))
    if shape.vision:
        yield "window_attention", shape.window_attention


def _from_words(name: str) -> Iterator[tuple[str, Scalar]]:
    stem = _stem(name)
    family = next((family for family, words in FAMILY if re.search(words, stem)), None)
    if family is None:
        return
    yield "family", family
    yield "is_vision", bool(VISION.search(stem))
    yield "is_moe", bool(MOE.search(stem))
    size = SIZE.search(stem.replace("-", " ").replace("_", " "))
    if size is not None:
        yield "params_b", float(size.group(1))


@cache
def _stem(name: str) -> str:
    """Give the last part of a path or id without the words that do not change its shape."""
    stem = name.strip().rstrip("/\\").replace("\\", "/").rsplit("/", 1)[-1].lower()
    while (cut := TAIL.sub("", stem)) != stem:
        stem = cut
    return stem
