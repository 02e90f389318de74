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
        ("it used to hang, setting the variable fixed it", "hang"),
        ("previously stuck at 0%, works fine now", "stuck"),
        ("the OOM is gone", "OOM"),
        ("卡住的问题解决了", "卡住"),
        ("没有卡住", "卡住"),
        ("目前还没遇到超时", "超时"),
        ("为了避免显存不够", "显存不够"),
        ("之前会卡住，设置变量之后已经好了", "卡住"),
    ],
)
def test_what_is_denied_or_over_does_not_count(text: str, what: str) -> None:
    assert denied(text, what)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("runs without trouble and then hangs", "hangs"),
        ("it does not OOM but hangs", "hangs"),
        ("it used to work; since the upgrade it hangs", "hangs"),
        ("previously fine, now it hangs", "hangs"),
        ("it used to hang and still does", "hang"),
        ("the OOM is not solved", "OOM"),
        ("卡住的问题没有解决", "卡住"),
        ("没有报错，训练卡住", "卡住"),
        ("之前正常，现在会卡住", "卡住"),
        ("之前单卡会卡住，现在多卡也会卡住", "卡住"),
    ],
)
def test_a_denial_of_something_else_leaves_it(text: str, what: str) -> None:
    assert not denied(text, what)
