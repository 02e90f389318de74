from __future__ import annotations

import msgspec
import pytest

from trainrx.model.facts import Facts, fact
from trainrx.model.hardware import ModelShape, Tower
from trainrx.model.memory import Images, Length, Workload
from trainrx.prove.worst_case import at_worst, seen_scale, tower_attention

TOWER = Tower(depth=32, hidden=1280, heads=16, inter=5120, patch=14)
WORK = Workload(
    shape=ModelShape(id="vl", tower=TOWER, vision=True),
    length=Length(low=500.0, typical=1500.0, high=4000.0),
    images=Images(pixels=1_048_576.0, pixels_max=12_845_056.0),
    attention="sdpa",
)
CAPPED = msgspec.structs.replace(WORK, images=Images(pixels=602_112.0, pixels_max=602_112.0))


def test_an_image_without_a_limit_may_be_as_large_as_passes() -> None:
    worst = at_worst(WORK)

    assert worst.images is not None
    assert worst.images.pixels == 12_845_056.0
    assert worst.length.typical == 4000.0


def test_a_limit_that_holds_leaves_the_typical_job() -> None:
    assert at_worst(CAPPED) == CAPPED


def test_a_job_that_failed_met_its_longest_sample() -> None:
    assert at_worst(CAPPED, failed=True).length.typical == 4000.0


def test_scores_of_the_tower_grow_with_the_square_of_the_pixels() -> None:
    small, large = tower_attention(CAPPED), tower_attention(at_worst(WORK))

    assert small == pytest.approx(0.28, abs=0.01)
    assert large / small == pytest.approx((12_845_056 / 602_112) ** 2, rel=1e-6)


def test_flash_attention_keeps_no_scores() -> None:
    assert tower_attention(msgspec.structs.replace(WORK, attention="flash")) == 0.0


def test_a_failure_says_how_far_the_model_is_off() -> None:
    seen = Facts((fact("oom.asked_gib", 4.0), fact("oom.allocated_gib", 20.0)))

    assert seen_scale(seen, 16.0) == pytest.approx(1.5)


def test_one_request_beyond_the_card_says_nothing_of_the_rest() -> None:
    seen = Facts(
        (
            fact("oom.asked_gib", 910.0),
            fact("oom.allocated_gib", 20.0),
            fact("oom.card_gib", 80.0),
        )
    )

    assert seen_scale(seen, 16.0) == 1.0
