"""Causes near in words to what was seen, and the index of words."""

from __future__ import annotations

import math

import pytest
from entries import cause

from trainrx.knowledge.store import Knowledge
from trainrx.knowledge.words import index_of, read_index, with_words, words_of
from trainrx.model.knowledge import Cause
from trainrx.reason.nearest import nearest, of_kind

STEP = {
    "id": "do",
    "title": {"en": "do", "zh": "做"},
    "safety": "safe",
    "cost": {"en": "none", "zh": "无"},
    "steps": {"en": "do it", "zh": "做"},
}


def about(ident: str, en: str, zh: str = "一") -> Cause:
    return cause(ident, [], summary={"en": en, "zh": zh}, fixes=[STEP])


SPARK = about(
    "spark",
    "The offloaded optimizer swaps tensors to a slow disk.",
    "优化器状态卸载到硬盘，每步都要交换",
)
TOKEN = about("token", "The tokenizer adds a padding token the embedding lacks.", "词表缺少填充符")
OTHERS = [about(f"other-{n}", f"Something about topic{n} and a launcher.") for n in range(8)]


def knowledge(*causes: Cause) -> Knowledge:
    return Knowledge(
        symptoms={},
        causes={item.id: item for item in causes},
        params={},
        facts={},
        rules={},
        ranges={},
        gpus=(),
        models=(),
    )


INDEX = index_of(knowledge(SPARK, TOKEN, *OTHERS))


def test_names_are_words_whole_and_in_parts() -> None:
    assert list(words_of("torch.cuda.OutOfMemoryError in swap_tensors")) == [
        "torch.cuda.outofmemoryerror",
        "torch",
        "cuda",
        "outofmemoryerror",
        "swap_tensor",
        "swap",
        "tensor",
    ]


def test_chinese_is_cut_in_pairs_and_stopwords_are_left_out() -> None:
    assert list(words_of("the 显存不足")) == ["显存", "存不", "不足"]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("the optimizer is offloaded and tensors go to disk so slow", "spark"),
        ("the tokenizer has no padding token in the embedding", "token"),
        ("优化器状态卸载到硬盘之后，每步都要交换，很慢", "spark"),
    ],
)
def test_the_entry_in_the_same_words_is_nearest(text: str, first: str) -> None:
    assert nearest(text, INDEX)[0].cause == first


@pytest.mark.parametrize("text", ["", "my job", "完全 无关", "!!! 123", "launcher"])
def test_a_text_that_says_little_is_near_to_nothing(text: str) -> None:
    assert nearest(text, INDEX) == ()


def test_an_index_read_back_is_the_one_that_was_made() -> None:
    known = knowledge(SPARK, TOKEN, *OTHERS)

    assert read_index(with_words(known)) == read_index(known) == INDEX


def test_a_cause_without_a_fix_is_no_answer() -> None:
    assert "bare" not in index_of(knowledge(SPARK, cause("bare", []))).causes


def test_a_cause_of_another_kind_than_was_seen_is_no_reading() -> None:
    assert of_kind(SPARK, {"oom"})
    assert of_kind(SPARK, {"crash_other"})
    assert not of_kind(SPARK, {"nan_loss"})


def test_the_share_is_a_share() -> None:
    for item in nearest("optimizer tensors offloaded disk swaps slow tokenizer padding", INDEX):
        assert 0 < item.share <= 1
        assert math.isfinite(item.share)
