"""Stacks of jobs that were truly stuck (see `make/`), and of healthy ones: alone they say why."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
import yaml

from trainrx import api
from trainrx.model.result import Diagnosis

HERE = Path(__file__).parent
SITUATIONS = yaml.safe_load((HERE / "stacks.yaml").read_text(encoding="utf-8"))
STUCK = sorted(name for name, what in SITUATIONS.items() if what)
HEALTHY = sorted(set(SITUATIONS) - set(STUCK))
WORLD = {"rank-never-starts": 4}


@cache
def answer(name: str) -> Diagnosis:
    folder = str(HERE / "stacks" / name)
    return api.diagnose(folder, gpus=WORLD.get(name, 3))


def test_each_situation_has_its_dumps() -> None:
    assert sorted(path.name for path in (HERE / "stacks").iterdir()) == sorted(SITUATIONS)


@pytest.mark.parametrize("name", STUCK)
def test_the_rank_the_others_wait_for_and_its_place_are_found(name: str) -> None:
    wanted = SITUATIONS[name]

    ranks = answer(name).ranks

    assert ranks is not None
    assert list(ranks.culprits) == wanted["culprits"]
    assert list(ranks.missing) == wanted.get("missing", [])
    held = [one for one in ranks.places if one.rank in (ranks.culprits or range(9))]
    assert {one.id for one in held} == {wanted["state"]}
    assert {one.frame.split()[-1].rpartition(".")[2] for one in held} == {wanted["function"]}
    assert all(one.evidence[0].source for one in held)


@pytest.mark.parametrize("name", STUCK)
def test_the_cause_is_named_first(name: str) -> None:
    found = answer(name)

    assert [cause.id for cause in found.causes[:1]] == [SITUATIONS[name]["cause"]]


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_job_raises_no_alarm(name: str) -> None:
    found = answer(name)

    assert found.ranks is not None
    assert found.ranks.stuck is not True
    assert [item.id for item in found.symptoms] == []
    assert found.causes == ()
