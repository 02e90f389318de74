"""Both languages of an entry name the same numbers, releases and settings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import trainrx
from trainrx.entries.check_languages import figures, language_problems, other_words


@pytest.mark.parametrize(
    ("en", "zh"),
    [
        ("150,000 words cost 1.1 billion", "15 万词占 11 亿"),
        ("16k tokens", "1.6 万 token"),
        ("3.2 megapixels", "320 万像素"),
        ("two cards of 24 GiB", "2 张 24 GiB 卡"),
        ("--packing since 4.2.1", "4.2.1 起的 --packing"),
    ],
)
def test_the_same_in_either_spelling_is_the_same(en: str, zh: str) -> None:
    assert figures(en) == figures(zh)


@pytest.mark.parametrize(
    ("en", "zh", "lacks"),
    [
        ("until 4.1.3", "直到 4.1.2", "4.1.2, 4.1.3"),
        ("set NCCL_DEBUG", "打开日志", "NCCL_DEBUG"),
        ("512 requests", "五百条请求", "512"),
    ],
)
def test_what_one_language_lacks_is_named(en: str, zh: str, lacks: str) -> None:
    entry = {"id": "a", "fixes": [{"title": {"en": en, "zh": zh}}]}

    found = list(language_problems(entry))

    assert [
        (one.key, one.message.removeprefix("en and zh do not both name ")) for one in found
    ] == [("fixes[0].title", lacks)]


def test_another_argument_in_each_language_is_named_and_plain_words_are_not() -> None:
    other = {"why": {"en": "max_tokens is too low", "zh": "max_length 太小"}}
    words = {"why": {"en": "the longest sample is too long", "zh": "超过 max_length"}}

    assert [one.message for one in language_problems(other)] == [
        "en names max_tokens, zh max_length: which is meant?"
    ]
    assert list(language_problems(words)) == []


@pytest.mark.parametrize(
    ("zh", "said"),
    [
        ("从最近的断点续训", []),
        ("开启梯度检查点", []),
        ("低秩投影", []),
        ("用 MAX_JOBS 限制并行数", []),
        ("断点损坏", ["zh says 断点: say checkpoint"]),
        ("合并适配器时底座仍是量化的", ["zh says 适配器: say adapter", "zh says 底座: say 基座"]),
        ("总 batch 变大", ["zh says 总 batch: say 等效 batch"]),
    ],
)
def test_one_thing_has_one_chinese_word(zh: str, said: list[str]) -> None:
    assert list(other_words(zh)) == said


def test_a_blank_behind_a_full_width_mark_is_refused() -> None:
    entry = {"why": {"en": "It is so, and stays so.", "zh": "如此， 不变。"}}

    assert [one.message for one in language_problems(entry)] == [
        "zh has a blank behind ，: take it out"
    ]


def test_words_of_the_answer_are_those_of_the_entries() -> None:
    texts = [
        text
        for path in Path(trainrx.__file__).parent.rglob("*.py")
        for text in re.findall(r'\bzh=f?"([^"]*)"', path.read_text(encoding="utf-8"))
    ]
    texts += [path.read_text("utf-8") for path in Path(trainrx.__file__).parent.rglob("*.yaml")]

    assert len(texts) > 500
    assert [said for text in texts for said in other_words(text)] == []
