"""One line replied to a question, read as the fact is typed."""

from __future__ import annotations

import pytest

from trainrx.knowledge.load import load
from trainrx.launch.reply_values import ReplyError, is_not_known, value_of, yes_or_no
from trainrx.model.facts import Scalar
from trainrx.model.knowledge import FactEntry
from trainrx.model.parts import Param


def entry(name: str) -> FactEntry | Param:
    known = load()
    return known.facts.get(name) or known.params[name]


@pytest.mark.parametrize("text", ["yes", " Y ", "是", "有。", "true"])
def test_yes_is_read_in_both_languages(text: str) -> None:
    assert yes_or_no(text) is True


@pytest.mark.parametrize("text", ["no", "否", "没有", "False"])
def test_no_is_read_in_both_languages(text: str) -> None:
    assert yes_or_no(text) is False


@pytest.mark.parametrize("text", ["unknown", "不知道", "?", "Don't know."])
def test_who_does_not_know_says_neither(text: str) -> None:
    assert is_not_known(text)
    assert yes_or_no(text) is None


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("train.micro_batch", "4", 4),
        ("train.micro_batch", "none", "none"),
        ("train.max_length", "16,384", 16384),
        ("hardware.gpu_gib", "79.2 GiB", 79.2),
        ("hardware.gpu_gib", "24G", 24.0),
        ("collective.seqnum_differs", "是", True),
        ("collective.seqnum_differs", "no", False),
        ("oom.asked_is", "KV-cache", "kv-cache"),
        ("launch.task", "grpo", "grpo"),
    ],
)
def test_a_value_has_the_type_of_its_fact(name: str, text: str, value: Scalar) -> None:
    found = value_of(text, entry(name))

    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("train.micro_batch", "four", "a whole number"),
        ("train.micro_batch", "2.5", "a whole number"),
        ("hardware.gpu_gib", "80 apples", "a number of GiB"),
        ("hardware.gpu_gib", "none", "a number of GiB"),
        ("hardware.gpu_gib", "1e999", "a number of GiB"),
        ("collective.seqnum_differs", "perhaps", "yes or no"),
        ("oom.asked_is", "banana", "one of logits"),
    ],
)
def test_what_is_no_value_is_refused_with_what_is_expected(
    name: str, text: str, expected: str
) -> None:
    with pytest.raises(ReplyError, match=expected) as error:
        value_of(text, entry(name))

    assert f"--answer {name}={text}" in str(error.value)
    assert 'or "unknown"' in str(error.value)
