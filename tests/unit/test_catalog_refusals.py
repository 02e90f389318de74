"""What became of a name that a command does not take."""

from __future__ import annotations

import pytest

from trainrx.catalog.catalog import catalog
from trainrx.catalog.refusals import fate_of, other_commands, takers
from trainrx.catalog.signature import signature
from trainrx.knowledge.load import load
from trainrx.model.facts import Origin
from trainrx.model.job import RawLaunch


def fate(package, command, name, version):
    known = catalog(package)
    launch = RawLaunch(
        framework=package, command=command, args=(), env=(), origin=Origin(source="")
    )
    refusing = known.of(version) & ~takers(package, command, name) or known.of(version)
    return fate_of(name, launch, signature(package, command, refusing), load().params)


@pytest.mark.parametrize(
    ("package", "command", "name", "version", "kind", "told"),
    [
        ("ms-swift", "sft", "sft_type", "3.x", "renamed", "train_type"),
        ("ms-swift", "sft", "--sft-type", "4.6.0", "renamed", "tuner_type"),
        ("ms-swift", "rlhf", "train_type", "2.6.1", "renamed", "sft_type"),
        ("ms-swift", "sft", "seq_length", "3.6.0", "renamed", "max_length"),
        ("ms-swift", "sft", "evaluation_strategy", "4.0.0", "renamed", "eval_strategy"),
        ("ms-swift", "sft", "log_completions", "3.4.0", "elsewhere", "rlhf"),
        ("ms-swift", "sft", "max_num_frames", "3.4.0", "variable", "MAX_NUM_FRAMES"),
        ("ms-swift", "sft", "lora_rnak", "3.4.0", "misspelt", "lora_rank"),
        ("ms-swift", "sft", "make_it_good", "3.4.0", "unknown", ""),
        ("trl", "GRPOConfig", "vllm_mode", "0.16.0", "coming", ">=0.18.0"),
        ("trl", "GRPOConfig", "max_prompt_length", "0.29.0", "removed", "<0.28.0"),
    ],
)
def test_the_fate_of_a_name_is_told_by_the_catalog(package, command, name, version, kind, told):
    found = fate(package, command, name, version)

    assert found.kind == kind
    said = (*(now for now, _ in found.now), *found.commands, found.variable, found.near)
    assert told in said or found.install.endswith(told)


def test_a_development_version_is_sent_to_the_release_behind_it():
    found = fate("ms-swift", "rlhf", "rpo_alpha", "2.5.0.dev0")

    assert (found.kind, found.install, found.upgrade) == ("coming", ">=2.5.0.post1", True)


def test_what_a_library_dropped_is_gone_since_the_release_that_came_with_it():
    known = catalog("llamafactory")
    bits = takers("llamafactory", "train", "evaluation_strategy")

    assert known.describe(bits) == "<0.9.3"


def test_a_given_version_of_the_library_decides():
    known = catalog("llamafactory")
    given = {"transformers": "4.45.0"}
    bits = takers("llamafactory", "train", "evaluation_strategy", given)

    assert bits & known.of("0.9.3")


def test_other_commands_of_the_same_kind_go_first():
    known = catalog("ms-swift")

    assert other_commands("ms-swift", "sft", "log_completions", known.of("4.6.0")) == ("rlhf",)


@pytest.mark.parametrize("name", ["per_device_batch_size", "train_batch_size"])
def test_a_batch_of_training_is_never_taken_for_one_of_evaluation(name):
    found = fate("llamafactory", "train", name, "0.9.3")

    assert found.maybe == "per_device_train_batch_size"
