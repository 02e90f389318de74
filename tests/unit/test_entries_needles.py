from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.entries.check_signs import pattern_problems
from trainrx.entries.patterns import is_needed
from trainrx.knowledge.load import load
from trainrx.model.knowledge import LinePattern, Samples

DEAD = LinePattern(needle="fail", regex=r"\bit (?:fails|dies)\b")


@pytest.mark.parametrize(
    ("needle", "regex"),
    [
        ("wrong", r"it went (?P<how>very )?wrong: \d+"),
        ("exitcode: -9", r"failed \(exitcode: (?P<code>-9)\)"),
        ("hang", r"(?i)\bHANGs?\b"),
        ("aa", r"(?:ab|aa)a{3}"),
        ("abab", r"(?:ab){2,5}"),
        (("dies", "stops"), r"\b(?:dies|stops)\b"),
        (("hang", "ung"), r"hangs?|hung"),
        ("map", r"[m]ap: .{0,40}$"),
    ],
)
def test_a_needle_on_every_way_is_needed(needle: str | tuple[str, ...], regex: str) -> None:
    assert is_needed(LinePattern(needle=needle, regex=regex))


@pytest.mark.parametrize(
    ("needle", "regex"),
    [
        ("fail", r"\b(?:fails|dies)\b"),
        ("hang", r"hangs?|hung"),
        ("hang", r"HANG"),
        ("wrong", r"it went (?:wrong)?"),
        ("abab", r"(?:ab){1,5}"),
        (("dies", "stops"), r"\b(?:dies|stops|ends)\b"),
        ("map", r"[Mm]ap: "),
        ("aab", r"a{1,3}b"),
    ],
)
def test_a_way_around_the_needle_is_found(needle: str | tuple[str, ...], regex: str) -> None:
    assert not is_needed(LinePattern(needle=needle, regex=regex))


@given(st.text("ab", min_size=1, max_size=4), st.from_regex(r"\A[ab](?:[ab|]|[ab]\?){0,4}[ab]\Z"))
def test_what_is_needed_stands_in_every_match(needle: str, regex: str) -> None:
    """All texts over two letters that such a regex can match are tried."""
    texts = ("".join(letters) for size in range(1, 7) for letters in product("ab", repeat=size))
    around = any(re.fullmatch(regex, text) and needle not in text for text in texts)

    assert is_needed(LinePattern(needle=needle, regex=regex)) is not around


@pytest.mark.parametrize(("short", "level"), [(True, "error"), (False, "warning")])
def test_the_check_tells_of_it(short: bool, level: str) -> None:
    samples = Samples(match=("it fails", "now it fails"), near_miss=("it", "is"))

    (found,) = pattern_problems([DEAD], samples, short=short)

    assert (found.level, found.key) == (level, "patterns[0].needle")


def test_observations_have_no_way_around_their_needles() -> None:
    silent = [
        f"{entry.id}[{index}]"
        for entry in load().symptoms.values()
        if entry.role == "observation"
        for index, pattern in enumerate(entry.patterns)
        if not is_needed(pattern)
    ]

    assert silent == []
