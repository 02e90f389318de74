from __future__ import annotations

import pytest

from trainrx.estimation.phrasing import refused, worded
from trainrx.knowledge.load import load
from trainrx.launch.find import find_launches
from trainrx.launch.given import Given
from trainrx.launch.job import Launch, settle
from trainrx.model.memory import Assumption, Refusal
from trainrx.shell import read_script


@pytest.fixture(scope="module")
def knowledge():
    return load(launches=True)


def launched(knowledge, text: str) -> Launch:
    raw = find_launches(read_script(text, "launch.sh"))[0]
    return settle(raw, Given(), versions={}, knowledge=knowledge)


SWIFT = "swift sft --model Qwen/Qwen2.5-7B-Instruct --dataset d"
FACTORY = "llamafactory-cli train --model_name_or_path m --dataset d"


@pytest.mark.parametrize(
    ("command", "canonical", "name"),
    [
        (SWIFT, "train.max_length", "--max_length"),
        (FACTORY, "train.max_length", "--cutoff_len"),
        (SWIFT, "vision.max_pixels", "MAX_PIXELS"),
        (SWIFT, "not.a.parameter", "not.a.parameter"),
        (SWIFT, "--data", "--data"),
    ],
)
def test_the_parameter_is_named_as_this_framework_does(command, canonical, name, knowledge):
    item = Assumption(id="x", text="t", param=canonical)

    assert worded(item, launched(knowledge, command), knowledge, "en").param == name


def test_an_assumption_is_said_in_the_language_asked_for(knowledge):
    item = Assumption(id="rank", text="told", values=(("rank", "8"),))
    launch = launched(knowledge, SWIFT)

    assert worded(item, launch, knowledge, "zh").text == "LoRA rank 未知，按 8 计算"
    assert worded(item, launch, knowledge, "en").text.endswith("8 is assumed")


def test_words_that_are_not_known_are_kept(knowledge):
    item = Assumption(id="no-such-id", text="told")

    assert worded(item, launched(knowledge, SWIFT), knowledge, "zh") == item


def test_a_refusal_asks_with_what_to_do(knowledge):
    item = Refusal(kind="unknown", id="no-such-id", reason="r", asks=("hardware.gpu_gib", "x.y"))

    asks = refused(item, launched(knowledge, SWIFT), knowledge, "en").asks

    assert len(asks) == 1
    assert "`--gpu 24GiB`" in asks[0]


def test_an_impossible_layout_asks_for_nothing(knowledge):
    item = Refusal(kind="impossible", id="no-such-id", reason="r", asks=("parallel.tensor",))

    assert refused(item, launched(knowledge, SWIFT), knowledge, "en").asks == ()


def test_a_parameter_in_the_words_is_spelled_too(knowledge):
    values = (("param", "train.micro_batch"), ("value", "-4"), ("least", "1"))
    item = Refusal(kind="impossible", id="not-positive", reason="r", values=values)

    said = refused(item, launched(knowledge, FACTORY), knowledge, "en").reason

    assert said == "--per_device_train_batch_size is -4: expected at least 1"


def test_what_is_not_known_of_the_data_is_told_by_the_data(knowledge):
    item = Assumption(id="length-cap", text="t", param="train.dataset")

    assert worded(item, launched(knowledge, SWIFT), knowledge, "en").param == "--data FILE"
