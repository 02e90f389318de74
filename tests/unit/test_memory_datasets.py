"""Published token statistics: every name finds one data set."""

from __future__ import annotations

import pytest

from trainrx.memory.lengths import find_dataset, published
from unit.workloads import knowledge


def test_every_name_and_alias_finds_its_own_entry() -> None:
    datasets = knowledge().datasets

    assert len(datasets) > 250
    for item in datasets:
        for name in (item.id, *item.aliases):
            assert find_dataset(name, datasets) is item, name


def test_statistics_add_up() -> None:
    for item in knowledge().datasets:
        assert 0 < item.mean <= (item.max or item.mean), item.id
        assert (item.min or 0) <= item.mean, item.id
        assert item.std >= 0, item.id


@pytest.mark.parametrize(
    ("name", "mean"),
    [
        ("swift/self-cognition", 58.9),
        ("HF::modelscope/self-cognition", 58.9),
        ("swift/self-cognition:qwen3#500", 58.9),
        ("AI-ModelScope/LaTeX_OCR:human_handwrite#20000", 117.6),
        ("alpaca-zh", 162.1),
    ],
)
def test_hubs_subsets_and_samples_do_not_count(name: str, mean: float) -> None:
    found = published(name, knowledge().datasets)

    assert found is not None
    assert found.mean == mean


def test_one_unknown_data_set_makes_the_mixture_unknown() -> None:
    assert published("alpaca-zh my-own.jsonl", knowledge().datasets) is None


def test_a_mixture_weighs_by_samples_and_keeps_the_longest() -> None:
    found = published("alpaca-zh#100 self-cognition#300", knowledge().datasets)

    assert found is not None
    assert found.mean == pytest.approx((162.1 + 3 * 53.6) / 4)
    assert found.max == 856
