"""Which names a framework looks up, at the releases a launch may run."""

from __future__ import annotations

import pytest

from trainrx.catalog.registers import RegisterContext, is_read, lives, names_at, refuses
from trainrx.knowledge.catalogs import read_registers
from trainrx.model.catalog import Register


def _of(argument: str, package: str) -> Register:
    found = (r for r in read_registers() if argument in r.arguments and r.package == package)
    return next(found)


def _place(version: str | None, framework: str = "ms-swift", **versions: str) -> RegisterContext:
    return RegisterContext(framework, version, versions)


@pytest.mark.parametrize(
    ("argument", "version", "value", "refused"),
    [
        ("model_type", "3.2.1", "qwen2_5", False),
        ("model_type", "3.2.1", "qwen2_5-7b-instruct", True),
        ("model_type", "2.6.1", "qwen2_5-7b-instruct", False),
        ("template", "3.2.1", "qwen9", True),
        ("template", "2.6.1", "AUTO", False),
        ("loss_scale", "4.6.0", "last_round+hermes", False),
        ("loss_scale", "4.6.0", "last_round+herms", True),
        ("reward_funcs", "4.6.0", "soft_overlong", False),
        ("reward_funcs", "3.1.1", "soft_overlong", True),
    ],
)
def test_a_name_is_refused_where_the_release_lacks_it(
    argument: str, version: str, value: str, *, refused: bool
) -> None:
    assert refuses([_of(argument, "ms-swift")], value, _place(version)) is refused


def test_a_name_that_one_of_several_releases_has_is_not_refused() -> None:
    register = _of("model_type", "ms-swift")

    assert not refuses([register], "qwen2_5-7b-instruct", _place(None))
    assert refuses([register], "qwen9", _place(None))


def test_a_beginning_stands_for_all_that_follows() -> None:
    register = _of("init_weights", "peft")
    place = _place("4.6.0")

    assert not refuses([register], "pissa_niter_16", place)
    assert refuses([register], "pisa", place)


def test_a_register_counts_only_at_releases_that_look_names_up() -> None:
    register = _of("callbacks", "ms-swift")

    assert is_read(register, _place("4.6.0")) is True
    assert is_read(register, _place("3.2.1")) is False
    assert is_read(register, _place(None)) is None


@pytest.mark.parametrize("version", ["99.0.0", "4.5.3.dev1"])
def test_a_release_nobody_has_read_may_know_more_names(version: str) -> None:
    assert is_read(_of("model_type", "ms-swift"), _place(version)) is None


def test_of_another_package_the_version_at_hand_decides() -> None:
    register = _of("fsdp", "transformers")

    assert is_read(register, _place("3.2.1", transformers="4.49.0")) is True
    assert is_read(register, _place("3.2.1", transformers="5.10.0")) is False


def test_where_a_name_lives_is_told_as_a_range() -> None:
    assert lives(_of("model_type", "ms-swift"), "qwen2_5-7b-instruct").endswith("<3.0.0")
    assert lives(_of("model_type", "ms-swift"), "qwen9") == ""


def test_beginnings_are_no_names_to_choose_from() -> None:
    found = names_at(_of("init_weights", "peft"), _place("4.6.0"))

    assert "gaussian" in found
    assert not [name for name in found if "*" in name]
