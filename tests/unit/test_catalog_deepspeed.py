from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.catalog.deepspeed import canonical_deepspeed, deepspeed_facts, read_deepspeed


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("zero0", "zero0"),
        ("zero3", "zero3"),
        ("zero3_offload", "zero3_offload"),
        ("default-zero2", "zero2"),
        ("zero3-offload", "zero3_offload"),
        ("examples/deepspeed/ds_z2_config.json", "zero2"),
        ("examples/deepspeed/ds_z3_offload_config.json", "zero3_offload"),
        ("scripts/ZeRO-3.json", "zero3"),
        ("conf/stage3_no_cpu.json", "zero3"),
        ("/zero3/ds.json", "/zero3/ds.json"),
        ("ds_config.json", "ds_config.json"),
        ('{"zero_optimization": {"stage": 3}}', "zero3"),
    ],
)
def test_settings_have_one_name(text, name):
    assert canonical_deepspeed(text) == name


@pytest.mark.parametrize(
    ("value", "version", "stage", "params", "optimizer"),
    [
        ("zero2", "3.2.1", 2, False, False),
        ("zero2_offload", "3.2.1", 2, False, True),
        ("zero3", "2.6.1", 3, False, False),
        ("zero3_offload", "3.0.3", 3, True, True),
        ("zero3_offload", "3.0.2", 3, True, False),
        ("zero3-offload", "2.6.1", 3, True, False),
        ("zero3_offload", None, 3, True, None),
        ("zero3_offload", "3.x", 3, True, None),
    ],
)
def test_presets_of_ms_swift(value, version, stage, params, optimizer):
    facts = read_deepspeed(value, framework="ms-swift", version=version)

    assert facts["parallel.zero_stage"] == stage
    assert facts["parallel.offload_params"] is params
    assert facts.get("parallel.offload_optimizer") is optimizer


def test_name_that_says_which_part_is_offloaded():
    facts = read_deepspeed("zero3_offload_param.json")

    assert (facts["parallel.offload_params"], facts["parallel.offload_optimizer"]) == (True, False)


def test_json_is_read_not_guessed():
    config = {
        "zero_optimization": {
            "stage": 3,
            "offload_optimizer": {"device": "cpu"},
            "offload_param": {"device": "none"},
        }
    }

    inline = read_deepspeed(json.dumps(config))
    named = read_deepspeed("zero1.json", content=json.dumps(config))

    assert inline == named
    assert inline == {
        "parallel.deepspeed": "zero3_offload",
        "parallel.zero_stage": 3,
        "parallel.offload_params": False,
        "parallel.offload_optimizer": True,
        "deepspeed.param_device": "none",
        "deepspeed.optimizer_device": "cpu",
    }


def test_what_a_config_sets_itself_is_read_and_auto_is_left_open():
    config = {
        "train_batch_size": "auto",
        "train_micro_batch_size_per_gpu": 4,
        "gradient_accumulation_steps": 2.0,
        "bf16": {"enabled": True},
        "fp16": {"enabled": "auto"},
        "zero_optimization": {"stage": 3, "overlap_comm": False, "zero_hpz_partition_size": 8},
        "tensor_parallel": {"autotp_size": 4},
    }

    facts = read_deepspeed(json.dumps(config))

    assert {name: value for name, value in facts.items() if name.startswith("deepspeed.")} == {
        "deepspeed.micro_batch": 4,
        "deepspeed.grad_accum": 2,
        "deepspeed.bf16": True,
        "deepspeed.overlap_comm": False,
        "deepspeed.hpz_partition": 8,
        "deepspeed.autotp": 4,
    }


@pytest.mark.parametrize(
    ("version", "overlap"), [("3.2.1", True), ("3.2.2", False), ("4.6.0", False), ("3.2", None)]
)
def test_presets_of_ms_swift_stopped_overlapping(version, overlap):
    facts = read_deepspeed("zero2", framework="ms-swift", version=version)

    assert facts.get("deepspeed.overlap_comm") is overlap


def test_older_spellings_are_understood():
    old = {"zero_optimization": {"stage": 2, "cpu_offload": True}}

    assert read_deepspeed(json.dumps(old))["parallel.deepspeed"] == "zero2_offload"
    assert read_deepspeed('{"zero_optimization": true}')["parallel.zero_stage"] == 1


def test_a_dump_of_deepspeed_is_read():
    facts = deepspeed_facts({"zero_optimization_stage": "3", "train_batch_size": "16"})

    assert facts["parallel.zero_stage"] == 3
    assert facts["deepspeed.train_batch"] == 16


def test_config_without_zero_section_is_stage_zero():
    assert read_deepspeed('{"bf16": {"enabled": true}}')["parallel.zero_stage"] == 0


def test_unknown_file_says_nothing_about_sharding():
    assert read_deepspeed("my_ds.json") == {"parallel.deepspeed": "my_ds.json"}


def test_accelerate_keys_are_read():
    facts = deepspeed_facts(
        {
            "deepspeed_config.zero_stage": "3",
            "deepspeed_config.offload_param_device": "none",
            "deepspeed_config.offload_optimizer_device": "cpu",
        }
    )

    assert facts == {
        "parallel.deepspeed": "zero3_offload",
        "parallel.zero_stage": 3,
        "parallel.offload_params": False,
        "parallel.offload_optimizer": True,
    }


def test_other_keys_say_nothing():
    assert deepspeed_facts({"learning_rate": "1e-5"}) == {}


@given(
    st.text(max_size=200)
    | st.text(max_size=9).map("zero".__add__)
    | st.just("{" * 5000)
    | st.just('{"a":' * 5000)
)
def test_any_text_is_answered(text):
    facts = read_deepspeed(text)

    assert facts.get("parallel.zero_stage") in {None, 0, 1, 2, 3}
    assert "parallel.deepspeed" in facts
