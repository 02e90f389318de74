from __future__ import annotations

import pytest

from trainrx.facts.all import derive, failure_facts, symptom_facts
from trainrx.knowledge.load import load
from trainrx.model.facts import Facts, fact
from trainrx.model.job import Hit, SymptomHits
from trainrx.model.parts import Condition
from trainrx.reason.conditions import holds


def hits(symptom: str, *found: Hit) -> SymptomHits:
    return SymptomHits(symptom=symptom, count=len(found), hits=found)


def hit(symptom: str, line: int, **more: object) -> Hit:
    return Hit(**{"symptom": symptom, "source": "train.log", "line": line, "text": "x", **more})


def test_the_stage_is_that_of_the_first_failure_not_of_its_echo() -> None:
    seen = [
        hits("child-failed-error", hit("child-failed-error", 3, phase="end")),
        hits("nccl-watchdog-timeout", hit("nccl-watchdog-timeout", 9, phase="save")),
        hits("cuda-oom", hit("cuda-oom", 7, phase="train")),
    ]

    (found,) = failure_facts(seen, load().symptoms)

    assert found.value == "train"
    assert found.origins[0].line == 7


def test_without_a_stage_nothing_is_said_of_it() -> None:
    assert failure_facts([hits("cuda-oom", hit("cuda-oom", 7))], load().symptoms) == ()


def test_lines_of_two_files_have_two_clocks() -> None:
    one = hit("cuda-oom", 7, at=7.0)
    other = hit("cuda-oom", 9, at=9.0, source="other.log")

    clocks = {fact.get("clock") for fact in symptom_facts([hits("cuda-oom", one, other)])}

    assert clocks == {"train.log", "other.log"}


def test_every_rank_is_kept_before_more_of_the_same() -> None:
    many = [hit("cuda-oom", line, rank=line // 100) for line in range(500)]

    ranks = [fact.get("rank") for fact in symptom_facts([hits("cuda-oom", *many)])]

    assert set(ranks) == {0, 1, 2, 3, 4}
    assert len(ranks) == 12


def test_a_release_told_by_its_first_numbers_decides_only_some_ranges() -> None:
    wanted = {"vllm": ("<0.8", "<0.7.2", ">=0.8"), "torch": ("<3",)}

    found = {
        (package, spec): holds(Condition(package=package, versions=spec), Facts(), {"vllm": "0.7"})
        for package, specs in wanted.items()
        for spec in specs
    }

    assert found == {
        ("vllm", "<0.8"): True,
        ("vllm", "<0.7.2"): None,
        ("vllm", ">=0.8"): False,
        ("torch", "<3"): None,
    }


def test_the_release_of_torch_decides_the_width_of_vision_scores() -> None:
    failed = (
        fact("model.name", "Qwen/Qwen2.5-VL-7B-Instruct"),
        fact("oom.asked_gib", 8.11),
        fact("oom.site", "vision-attention"),
    )

    with_release = derive(failed, load(), torch="2.8.0")
    without = derive(failed, load())

    assert with_release.number("oom.patches") == pytest.approx(11664, abs=4)
    assert without.text("oom.asked_is") == "vision-attention"
    assert "oom.patches" not in without
