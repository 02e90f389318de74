from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.inputs.config import read_config
from trainrx.launch.fsdp import canonical_sharding, fsdp_facts
from trainrx.model.facts import Origin
from trainrx.model.job import RawArg

HERE = Origin(source="launch.sh", line=3)


def arg(name, *values):
    return RawArg(name=name, values=values, origin=HERE)


def facts(args, files=None):
    return {item.kind: item.value for item in fsdp_facts(args, files)}


FSDP1 = """\
distributed_type: FSDP
fsdp_config:
  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP
  fsdp_offload_params: true
  fsdp_sharding_strategy: SHARD_GRAD_OP
num_processes: 8
"""
UNSENT = FSDP1.replace("  fsdp_offload", "  fsdp_sync_module_states: false\n  fsdp_offload")
FSDP2 = """\
distributed_type: FSDP
fsdp_config:
  fsdp_activation_checkpointing: false
  fsdp_offload_params: false
  fsdp_reshard_after_forward: true
  fsdp_version: 2
parallelism_config:
  parallelism_config_tp_size: 2
  parallelism_config_cp_size: 4
"""


def test_the_first_fsdp_of_accelerate_is_read():
    args, _ = read_config(FSDP1, "fsdp.yaml")

    assert facts(args) == {
        "parallel.fsdp": "shard_grad_op",
        "parallel.fsdp_sharding": "shard_grad_op",
        "parallel.fsdp_offload": True,
    }
    strategy = next(f for f in fsdp_facts(args) if f.kind == "parallel.fsdp_sharding")
    assert str(strategy.origins[0]) == "fsdp.yaml:5"


@pytest.mark.parametrize(
    ("option", "sent"), [((), False), (("false",), None), (("true",), True)], ids=str
)
def test_a_false_as_an_option_is_text_to_accelerate(option, sent):
    """1.15 asks `not args.fsdp_sync_module_states`, which no text is and a file's false is."""
    file, _ = read_config(UNSENT, "fsdp.yaml")
    told = [arg("fsdp_sync_module_states", *option)] if option else []

    assert facts([*file, *told]).get("parallel.fsdp_sync") is sent


def test_the_second_fsdp_of_accelerate_is_read():
    args, _ = read_config(FSDP2, "fsdp.yaml")

    assert facts(args) == {
        "parallel.fsdp": "full_shard",
        "parallel.fsdp_version": 2,
        "parallel.fsdp_sharding": "full_shard",
        "parallel.fsdp_offload": False,
        "parallel.fsdp_checkpointing": False,
        "parallel.tensor": 2,
        "parallel.context": 4,
    }


def test_options_of_accelerate_go_before_its_file():
    args, _ = read_config(FSDP1, "fsdp.yaml")

    found = facts([*args, arg("fsdp_sharding_strategy", "1"), arg("fsdp_offload_params", "false")])

    assert found["parallel.fsdp_sharding"] == "full_shard"
    assert found["parallel.fsdp_offload"] is False


def test_words_of_transformers_are_read():
    assert facts([arg("fsdp", "full_shard", "auto_wrap", "offload")]) == {
        "parallel.fsdp_sharding": "full_shard",
        "parallel.fsdp_offload": True,
    }


@pytest.mark.parametrize("by_path", [True, False])
def test_its_config_is_read_inline_and_by_path(by_path):
    config = json.dumps({"fsdp_version": 2, "reshard_after_forward": False, "cpu_offload": True})
    given_ = "conf/fsdp.json" if by_path else config

    found = facts([arg("fsdp", "true"), arg("fsdp_config", given_)], {"fsdp.json": config})

    assert found == {
        "parallel.fsdp": "shard_grad_op",
        "parallel.fsdp_version": 2,
        "parallel.fsdp_sharding": "shard_grad_op",
        "parallel.fsdp_offload": True,
    }


def test_the_preset_of_ms_swift_is_known():
    assert facts([arg("fsdp", "fsdp2")]) == {
        "parallel.fsdp_version": 2,
        "parallel.fsdp_sharding": "full_shard",
    }


def test_a_file_like_the_preset_is_read():
    text = json.dumps({"fsdp": "full_shard offload", "fsdp_config": {"fsdp_version": 2}})

    assert facts([arg("fsdp", "conf/my.json")], {"my.json": text}) == {
        "parallel.fsdp_version": 2,
        "parallel.fsdp_sharding": "full_shard",
        "parallel.fsdp_offload": True,
    }


def test_fsdp_without_a_strategy_is_known_to_be_on():
    assert facts([arg("use_fsdp")]) == {"parallel.fsdp": "fsdp"}


@pytest.mark.parametrize(
    "args",
    [
        [arg("fsdp", "")],
        [arg("fsdp")],
        [arg("fsdp_version", "2")],
        [arg("distributed_type", "MULTI_GPU"), arg("fsdp_config.fsdp_version", "2")],
        [arg("use_fsdp", "false")],
    ],
)
def test_nothing_is_said_where_fsdp_is_not_asked_for(args):
    assert facts(args) == {}


@pytest.mark.parametrize(
    ("text", "name"),
    [("FULL_SHARD", "full_shard"), ("2", "shard_grad_op"), ("6", None)],
)
def test_strategies_have_one_name(text, name):
    assert canonical_sharding(text) == name


@given(st.lists(st.tuples(st.sampled_from(["fsdp", "fsdp_config", "fsdp_version"]), st.text())))
def test_any_values_are_answered(pairs):
    found = facts([arg(name, value) for name, value in pairs])

    assert found.get("parallel.fsdp_version") in {None, 1, 2}
