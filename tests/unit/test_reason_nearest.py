"""Causes near in words to what was seen, and the index of words."""

from __future__ import annotations

import math

import pytest
from entries import cause

from trainrx.knowledge.store import Knowledge
from trainrx.knowledge.words import index_of, read_index, with_words, words_of
from trainrx.model.knowledge import Cause
from trainrx.reason.nearest import REASON, has_room, nearest, with_nearest
from trainrx.reason.order import SUSPECTED, Ranking
from trainrx.reason.score import Scored, logit

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


def scored(item: Cause, probability: float, *, supported: bool) -> Scored:
    return Scored(cause=item, prior=0.1, score=logit(probability), reasons=(), supported=supported)


def ranking(*items: Scored) -> Ranking:
    return Ranking(causes=items, open=(), effects={})


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


def test_words_fill_what_evidence_leaves_open_and_make_no_suspicion() -> None:
    near = [(item, SPARK) for item in nearest("optimizer tensors offloaded disk swaps", INDEX)][:1]
    found = with_nearest(ranking(), near, {"oom"}, "en").causes

    assert [item.cause.id for item in found] == ["spark"]
    assert found[0].probability < SUSPECTED
    assert not found[0].supported
    assert [reason.id for reason in found[0].reasons] == [REASON]
    assert "optimizer" in found[0].reasons[0].text


def test_evidence_goes_before_words() -> None:
    weak = scored(TOKEN, 0.06, supported=True)
    near = [(item, SPARK) for item in nearest("optimizer tensors offloaded disk swaps", INDEX)][:1]
    found = with_nearest(ranking(weak), near, {"oom"}, "en").causes

    assert [item.cause.id for item in found] == ["token", "spark"]
    assert found[0].score > found[1].score


def test_words_move_a_cause_that_is_only_common() -> None:
    usual = [scored(TOKEN, 0.07, supported=False), scored(SPARK, 0.05, supported=False)]
    near = [(item, SPARK) for item in nearest("optimizer tensors offloaded disk swaps", INDEX)][:1]
    found = with_nearest(ranking(*usual), near, (), "zh").causes

    assert [item.cause.id for item in found] == ["spark", "token"]


def test_a_cause_of_another_kind_than_was_seen_is_no_kin() -> None:
    near = [(item, SPARK) for item in nearest("optimizer tensors offloaded disk swaps", INDEX)][:1]

    assert with_nearest(ranking(), near, {"nan_loss"}, "en").causes == ()
    assert with_nearest(ranking(), near, {"crash_other"}, "en").causes != ()


@pytest.mark.parametrize(("probability", "room"), [(0.71, False), (0.69, True)])
def test_a_likely_cause_leaves_no_room(probability: float, room: bool) -> None:
    assert has_room(ranking(scored(TOKEN, probability, supported=True))) is room


def test_the_share_is_a_share() -> None:
    for item in nearest("optimizer tensors offloaded disk swaps slow tokenizer padding", INDEX):
        assert 0 < item.share <= 1
        assert math.isfinite(item.share)


def test_words_lift_a_common_cause_no_higher_than_below_suspicion() -> None:
    near = [(item, SPARK) for item in nearest("optimizer tensors offloaded disk swaps", INDEX)][:1]
    common = scored(SPARK, SUSPECTED - 0.005, supported=False)

    (found,) = with_nearest(ranking(common), near, {"oom"}, "en").causes

    assert common.score <= found.score < logit(SUSPECTED)
