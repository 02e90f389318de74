"""Spellings of kb/params and the catalogs of their packages agree, release by release."""

from __future__ import annotations

import msgspec

from trainrx.catalog.catalog import plain
from trainrx.frameworks.common.task import TRAINING
from trainrx.knowledge.load import load
from trainrx.model.parts import Spelling
from verify.params import Book, names_of
from verify.spellings import COMMANDS, EFFECTIVE, IDLE, OTHER_TASKS, OTHERWISE, UNLISTED

PARAMS = load().params
BOOK = Book(PARAMS)
RANK = PARAMS["tuner.rank"]


def test_names_ranges_commands_and_defaults_are_those_of_the_releases() -> None:
    wrong = [
        f"{param.id}: {line}"
        for param in PARAMS.values()
        for package in COMMANDS
        for line in BOOK.problems(param, package)
    ]

    assert wrong == []


def said(package: str, *spelled: Spelling) -> list[str]:
    param = msgspec.structs.replace(RANK, spelled={package: spelled})
    book = Book({param.id: param})
    return [line for line in book.problems(param, package) if " infer " not in line]


def test_a_range_that_is_one_release_off_is_named_with_that_release() -> None:
    early = Spelling(versions=">=0.7.10", arg="lora_r")
    late = Spelling(versions=">=0.8", arg="lora_r")

    assert said("trl", early) == [
        "lora_r (trl >=0.7.10) is not taken: no command: 0.7.10..0.7.10 (1 releases)"
    ]
    assert "trl sft takes lora_r, unspelled: 0.7.11..0.7.11 (1 releases)" in said("trl", late)


def test_another_default_and_an_unknown_alias_are_wrong() -> None:
    spelling = Spelling(versions=">=0.8", arg="lora_r", also=("lora_radius",), default=8)

    found = said("trl", spelling)

    assert "lora_r (trl >=0.8): lora_radius is taken by no release of the range" in found
    assert "sft 0.8.0 lora_r: the default is 16, not 8" in found


def test_every_exception_is_used() -> None:
    spelled = [
        (param, package, spelling)
        for param in PARAMS.values()
        for package in COMMANDS
        for spelling in param.spelled.get(package, ())
        if spelling.arg
    ]
    names = {(package, name) for _, package, one in spelled for name in names_of(one)}
    ranges = {(param.id, package, one.versions) for param, package, one in spelled}

    assert {(package, plain(name)) for package, name in UNLISTED} <= names
    assert set(EFFECTIVE) <= ranges
    assert OTHERWISE.keys() <= without_exceptions()
    assert all(command in COMMANDS[package] for package, command in IDLE)


def without_exceptions() -> set[tuple[str, str, str]]:
    """Give parameter, package and name of all that is taken and not spelled."""
    strict = Book(PARAMS, {})
    return {
        (name, package, line.partition(" takes ")[2].partition(",")[0])
        for name, package, _ in OTHERWISE
        for line in strict.left_out(PARAMS[name], package)
    }


def test_the_tasks_that_train_are_not_among_the_others() -> None:
    assert not TRAINING & OTHER_TASKS
