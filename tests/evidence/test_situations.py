"""Jobs that were truly stuck or dead (see `make/`), and healthy ones: what they left says why."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from trainrx import api
from trainrx.model.result import Diagnosis

HERE = Path(__file__).parent
SITUATIONS: dict[str, dict[str, Any]] = yaml.safe_load(
    (HERE / "situations.yaml").read_text(encoding="utf-8")
)
TROUBLED = sorted(name for name, what in SITUATIONS.items() if what)
HEALTHY = sorted(set(SITUATIONS) - set(TROUBLED))
BY_STACKS = sorted(name for name in TROUBLED if "stacks" in SITUATIONS[name].get("told_by", ()))
KINDS = ("launch", "logs", "stacks", "recorder")
MOST_WRONG, MOST_CAUSES_WRONG = 0.05, 0.05
"""Shares of the jobs of which the ranks, or the cause, may be named wrongly."""


@cache
def answer(name: str, *kinds: str) -> Diagnosis:
    folders = [HERE / kind / name for kind in kinds]
    there = [str(folder) for folder in folders if folder.exists()]
    return api.diagnose(there, gpus=SITUATIONS[name].get("world", 3))


def is_right(name: str, found: Diagnosis) -> bool:
    wanted, ranks = SITUATIONS[name], found.ranks
    named = set() if ranks is None else {*ranks.culprits, *ranks.missing}
    return named == {*wanted["culprits"], *wanted.get("missing", ())}


def test_each_situation_left_something() -> None:
    left = {path.name for kind in KINDS for path in (HERE / kind).iterdir()}

    assert len(SITUATIONS) >= 44
    assert len(HEALTHY) >= 6
    assert set(SITUATIONS) <= left


def test_the_rank_the_others_wait_for_or_that_failed_first_is_named() -> None:
    wrong = [name for name in TROUBLED if not is_right(name, answer(name, *KINDS))]

    assert len(wrong) <= MOST_WRONG * len(TROUBLED), wrong


def test_the_cause_comes_first() -> None:
    wrong = []
    for name in TROUBLED:
        wanted = {SITUATIONS[name].get("cause"), *SITUATIONS[name].get("or", ())}
        first = next((cause.id for cause in answer(name, *KINDS).causes), None)
        if first not in wanted:
            wrong.append(name)

    assert len(wrong) <= MOST_CAUSES_WRONG * len(TROUBLED), wrong


@pytest.mark.parametrize("name", BY_STACKS)
def test_stacks_alone_tell_the_rank_and_its_place(name: str) -> None:
    wanted = SITUATIONS[name]

    ranks = answer(name, "stacks").ranks

    assert ranks is not None
    assert list(ranks.culprits) == wanted["culprits"]
    assert list(ranks.missing) == wanted.get("missing", [])
    held = [one for one in ranks.places if one.rank in (ranks.culprits or range(9))]
    assert {one.id for one in held} == {wanted["state"]}
    assert {one.frame.split()[-1].rpartition(".")[2] for one in held} == {wanted["function"]}
    assert all(one.evidence[0].source for one in held)


@pytest.mark.parametrize("name", BY_STACKS)
def test_stacks_alone_tell_the_cause(name: str) -> None:
    found = answer(name, "stacks")

    assert [cause.id for cause in found.causes[:1]] == [SITUATIONS[name]["cause"]]


@pytest.mark.parametrize(
    "name", sorted(name for name in TROUBLED if "first_failed" in SITUATIONS[name])
)
def test_the_rank_that_failed_first_is_no_victim(name: str) -> None:
    ranks = answer(name, *KINDS).ranks

    assert ranks is not None
    assert ranks.first_failed == SITUATIONS[name]["first_failed"]


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        (name, kinds)
        for name in HEALTHY
        for kinds in (KINDS, *((kind,) for kind in KINDS[1:] if (HERE / kind / name).exists()))
    ],
)
def test_a_healthy_job_raises_no_alarm(name: str, kinds: tuple[str, ...]) -> None:
    found = answer(name, *kinds)

    assert found.ranks is None or found.ranks.stuck is not True
    assert [item.id for item in found.symptoms] == []
    assert found.causes == ()
