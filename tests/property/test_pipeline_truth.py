"""The answer rests on what was given: not on its order, not on noise, never on what is missing."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pipeline_jobs import HANG, LAUNCH, LOG, VERSIONS, diagnose, named, put

from examples import examples
from trainrx.model.facts import Origin
from trainrx.model.result import Diagnosis

NOISE = st.sampled_from(
    [
        "INFO: checkpoint saved, no error",
        '10.0.0.1 - - [01/Jan/2025] "GET /error HTTP/1.1" 502',
        "Loading data: 12 files, 0 nan values, OOM score 0",
        "the killer whale was killed",
        "正在加载数据，没有报错",
        "",
    ]
)
FLAGS = LAUNCH.splitlines()[1:]


def origins(answer: Diagnosis) -> list[Origin]:
    found = [o for symptom in answer.symptoms for o in symptom.evidence]
    for cause in answer.causes:
        found += [o for reason in cause.reasons for o in reason.evidence]
        found += [c.at for fix in cause.fixes for c in fix.changes if c.at is not None]
        found += [o for right in cause.already_right for o in right.evidence]
    return found


@examples(6)
@given(noise=st.lists(st.tuples(st.integers(0, 3), NOISE), max_size=6))
def test_lines_that_say_nothing_change_nothing(noise):
    lines = LOG.splitlines()
    for at, text in noise:
        lines.insert(at, text)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain = diagnose(folder)
        noisy = diagnose(folder, logs=[put(folder, "noisy.log", "\n".join(lines))])

    assert named(noisy) == named(plain)


@examples(5)
@given(order=st.permutations(range(4)))
def test_the_order_of_the_logs_of_ranks_changes_nothing(order):
    texts = [HANG, LOG, "[INFO:swift] start\n", HANG.replace("ank 3", "ank 1").replace("k3", "k1")]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        logs = [put(folder, f"rank{i}.log", text) for i, text in enumerate(texts)]
        plain = diagnose(folder, logs=logs)
        shuffled = diagnose(folder, logs=[logs[i] for i in order])

    assert named(shuffled) == named(plain)


@examples(8)
@given(kept=st.sets(st.sampled_from(FLAGS)), with_versions=st.booleans())
def test_a_launch_without_some_flags_is_answered_without_the_log_being_doubted(kept, with_versions):
    text = "\n".join(
        ["NPROC_PER_NODE=8 swift sft \\", *(f for f in FLAGS if f in kept), "    --x y"]
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        more = {} if with_versions else {"versions": None, "gpu": None}
        answer = diagnose(folder, cmd=put(folder, "launch.sh", text + "\n"), **more)

    assert [s.id for s in answer.symptoms if s.family == "oom"] == ["cuda-oom"]
    assert answer.verdict in ("diagnosed", "suspected")


@pytest.mark.parametrize("versions", [None, {"ms-swift": "3.2.1"}])
def test_without_a_log_nothing_is_diagnosed(versions, tmp_path):
    answer = diagnose(tmp_path, logs=[], versions=versions)

    assert answer.verdict not in ("diagnosed", "suspected", "healthy")
    # it has not run: nobody asks what it printed
    assert not any("--log" in ask.how for ask in answer.asks)


@examples(6)
@given(hidden=st.sampled_from(["source env.sh\n", "swift sft $ARGS", 'swift sft "$@"']))
def test_what_may_be_set_elsewhere_is_not_called_unset(hidden):
    text = hidden + LAUNCH if hidden.endswith("\n") else LAUNCH.replace("swift sft", hidden)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        answer = diagnose(folder, cmd=put(folder, "launch.sh", text))

    unset = [
        change.param
        for cause in answer.causes
        for fix in cause.fixes
        for change in fix.changes
        if change.now == "unset" and (change.kind == "env" or not hidden.endswith("\n"))
    ]
    assert unset == []
    assert "vision.pixel_cap" not in answer.facts


@pytest.mark.parametrize("case", ["all", "launch", "log", "hang", "note"])
def test_both_engines_give_the_same_answer(case, tmp_path):
    given_ = {
        "all": {},
        "launch": {"logs": []},
        "log": {"cmd": ()},
        "hang": {"logs": [put(tmp_path, "hang.log", HANG)]},
        "note": {"cmd": (), "logs": [], "note": "训练到一半卡死，显存一直涨"},
    }[case]
    durable = diagnose(tmp_path, engine="durable", **given_)
    reference = diagnose(tmp_path, engine="reference", **given_)

    assert durable.tool.engine != reference.tool.engine
    for field in Diagnosis.__struct_fields__:
        if field != "tool":
            assert getattr(durable, field) == getattr(reference, field), field


@examples(8)
@given(
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    prefix=st.sampled_from(["", "\ufeff", "\n\n", "\x1b[31m"]),
    repeat=st.integers(1, 3),
)
def test_every_quoted_line_stands_where_it_is_said_to_stand(end, prefix, repeat):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = (prefix + LOG * repeat).replace("\n", end)
        log = put(folder, "train.log", text)
        answer = diagnose(folder, logs=[log])
        quoted = [o for o in origins(answer) if o.line is not None and o.text and "/" in o.source]
        files = {o.source: Path(o.source).read_bytes().decode() for o in quoted}

    assume(quoted)
    for origin in quoted:
        lines = files[origin.source].split("\n")
        assert origin.text.strip()[:60] in lines[origin.line - 1], origin


@pytest.mark.parametrize("case", ["all", "launch", "hang"])
def test_english_and_chinese_conclude_the_same(case, tmp_path):
    given_ = {
        "all": {},
        "launch": {"logs": []},
        "hang": {"logs": [put(tmp_path, "hang.log", HANG)]},
    }[case]
    english = diagnose(tmp_path, lang="en", **given_)
    chinese = diagnose(tmp_path, lang="zh", **given_)

    assert named(english) == named(chinese)
    assert english.verdict == chinese.verdict
    assert english.facts == chinese.facts
    for one, other in zip(english.causes, chinese.causes, strict=True):
        assert [fix.id for fix in one.fixes] == [fix.id for fix in other.fixes]
        assert [reason.id for reason in one.reasons] == [reason.id for reason in other.reasons]
    assert len(english.asks) == len(chinese.asks)


def test_the_order_of_lines_of_a_list_of_versions_changes_nothing(tmp_path):
    turned = "\n".join(reversed(VERSIONS.splitlines()))
    plain = diagnose(tmp_path)

    assert named(diagnose(tmp_path, versions=put(tmp_path, "v", turned))) == named(plain)
