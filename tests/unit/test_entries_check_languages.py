"""Both languages of an entry name the same numbers, releases and settings."""

from __future__ import annotations

import pytest

from trainrx.entries.check_languages import figures, language_problems


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
