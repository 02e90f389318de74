from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import InvalidVersion, Version

from trainrx.versions.release import FIRST, Release, read_version

NAMED = (
    "0",
    "0.1",
    "1",
    "1.0",
    "1.0.0",
    "1.0.0.0",
    "1.10",
    "1.2",
    "1.2.0",
    "1.2.3",
    "01.2",
    "1.post1",
    "1.2.post0",
    "1.2.post3",
    "1.2.0.post3",
    "1.2.0.1",
)
OTHERS = (
    "1.2rc1",
    "1.2-1",
    "1.2post2",
    "1.2rc1.post1",
    "1.2.dev3",
    "1.2+cu124",
    "1!0.5",
    "v1.2",
    "1.2.3.dev0",
    "0.dev0",
)
POSTS = ("v1.2", "1.2-1", "1.2post2")
NUMBERS = st.lists(st.integers(0, 40), min_size=1, max_size=5)


def test_numbers_alone_are_plain_releases() -> None:
    assert all(isinstance(read_version(text), Release) for text in (*NAMED, *POSTS, " 1.2 "))
    assert all(isinstance(read_version(text), Version) for text in OTHERS if text not in POSTS)


@pytest.mark.parametrize("text", ["", "x", "1..2", "1.2.", "1.x", "1.postx", ".post1", "١.٢"])
def test_what_is_no_version_is_refused_as_packaging_does(text: str) -> None:
    with pytest.raises(InvalidVersion):
        Version(text)
    with pytest.raises(ValueError, match="version"):
        read_version(text)


@pytest.mark.parametrize(("one", "other"), list(product((*NAMED, *OTHERS), repeat=2)))
def test_all_compare_as_packaging_compares_them(one: str, other: str) -> None:
    ours, theirs = (read_version(one), read_version(other)), (Version(one), Version(other))

    for mixed in (ours, (ours[0], theirs[1]), (theirs[0], ours[1])):
        left, right = mixed
        assert (left < right, left <= right) == (theirs[0] < theirs[1], theirs[0] <= theirs[1])
        assert (left > right, left >= right) == (theirs[0] > theirs[1], theirs[0] >= theirs[1])
        assert (left == right, left != right) == (theirs[0] == theirs[1], theirs[0] != theirs[1])


@given(NUMBERS, NUMBERS)
def test_plain_releases_order_and_hash_as_packaging_has_them(a: list[int], b: list[int]) -> None:
    one, other = (".".join(map(str, numbers)) for numbers in (a, b))

    assert (read_version(one) < read_version(other)) == (Version(one) < Version(other))
    assert (hash(read_version(one)) == hash(read_version(other))) == (
        Version(one) == Version(other)
    )


@given(NUMBERS)
def test_a_plain_release_tells_what_packaging_tells(numbers: list[int]) -> None:
    text = ".".join(map(str, numbers))
    ours, theirs = read_version(text), Version(text)

    for name in ("release", "major", "public", "base_version", "epoch", "pre", "post", "dev"):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert (str(ours), ours.local, ours.is_prerelease) == (str(theirs), None, False)


@pytest.mark.parametrize("text", ["0", "0.0.1", "0.dev1", "0a1", "1!0"])
def test_nothing_is_before_the_first(text: str) -> None:
    assert read_version(text) > FIRST
    assert Version(text) > FIRST
    assert not read_version("0.dev0") > FIRST
    assert Version("0.dev0") == FIRST
