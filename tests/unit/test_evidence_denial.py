from __future__ import annotations

import pytest

from trainrx.evidence.denial import clause_at, clauses_of, is_moot, is_negated, is_unsaid


def moot(text: str, what: str) -> bool:
    start = text.index(what)
    return is_moot(text, start, start + len(what))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("will this hang?", "hang"),
        ("would 24 GB be enough or will it OOM?", "OOM"),
        ("would gradient checkpointing make it slower?", "slower"),
        ("does this config OOM on a 4090?", "OOM"),
        ("is it going to be slow on V100?", "slow"),
        ("not sure whether this will OOM", "OOM"),
        ("what happens if it runs out of memory?", "runs out of memory"),
        ("会不会 OOM", "OOM"),
        ("想提前确认一下显存会不会溢出", "显存会不会溢出"),
        ("24G 够不够，会 OOM 吗", "OOM"),
        ("不会卡死吧？是否会 OOM？", "OOM"),
    ],
)
def test_a_question_beforehand_tells_of_no_trouble(text: str, what: str) -> None:
    assert moot(text, what)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("why does it hang?", "hang"),
        ("why would it run out of memory with batch size 1?", "run out of memory"),
        ("how can I solve this OOM?", "OOM"),
        ("would ZeRO-3 solve the OOM?", "OOM"),
        ("how can I prevent this OOM?", "OOM"),
        ("如何避免这个 OOM？", "OOM"),
        ("could this hang be caused by NCCL?", "hang"),
        ("anyone else getting NaN loss?", "NaN loss"),
        ("I get an OOM, what can I do?", "OOM,"),
        ("training hangs after 10 steps, would more memory help?", "hangs"),
        ("it OOMs. Would 24 GB be enough?", "OOMs"),
        ("even with batch size 1 it will OOM", "OOM"),
        ("为什么会卡住？", "卡住"),
        ("会不会是数据的问题导致卡住？", "卡住"),
        ("升级能解决 OOM 吗", "OOM"),
        ("OOM 了怎么解决", "OOM"),
        ("每次到第二个 epoch 就会卡死，是数据的问题吗？", "卡死"),
    ],
)
def test_a_question_for_reason_or_remedy_tells_of_trouble(text: str, what: str) -> None:
    assert not moot(text, what)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("is there a risk of OOM with batch size 8?", "OOM"),
        ("I'm worried that it might OOM", "OOM"),
        ("怕爆显存，先问问", "爆显存"),
        ("担心多机会卡住", "卡住"),
    ],
)
def test_what_is_feared_is_not_there(text: str, what: str) -> None:
    assert moot(text, what)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("the OOM is gone", "OOM"),
        ("the hang is solved", "hang"),
        ("memory leak has been fixed in this version", "memory leak"),
        ("I fixed the OOM by lowering max_length", "OOM"),
        ("the OOM does not occur any more", "OOM"),
        ("it used to hang, setting the variable fixed it", "hang"),
        ("previously stuck at 0%, works fine now", "stuck"),
        ("speed is OK now, it was slow because of the dataloader", "slow"),
        ("卡住的问题解决了", "卡住"),
        ("OOM 已经解决", "OOM"),
        ("超时的问题没有了", "超时"),
        ("之前会卡住，设置变量之后已经好了", "卡住"),
        ("loss 之前是 nan，改成 bf16 就好了", "nan"),
    ],
)
def test_what_is_over_does_not_count(text: str, what: str) -> None:
    assert moot(text, what)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("it used to work; since the upgrade it hangs", "hangs"),
        ("previously fine, now it hangs", "hangs"),
        ("it used to hang and still does", "hang"),
        ("the OOM is not solved", "OOM"),
        ("the OOM is gone when the batch is 1", "OOM"),
        ("the request never comes back", "never comes back"),
        ("the worker is gone after the OOM", "OOM"),
        ("loss is fixed at 11 after the nan", "nan"),
        ("卡住的问题没有解决", "卡住"),
        ("the OOM is gone after downgrading torch", "OOM"),
        ("it used to run, now an OOM; fixed by going back to 0.9", "OOM"),
        ("升级之后跑原来的脚本会卡住，换回 3.7 就好了", "卡住"),
        ("之前正常，现在会卡住", "卡住"),
        ("之前单卡会卡住，现在多卡也会卡住", "卡住"),
        ("环境装好了就卡住", "卡住"),
    ],
)
def test_what_lasts_counts(text: str, what: str) -> None:
    assert not moot(text, what)


def test_a_clause_ends_where_another_thing_is_said() -> None:
    text = "the OOM is gone, but now the loss is nan"

    clauses = [text[start:end] for start, end in clauses_of(text)]

    assert "".join(clauses) == text
    assert [is_unsaid(clause) for clause in clauses] == [True, False, False]
    assert moot(text, "OOM")
    assert not moot(text, "nan")
    assert text[slice(*clause_at(text, 4, 7))] == "the OOM is gone,"


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
