"""Which candidate a label speaks of, when several share the fix that worked."""

from __future__ import annotations

import pathlib
import sys
from typing import Any

import entries
from entries import vote

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "benchmarks"))
from fit.collect import concluded, explaining, pairs
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.model.result import Reason
from trainrx.reason.score import Scored


def scored(ident: str, score: float, support: float = 0.0) -> Scored:
    counted = (Reason(id="v", text="", weight=support, holds=True),) if support else ()
    cause = entries.cause(ident, [vote("v", 1.0, {"fact": "x", "eq": 1})], [])
    return Scored(
        cause=cause, prior=0.1, score=score, reasons=counted, supported=support > 0, counted=counted
    )


def test_of_causes_nothing_speaks_for_the_likeliest_explains() -> None:
    assert explaining([scored("a", -2.0), scored("b", -1.0), scored("c", -3.0)]) == {"b"}


def test_those_something_speaks_for_explain() -> None:
    found = [scored("likeliest", 1.0), scored("a", -1.0, 1.5), scored("b", -2.0, 2.0)]

    assert explaining(found) == {"a", "b"}


def test_a_weak_vote_of_the_surroundings_does_not_explain() -> None:
    assert explaining([scored("likeliest", 1.0), scored("weak", 0.0, 0.5)]) == {"likeliest"}


def test_a_case_no_candidate_of_which_holds_what_worked_has_no_explanation() -> None:
    assert explaining([]) == set()


def case(**more: Any) -> dict[str, Any]:
    told = {"id": "x", "framework": "trl", "observed": "training stops with an error", "fixes": []}
    return {**told, **more}


def test_the_log_of_a_case_is_read() -> None:
    done = concluded(case(log="torch.OutOfMemoryError: CUDA out of memory."), LoadedKnowledge())

    assert "cuda-oom" in {hits.symptom for hits in done.symptoms}


def test_a_case_whose_input_is_refused_is_named_and_left_out(capsys: Any) -> None:
    refused = case(cmd="import torch\n\ndef main():\n    pass\n", observed="")

    found = list(pairs([refused], LoadedKnowledge()))

    assert found == []
    assert "x: " in capsys.readouterr().err


def test_an_upgrade_counts_where_nobody_named_the_framework() -> None:
    fix = {"param": "editscore", "action": "upgrade", "value": "", "kind": "package"}
    told = case(framework="editscore", log="KeyError: 'lm_head'", observed="it stops", fixes=[fix])

    found = {pair.cause: pair for pair in pairs([told], LoadedKnowledge())}

    assert found["defect-of-this-release"].right is True
    assert not found["defect-of-this-release"].holds
