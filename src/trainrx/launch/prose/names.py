"""The names a clause states: of the model that is trained, and of packages with their version."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from trainrx.catalog.framework_choice import package_named
from trainrx.knowledge.identity import ByIdentity
from trainrx.launch.prose.clauses import Clause, Statement
from trainrx.model.hardware import ModelShape
from trainrx.model.pattern import late
from trainrx.versions.listing import canonical_package

MODEL, FAMILY, VERSION = "model", "model family", "version "
"""A model with its size, one without; what stands in front of a package's name."""
ALSO = ("cuda", "python", "cann", "transformer-engine", "causal-conv1d")
"""What people state the version of, of which knowledge has no releases."""
NEAR = 40
"""Characters in front of a number in which the package it is the version of is named."""
_WORDS = frozenset(
    {
        "c",
        "chinese",
        "emu",
        "meta",
        "mini",
        "modelscope",
        "moe",
        "mt",
        "nlp",
        "nvidia",
        "open",
        "opt",
    }
    | {"stable", "t", "tencent", "ui", "atom", "reflection", "rocket", "solar", "seed", "platypus"}
    | {"aquila", "aya", "cogito", "dolly", "falcon", "florence", "intellect", "marco", "tongyi"}
)
"""First words of names of models that are words of the language too, or a maker's name."""
_KIND = "vl|omni|coder|math|next|moe|instruct|chat|base|vision|audio|embedding|reranker|thinking"
_PART = (
    rf"(?:{_KIND}|it|pt|large|small|mini|ocr|r1|v[23](?:\.\d)?|v|distill|qwen|llama|image|flash|air"
    r"|hf|fp8|awq|gptq|int[48]|preview|xcomposer2?|xxl|xl|t5|oss|max|plus|lite|onevision|video"
    r"|tiny)"
)
_SIZE = r"(?:(?:\d{1,2}x)?\d{1,3}(?:\.\d{1,2})?b|e\d{1,2}b|a\d{1,3}(?:\.\d)?b)"
_PIECE = rf"[-_]?(?:{_SIZE}|{_PART}|(?<!\d)\d{{1,4}}(?:[._]\d{{1,2}})?k?(?!\d))"
_NAME = (
    rf"(?:{_PIECE}){{0,9}}(?:\s(?:(?:{_KIND}|{_SIZE})(?![a-z0-9])|\d(?:\.\d)?(?=\s?-?(?:{_SIZE}"
    rf"|vl\b)))"
    rf"(?:{_PIECE}){{0,5}}){{0,3}}(?![a-z0-9])(?![ _-]?factory|[-_.](?:cpp|utils|finetune|recipes))"
)
_SIZED = late(rf"(?:\b|[-_.\s\d]|[a-z]){_SIZE}", re.IGNORECASE)
_TRAINED_BY = late(
    r"\A\s?(?:\d-?bit )?(?:q?lora|sft|dpo|grpo|ppo|fine-?tun|training|微调|训练)", re.IGNORECASE
)
_TRAINED = late(
    r"(?:\bof|train(?:ing)?|tun(?:e|ing)|微调|训练?|跑|-?bit)\s?(?:the |an? )?\Z", re.IGNORECASE
)
_ROLE_BEFORE = late(
    r"(?:deploy(?:ed|ing)?|serv(?:ed|ing)|部署|推理)(?:了|的)?\s?\Z|(?:reward|teacher|critic"
    r"|judge|draft|reference|奖励|教师|裁判|打分|评判|参考)"
    r"(?: ?(?:model|模型))?(?: ?(?:is|was|of|是|为|用的?是?))?[\s:：(（]*(?:the )?\Z",
    re.IGNORECASE,
)
_SIZES = late(r"\A\s?(?:[/、和]|and|or)\s?\d{1,3}(?:\.\d)?B\b", re.IGNORECASE)
_ROLE_AFTER = late(
    r"\A[^,，.。;；]{0,12}(?:reward model|as (?:the |a )?(?:judge|teacher|reward)|奖励模型"
    r"|做(?:奖励|教师|打分))",
    re.IGNORECASE,
)
"""A model that has another part in the job than to be trained."""
_NUMBER = late(
    r"(?<![\d.])[vV]?(\d{1,4}\.(?:\d[A-Za-z0-9_.+]{0,24}|dev\d{0,4})|(?<=[vV])\d{1,2}(?![\w.])"
    r"|\d{1,2}(?=\.[xX]\b))"
)
_NAMED = late(
    r"(?<![A-Za-z0-9_/=.-])([A-Za-z][A-Za-z_]*(?:-[A-Za-z]+)*)(?: ([A-Za-z]+))?[\s`]{0,2}"
    r"(?:\(?的?(?:version|ver|release|版本号?)(?: is)?)?\s?"
    r"(?:(?:==|[:：=]|是|为|用的?是?)|(?:v?\d[\w.]{0,12}\s?)?"
    r"(?:was |刚|已经?|从源码)?(?:upgraded |updated |bumped |installed |更新|升级|升|装)?(?:to|到"
    r"|至|成|了|的是))?"
    r"\s?[vV]?\Z"
)
_NOT_ALONE = late(
    r"\A\s?(?:(?:升级?|更新|换)(?:到|至|成)|->|→|(?:to|到|至|[-~–]|和|and|or|或|、|/|以上|及以上"
    r"|or (?:newer|later))"
    r"\s?v?\d|以上|及以上|以下|or (?:newer|later|higher)|[GMk]i?B\b|%|倍)",
    re.IGNORECASE,
)
"""What follows a number that is no version, the old one, or one of several."""


