from __future__ import annotations

import copy
import re

import pytest

from trainrx.model.pattern import late


def test_a_late_pattern_finds_what_the_pattern_finds() -> None:
    pattern = late(r"(\d+)gb", re.IGNORECASE)
    for _ in range(2):
        found = pattern.search("80GB")
        assert found is not None
        assert found[1] == "80"
    assert pattern.sub("", "a 80gb") == "a "
    assert pattern.pattern == r"(\d+)gb"


def test_a_pattern_that_is_none_is_told_when_it_is_tried() -> None:
    broken = late("(")
    with pytest.raises(re.error):
        broken.search("")


def test_a_late_pattern_can_be_copied() -> None:
    assert copy.deepcopy(late("a")).fullmatch("a")
