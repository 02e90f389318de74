"""Frameworks are found by the names of their modules."""

from pathlib import Path

import pytest

import trainrx.frameworks as room
from trainrx.frameworks import framework_of, frameworks, names
from trainrx.model.facts import Facts, fact


def test_every_module_but_the_shared_ones_is_a_framework_of_its_name():
    here = Path(room.__file__).parent
    modules = {path.stem for path in here.iterdir()}

    found = {one.name for one in frameworks()}

    assert found == {name.replace("_", "-") for name in modules - room._SHARED}
    assert found == set(names())
    assert {"ms-swift", "nemo-rl", "open-instruct"} <= found


def test_what_is_no_framework_has_nothing_of_its_own():
    nothing = framework_of("no-such-thing")

    assert (nothing.name, nothing.owns_names, nothing.refuses_unknown) == ("", False, False)
    assert framework_of(None) is framework_of("")
    assert framework_of("").name == ""


@pytest.mark.parametrize("one", frameworks(), ids=lambda one: one.name)
def test_what_a_framework_refers_to_is_one(one):
    for name in (one.fork_of, one.installed_as, *one.builds_on):
        assert name in ("", *names())
    assert not one.fork_of or one.fork_of in (one.installed_as, *one.builds_on)


def test_names_of_libraries_are_nobodys_own():
    assert {one.name for one in frameworks() if not one.owns_names} == {"transformers", "vllm"}
    assert {one.name for one in frameworks() if one.is_lent} == {"trl", "unsloth"}
    assert not framework_of("areal").only_trains
    assert framework_of("areal").only_named


@pytest.mark.parametrize(
    ("setting", "version"),
    [
        ({}, 0),
        ({"parallel.fsdp": "no_shard"}, 0),
        ({"parallel.fsdp": "full_shard auto_wrap"}, 1),
        ({"parallel.fsdp": "full_shard", "parallel.fsdp_version": 2}, 2),
        ({"parallel.fsdp": "fsdp2"}, 2),
    ],
)
def test_fsdp_is_of_the_first_version_unless_told(setting, version):
    facts = Facts(fact(name, value) for name, value in setting.items())

    assert framework_of("transformers").fsdp_version(facts, "") == version
