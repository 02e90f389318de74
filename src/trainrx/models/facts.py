"""Which model is it? By its configuration, id, folder, or at least the words in its name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from trainrx.knowledge.identity import ByIdentity
from trainrx.model.facts import Fact, Facts, Origin, Scalar, fact
from trainrx.model.hardware import ModelShape
from trainrx.model.pattern import needled
from trainrx.models.families import (
    AUDIO,
    MOE,
    OMNI,
    VISION,
    family_of,
    own_type_of,
    quantisation_of,
)
from trainrx.models.lineage import lineage_of, size_of

TAILS = frozenset(
    {"instruct", "chat", "base", "hf", "it", "sft", "dpo", "merged", "thinking", "preview", "1m"}
    | {"4bit", "4bits", "8bit", "8bits", "awq", "b16", "b32", "bf16", "bnb", "bp16", "bp32"}
    | {"dynamic", "f16", "f32", "fp16", "fp32", "fp8", "gptq", "int4", "int8", "mxfp4", "nf4"}
    | {"quantized", "unsloth"}
)
"""Words at the end of a name that do not change the model's shape."""
WEAK = ("llamafactory",)
"""Their `model.type` is a chat template, which says little of the model."""
PLACEHOLDER = needled(
    r"^(checkpoint-?\d*|model|output|final|latest|merged|weights|ckpt\S*)$",
    *("checkpoint", "model", "output", "final", "latest", "merged", "weights", "ckpt"),
)


def find_shape(name: str, models: Sequence[ModelShape]) -> ModelShape | None:
    """Find the shape of a model by its hub id or the folder it lies in; None when not known.

    A name that is not known itself is taken for a copy of the published model whose generation
    and size it names (`is_named` tells these two apart).
    """
    return _named(name, models) or _related(name, models)


def is_named(name: str, shape: ModelShape) -> bool:
    """Tell whether a name is that of the shape, or one of its aliases, apart from its endings."""
    return _named(name, (shape,)) is not None


def _named(name: str, models: Sequence[ModelShape]) -> ModelShape | None:
    """Find a model by its name.

    The full name comes before names without their last words; ms-swift 2.x writes a model type
    such as `qwen2_5-7b-instruct`, so separators do not count in the end.
    """
    return _first_named(ByIdentity(models), name)


@lru_cache(maxsize=256)
def _first_named(held: ByIdentity[Sequence[ModelShape]], name: str) -> ModelShape | None:
    wanted, stem = _last(name), _stem(name)
    near = None
    for shape in held.part:
        for spelled in (shape.id, *shape.aliases):
            # to cut and shorten all known names costs more than most answers: a stem is part of it
            if stem not in spelled.lower():
                continue
            last = _last(spelled)
            if last == wanted:
                return shape
            if near is None and last.startswith(stem) and _stem(last) == stem:
                near = shape
    return near or _by_squeezed(held).get(_squeezed(name))


def _related(name: str, models: Sequence[ModelShape]) -> ModelShape | None:
    lineage = lineage_of(_last(name))
    return None if lineage is None else _by_lineage(ByIdentity(models)).get(lineage)


@lru_cache(maxsize=16)
def _by_squeezed(held: ByIdentity[Sequence[ModelShape]]) -> dict[str, ModelShape]:
    """Give the first model of each name without separators."""
    found: dict[str, ModelShape] = {}
    for shape in held.part:
        for known in (shape.id, *shape.aliases):
            found.setdefault(_squeezed(known), shape)
    return found


@lru_cache(maxsize=8)
def _by_lineage(held: ByIdentity[Sequence[ModelShape]]) -> dict[object, ModelShape]:
    """Give the first model of each lineage."""
    found: dict[object, ModelShape] = {}
    for shape in held.part:
        for known in (shape.id, *shape.aliases):
            lineage = lineage_of(_last(known))
            if lineage is not None:
                found.setdefault(lineage, shape)
    return found


