"""A DeepSpeed file, or an accelerate configuration, is judged by itself; any text is harmless."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.config_kinds import launched_with
from trainrx.linter.check import Linter
from trainrx.linter.files import File
from trainrx.linter.jobs import RunContext
from trainrx.linter.run import groups, lint_file
from trainrx.linter.settings import Settings, chooser
from trainrx.model.findings import Finding

LOADED = LoadedKnowledge()
LINTER = Linter(LOADED.lint, chooser(Settings(), groups(LOADED.lint)), "en")
SECTIONS = ("zero_optimization", "fp16", "bf16", "offload_param", "train_batch_size", "x")
KEYS = st.sampled_from((*SECTIONS, "stage", "enabled", "device", "nvme_path"))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.floats(), st.text(max_size=9)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=12,
)


def findings(text: str, name: str = "ds.json") -> list[Finding]:
    file = File(name, text, "config", None, named=True)
    return lint_file(file, LINTER, RunContext(LOADED), [])[0]


def test_each_contradiction_is_cited_in_its_line() -> None:
    text = json.dumps(
        {
            "fp16": {"enabled": True},
            "bf16": {"enabled": True},
            "train_batch_size": 8,
            "zero_optimization": {"stage": 2, "overlap_com": True},
        },
        indent=1,
    )

    found = {item.rule: text.split("\n")[(item.line or 1) - 1].strip() for item in findings(text)}

    assert found == {
        "ds-fp16-and-bf16": '"enabled": true',
        "deepspeed-key-unknown": '"overlap_com": true',
    }


def test_a_key_that_stands_twice_is_cited_where_it_stands_again() -> None:
    text = '{\n"fp16": {"enabled": false},\n"zero_optimization": {"stage": 1},\n"fp16": {}\n}'

    assert [(item.rule, item.line) for item in findings(text)] == [("deepspeed-key-twice", 4)]


@pytest.mark.parametrize(
    "section",
    [
        {"stage": 3, "offload_param": {"device": "cpu"}, "reduce_bucket_size": 5e8},
        {"stage": "auto", "overlap_comm": "auto"},
        {"stage": 2, "cpu_offload": True},
        True,
    ],
)
def test_a_file_deepspeed_takes_is_silent(section: object) -> None:
    assert findings(json.dumps({"train_batch_size": 8, "zero_optimization": section})) == [] or (
        "auto" in json.dumps(section)
    )


def test_of_an_accelerate_configuration_ranks_and_cards_are_compared() -> None:
    text = (
        "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nnum_machines: 2\n"
        "machine_rank: 2\nnum_processes: 8\ngpu_ids: 0,1\n"
    )

    found = {(item.rule, item.line) for item in findings(text, "acc.yaml")}

    assert found == {("node-rank-too-high", 4), ("more-processes-than-gpus", 5)}


def test_how_many_processes_a_deepspeed_file_is_for_is_not_told() -> None:
    launch = launched_with('{"train_batch_size": 8, "zero_optimization": {"stage": 2}}', "ds.json")

    assert launch is not None
    assert launch.started_unseen


@settings(max_examples=40)
@given(st.dictionaries(KEYS, VALUES, max_size=5))
def test_no_file_raises(content: dict[str, object]) -> None:
    findings(json.dumps({"train_batch_size": 8, **content}))
    findings(json.dumps({"zero_optimization": content, "fp16": content}))


@settings(max_examples=40)
@given(st.text(max_size=200))
def test_no_text_raises(text: str) -> None:
    findings('{"zero_optimization": ' + text)
    findings("distributed_type: DEEPSPEED\nnum_machines: " + text, "acc.yaml")


def test_only_names_that_are_listed_are_told_to_stand_twice() -> None:
    text = (
        "torchrun train.py --per_device_train_batch_size 2 --per_device_train_batch_size 4 "
        "--env A=1 --env B=2\n"
    )
    file = File("a.sh", text, "script", None, named=True)
    found = lint_file(file, LINTER, RunContext(LOADED), [])[0]

    told = [item.message for item in found if item.rule == "argument-given-twice"]
    assert len(told) == 1
    assert "--per_device_train_batch_size 2" in told[0]
