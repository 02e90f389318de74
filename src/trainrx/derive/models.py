"""Which model is it? By its configuration, id, folder, or at least the words in its name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from trainrx.derive.families import AUDIO, MOE, OMNI, SIZE, VISION, family_of
from trainrx.model.facts import Fact, Facts, Origin, Scalar, fact
from trainrx.model.hardware import ModelShape

TAIL = re.compile(
    r"[-_.](instruct|chat|base|hf|it|awq|gptq|bnb|4bit|int4|int8|bf16|fp8|v0\.\d|\d{4}|sft|merged)$"
)
WEAK = ("llamafactory",)
"""Their `model.type` is a chat template, which says little of the model."""
PLACEHOLDER = re.compile(r"^(checkpoint-?\d*|model|output|final|latest|merged|weights|ckpt\S*)$")


def find_shape(name: str, models: Sequence[ModelShape]) -> ModelShape | None:
    """Find the shape of a model by its hub id or the folder it lies in; None when not known.

    The full name comes before names without their last words; ms-swift 2.x writes a model type
    such as `qwen2_5-7b-instruct`, so separators do not count in the end.
    """
    for spell in (_last, _stem, _squeezed):
        wanted = spell(name)
        for shape in models:
            if spell(shape.id) == wanted:
                return shape
    return None


def shape_of(facts: Facts, models: Sequence[ModelShape]) -> ModelShape | None:
    """Find the shape of the job's model by its name, else by its type where that is a model's."""
    for kind in _kinds(facts):
        name = facts.text(kind)
        shape = find_shape(name, models) if name else None
        if shape is not None:
            return shape
    return None


def model_facts(
    facts: Facts, models: Sequence[ModelShape], shape: ModelShape | None = None
) -> tuple[Fact, ...]:
    """Derive `model.*` from the model's configuration, name, path or type.

    Args:
        facts: what is known of the job.
        models: shapes of known models.
        shape: the shape read from the job's own `config.json`, which comes before all names.
    """
    known = shape_of(facts, models)
    found: dict[str, Fact] = {}
    for item in (
        *(_of_shape(shape, facts) if shape is not None else ()),
        *(_of_shape(known, facts) if known is not None else ()),
        *_of_words(facts),
    ):
        found.setdefault(item.kind, item)
    return tuple(found.values())


def _kinds(facts: Facts) -> tuple[str, ...]:
    if facts.text("launch.framework") in WEAK:
        return ("model.name",)
    return ("model.name", "model.type")


def _of_shape(shape: ModelShape, facts: Facts) -> Iterator[Fact]:
    origins = facts.origins("model.name") or facts.origins("model.type")
    if not origins and shape.id:
        origins = (Origin(source=shape.id),)
    for name, value in _shape_values(shape):
        yield fact(f"model.{name}", value, *origins, how="derived")


def _shape_values(shape: ModelShape) -> Iterator[tuple[str, Scalar]]:
    words = f"{shape.id} {shape.model_type}".lower()
    is_vision = shape.vision or bool(VISION.search(words))
    given: tuple[tuple[str, Scalar | None], ...] = (
        ("params_b", shape.params_b),
        ("active_b", shape.active_b),
        ("vocab", shape.vocab),
        ("layers", shape.layers),
        ("hidden", shape.hidden),
        ("experts", shape.experts),
        ("vision_b", shape.vision_b),
        ("dtype", shape.dtype or None),
        ("quant_bits", shape.quant_bits),
        ("family", family_of(_last(shape.id)) or family_of(shape.model_type)),
        ("is_vision", is_vision),
        ("is_moe", shape.experts is not None or bool(MOE.search(words))),
        ("modality", _modality(words, is_vision=is_vision, is_audio=shape.audio)),
        ("window_attention", shape.window_attention if shape.vision else None),
    )
    yield from ((name, value) for name, value in given if value is not None)


def _of_words(facts: Facts) -> Iterator[Fact]:
    """Read what the words of name and type tell; a nameless folder leaves it to the type."""
    for kind in ("model.name", "model.type"):
        name = facts.text(kind)
        if not name:
            continue
        weak = kind == "model.type" and facts.text("launch.framework") in WEAK
        pairs = tuple(_words(name)) if not weak else tuple(_template(name))
        for key, value in pairs:
            yield fact(f"model.{key}", value, *facts.origins(kind), how="derived")


def _words(name: str) -> Iterator[tuple[str, Scalar]]:
    stem = _last(name)
    family = None if PLACEHOLDER.match(stem) else family_of(stem)
    if family is None:
        return
    yield "family", family
    is_vision = bool(VISION.search(stem))
    yield "is_vision", is_vision
    yield "is_moe", bool(MOE.search(stem))
    yield "modality", _modality(stem, is_vision=is_vision, is_audio=False)
    size = SIZE.search(stem.replace("-", " ").replace("_", " "))
    if size is not None:
        yield "params_b", float(size.group(1))


def _template(name: str) -> Iterator[tuple[str, Scalar]]:
    """A template for images is used with a model that takes them; one for text says nothing."""
    if VISION.search(name.lower()):
        yield "is_vision", True
        yield "modality", _modality(name.lower(), is_vision=True, is_audio=False)


def _modality(words: str, *, is_vision: bool, is_audio: bool) -> str:
    if OMNI.search(words) or (is_vision and is_audio):
        return "omni"
    if is_audio or AUDIO.search(words):
        return "audio"
    if is_vision:
        return "video" if "video" in words else "image"
    return "text"


def _last(name: str) -> str:
    """Give the last part of a path or id, in lower case."""
    return name.strip().rstrip("/\\").replace("\\", "/").rsplit("/", 1)[-1].lower()


@cache
def _stem(name: str) -> str:
    """Give the last part of a path or id without the words that do not change its shape."""
    stem = _last(name)
    while (cut := TAIL.sub("", stem)) != stem:
        stem = cut
    return stem


@cache
def _squeezed(name: str) -> str:
    stem = re.sub(r"[-_.]", "", _stem(name))
    return stem.removeprefix("meta")
