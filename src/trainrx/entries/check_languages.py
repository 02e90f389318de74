"""Refuse a text whose languages differ in numbers, releases, settings, or names of arguments.

And one whose Chinese has another word for a thing than all others have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainrx.entries.problem import Problem, error

_SPELLED = 12
"""Whole numbers up to this one may be written as words."""
_SCALES = {
    "": 1,
    "k": 1e3,
    "万": 1e4,
    "million": 1e6,
    "megapixels": 1e6,
    "亿": 1e8,
    "billion": 1e9,
}
_SEPARATOR = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_RELEASE = re.compile(r"(?<![\w.])\d+(?:\.\d+){2,}")
_NUMBER = re.compile(
    r"(?<![\w.])(?P<value>\d+(?:\.\d+)?)(?![.]?\d)"
    r" ?(?P<scale>万|亿|(?:k|million|megapixels|billion)\b|)"
)
_NAME = re.compile(r"(?<![\w.-])[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?!\w)")
"""An argument or a key; a language may use plain words for one, but not name another."""
_SETTING = re.compile(r"--[a-z][\w-]+|\b[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+\b")

_WORDS = {
    re.compile(word): say
    for word, say in {
        "适配器": "adapter",
        "底座": "基座",
        "(?<!梯度)检查点": "checkpoint",
        "断点(?!续训)": "checkpoint",
        "恢复训练": "续训",
        "批大小|批次大小": "batch size",
        "有效 ?batch|(?<!个)总 ?batch": "等效 batch",
        "爆显存": "显存不足",
        "训练端": "训练侧",
        "堆栈": "traceback (of Python) or 调用栈 (of a live process)",
        "分词器": "tokenizer",
        "评测": "评估",
        "(?<!限制)并行数": "并行度",
        "聊天模板": "对话模板",
        "(?<!低)秩": "LoRA rank",
    }.items()
}
"""What a Chinese text does not say, and the one word for it; CONTRIBUTING.md has the table."""
_BLANK = re.compile(r"[，。；：！？、）”] +(?=\S)")


class _Pair(NamedTuple):
    """A text in both languages, and where it stands."""

    key: str
    en: str
    zh: str


def language_problems(data: object) -> Iterator[Problem]:
    """List the texts of an entry's file whose languages do not say the same."""
    for pair in _pairs(data, ""):
        apart = figures(pair.en) ^ figures(pair.zh)
        if apart:
            yield error(pair.key, f"en and zh do not both name {', '.join(sorted(apart))}")
        en, zh = (frozenset(_NAME.findall(text)) for text in (pair.en, pair.zh))
        if en - zh and zh - en:
            told = f"{', '.join(sorted(en - zh))}, zh {', '.join(sorted(zh - en))}"
            yield error(pair.key, f"en names {told}: which is meant?")
        yield from (error(pair.key, said) for said in other_words(pair.zh))
        if blank := _BLANK.search(pair.zh):
            yield error(pair.key, f"zh has a blank behind {blank[0].strip()}: take it out")


def other_words(zh: str) -> Iterator[str]:
    """Name the words of a Chinese text for which all others have one word, and that word."""
    for pattern, say in _WORDS.items():
        if found := pattern.search(zh):
            yield f"zh says {found[0]}: say {say}"


def figures(text: str) -> frozenset[str]:
    """Give the numbers, releases and settings that a text names, each in one form.

    Small whole numbers are left out: they are written as words, or stand in names.
    """
    plain = _SEPARATOR.sub("", text)
    found = {*_RELEASE.findall(plain), *_SETTING.findall(plain)}
    for match in _NUMBER.finditer(_RELEASE.sub(" ", plain)):
        value = float(match["value"]) * _SCALES[match["scale"]]
        if value > _SPELLED or not value.is_integer():
            found.add(f"{value:.10g}")
    return frozenset(found)


def _pairs(data: object, key: str) -> Iterator[_Pair]:
    if isinstance(data, list):
        for at, item in enumerate(data):
            yield from _pairs(item, f"{key}[{at}]")
    elif isinstance(data, dict):
        match data:
            case {"en": str(en), "zh": str(zh)}:
                yield _Pair(key, en, zh)
            case _:
                for name, value in data.items():
                    yield from _pairs(value, f"{key}.{name}".lstrip("."))
