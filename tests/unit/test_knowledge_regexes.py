from __future__ import annotations

import time

import pytest

from trainrx.knowledge.regexes import slowness, unbounded

ENDLESS = [r"x (?:a+)+$", r"x (?:\w+\s*)*y", r"x(?:[ab]*c?)*y", r"\s+x", r"(x)\1"]
SLOW = [
    *(r"x(?:a|a)*b", r"x\s*\s*y", r"\d+%\|", r"a.*b", r"[\w.]+@\w", r"x\w*\d*z", r"x.*,.*;"),
    *(r"(?:x*)*y", r"x(?:a+)+$"),
]
LINEAR = [
    *(r"\d{1,3}%\|.{0,80}\|", r'"[^"]*"', r"loss: \d+", r"^\s*x", r"a{1,80}b", "plain", r"x.*"),
    r"Tried to allocate (?P<asked>[\d.]+ (?:[KMGT]iB|bytes))\. GPU (?P<gpu>\d+)",
]


@pytest.mark.parametrize("regex", ENDLESS)
def test_repeats_within_repeats_and_back_references_are_found_in_the_syntax(regex: str) -> None:
    assert unbounded(regex)


@pytest.mark.parametrize("regex", SLOW)
def test_what_grows_faster_than_the_text_is_measured(regex: str) -> None:
    start = time.process_time()

    said = slowness(regex)

    assert "characters of" in said
    assert time.process_time() - start < 4


@pytest.mark.parametrize("regex", LINEAR)
def test_what_is_linear_is_not_complained_of(regex: str) -> None:
    assert slowness(regex) == ""


def test_what_is_only_matched_at_the_start_may_begin_with_a_repeat() -> None:
    assert slowness(r"\s*x")
    assert not slowness(r"\s*x", anchored=True)