def shape_of(facts: Facts, models: Sequence[ModelShape]) -> ModelShape | None:
    """Find the shape of the job's model by its name, else by its type where that is a model's."""
    return _source(facts, models)[1]


def _source(facts: Facts, models: Sequence[ModelShape]) -> tuple[str, ModelShape | None]:
    """Give the name a shape was found by, and the shape."""
    names = [name for kind in _kinds(facts) if (name := facts.text(kind))]
    for find in (_named, _related):
        for name in names:
            shape = find(name, models)
            if shape is not None:
                return name, shape
    return "", None


def model_facts(
    facts: Facts, models: Sequence[ModelShape], shape: ModelShape | None = None
) -> tuple[Fact, ...]:
    """Derive `model.*` from the model's configuration, name, path or type.

    Args:
        facts: what is known of the job.
        models: shapes of known models.
        shape: the shape read from the job's own `config.json`, which comes before all names.
    """
    name, known = _source(facts, models)
    found: dict[str, Fact] = {}
    for item in (
        *(_of_shape(shape, facts) if shape is not None else ()),
        *_of_quantised(facts),
        *_of_own_type(facts),
        *(_of_shape(known, facts) if known is not None else ()),
        *_of_words(facts),
        *(_of_relative(name, known, facts) if known is not None and shape is None else ()),
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


def _of_relative(name: str, shape: ModelShape, facts: Facts) -> Iterator[Fact]:
    """Say of which published model the shape is, where the job's own name is not a known one."""
    if not is_named(name, shape):
        origins = facts.origins("model.name") or facts.origins("model.type")
        yield fact("model.shape_like", shape.id, *origins, how="derived")


def _of_own_type(facts: Facts) -> Iterator[Fact]:
    """Say that ms-swift has a type of its own for the model, where the launch names no other."""
    found = own_type_of(_last(facts.text("model.name") or ""))
    if found is not None and not facts.text("model.type"):
        yield fact("model.own_type", found, *facts.origins("model.name"), how="derived")


def _of_quantised(facts: Facts) -> Iterator[Fact]:
    """Read the quantisation of a checkpoint from its name."""
    for kind in _kinds(facts):
        found = quantisation_of(_last(facts.text(kind) or ""))
        if found is not None:
            origins = facts.origins(kind)
            yield fact("model.quant_bits", found.bits, *origins, how="derived")
            if found.method:
                yield fact("model.quant_method", found.method, *origins, how="derived")


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
        ("quant_method", shape.quant_method or None),
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
    size = _billions(stem)
    if size is not None:
        yield "params_b", size


def _billions(stem: str) -> float | None:
    """Give all parameters a name tells, in 1e9; that of a mixture (`8x7b`) does not tell them."""
    size = size_of(stem)
    return None if size is None or "x" in size else float(size.partition("-")[0])


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
    while (cut := _shortened(stem)) != stem:
        stem = cut
    return stem


def _shortened(stem: str) -> str:
    """Take off the last word of a name where it does not change the model's shape."""
    at = max(stem.rfind(sign) for sign in "-_.")
    if at < 0:
        return stem
    before, word = stem[:at], stem[at + 1 :]
    if stem[at] == "." and before.endswith(("-v0", "_v0", ".v0")) and len(word) == 1:
        return before[:-3] if word.isdecimal() else stem  # -v0.1
    return before if word in TAILS or _is_date_or_size(word) else stem


def _is_date_or_size(word: str) -> bool:
    """Tell a date (2507), a context length (128k) and a quantisation (w4a16)."""
    weights, sign, activations = word[1:].partition("a")
    quantised = word[:1] == "w" and sign and weights.isdecimal() and activations.isdecimal()
    dated = len(word) == 4 and word.isdecimal()
    return bool(quantised) or dated or (word[-1:] == "k" and word[:-1].isdecimal())


@cache
def _squeezed(name: str) -> str:
    stem = re.sub(r"[-_. ]", "", _stem(name))
    return stem.removeprefix("meta")
