from __future__ import annotations

import pytest

from trainrx.model.negation import is_negated


def denied(text: str, what: str) -> bool:
    start = text.index(what)
    return is_negated(text, start, start + len(what))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("it never runs out of memory", "out of memory"),
        ("it does not hang", "hang"),
        ("without a single hang", "hang"),
        ("set to avoid an OOM", "OOM"),
        ("没有卡住", "卡住"),
        ("目前还没遇到超时", "超时"),
        ("为了避免显存不够", "显存不够"),
        ("目前没有出现 loss 为 nan 的情况", "nan"),
        ("训练速度不慢", "速度不慢"),
    ],
)
def test_what_is_denied_does_not_count(text: str, what: str) -> None:
    assert denied(text, what)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("runs without trouble and then hangs", "hangs"),
        ("it does not OOM but hangs", "hangs"),
        ("I do not know why it hangs", "hangs"),
        ("not only OOM", "OOM"),
        ("how can I prevent this OOM", "OOM"),
        ("如何避免这个 OOM", "OOM"),
        ("没有报错，训练卡住", "卡住"),
        ("维度对不上而报错", "报错"),
    ],
)
def test_a_denial_of_something_else_leaves_it(text: str, what: str) -> None:
    assert not denied(text, what)