def models(clause: Clause, shapes: Sequence[ModelShape]) -> Iterator[Statement]:
    """Read the model that a clause says is trained."""
    text = clause.text
    for found in _families(ByIdentity(shapes)).finditer(text):
        before = text[max(0, found.start() - NEAR) : found.start()]
        after = text[found.end() :][:NEAR]
        if _ROLE_AFTER.search(after) or _ROLE_BEFORE.search(before):
            continue
        name = re.sub(r"\s+", "-", re.sub(r"(?<=\d)_(?=\d)", ".", found[0]))
        if _SIZES.search(after):  # of several sizes no more than the family is known
            yield Statement(FAMILY, _SIZED.split(name)[0].rstrip("-_"), clause)
        elif _SIZED.search(found[0]):
            yield Statement(MODEL, name, clause)
        elif (
            re.search(r"\d|[-_ ]", found[0]) or _TRAINED.search(before) or _TRAINED_BY.search(after)
        ):
            yield Statement(FAMILY, name, clause)


def versions(clause: Clause) -> Iterator[Statement]:
    """Read the packages of which a clause states the version."""
    text = clause.text[: clause.wanted]
    for found in _NUMBER.finditer(text):
        named = _NAMED.search(text[max(0, found.start() - NEAR) : found.start()])
        if named is None or _NOT_ALONE.search(text[found.end() :][:NEAR]):
            continue
        first, second = named[1], named[2]
        names = (f"{first}-{second}", second) if second else (first,)
        package = next(filter(None, map(_package, names)), None)
        if package is not None:
            yield Statement(VERSION + package, found[1].rstrip(".+"), clause)


def _package(name: str) -> str | None:
    plain = canonical_package(name)
    return plain if plain in ALSO else package_named(name)


def _first_words(shapes: Sequence[ModelShape]) -> set[str]:
    """Give what the names of known models begin with."""
    names = (name.rsplit("/", 1)[-1].lower() for one in shapes for name in (one.id, *one.aliases))
    words = {found[0] for name in names if (found := re.match("[a-z]+", name)) is not None}
    return words - _WORDS


@lru_cache(maxsize=4)
def _families(models: ByIdentity[Sequence[ModelShape]]) -> re.Pattern[str]:
    words = sorted(_first_words(models.part))
    spelled = "|".join(sorted(words, key=len, reverse=True))
    return re.compile(rf"(?<![A-Za-z0-9_])(?:{spelled}){_NAME}", re.IGNORECASE)
