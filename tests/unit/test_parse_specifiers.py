from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from trainrx.versions.specifiers import read_specifiers

number = st.integers(min_value=0, max_value=3).map(str)
release = st.lists(number, min_size=1, max_size=4).map(".".join)
suffix = st.sampled_from(["", "", "", "rc1", "a2", ".dev0", ".post1", "rc1.dev2", "+cu124", "+1.2"])
version = st.tuples(st.sampled_from(["", "", "", "1!"]), release, suffix).map("".join)
plain = st.tuples(st.sampled_from([">=", "<=", "==", "!=", "<", ">", "~=", ">= "]), version)
starred = st.tuples(st.sampled_from(["==", "!="]), release.map(lambda text: f"{text}.*"))
spec = st.lists(st.one_of(plain, plain, starred).map("".join), max_size=3).map(",".join)


def _expected(text: str) -> SpecifierSet | None:
    try:
        return SpecifierSet(text)
    except ValueError:
        return None


@given(spec, version)
def test_a_range_holds_what_packaging_says_it_holds(text: str, one: str) -> None:
    expected = _expected(text)
    found = read_specifiers(text)
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert found.contain(Version(one)) == expected.contains(one, prereleases=True)
        assert sorted(set(found.named)) == sorted({item.version for item in expected})


@given(spec, st.lists(version, max_size=8))
def test_those_among_many_are_the_ones_it_holds(text: str, many: list[str]) -> None:
    found = read_specifiers(text)
    ascending = sorted(map(Version, many))
    if found is not None:
        held = [found.contain(one) for one in ascending]
        bits = found.among(ascending)
        assert [bool(bits >> i & 1) for i in range(len(ascending))] == held
        assert bits < 1 << len(ascending)


@pytest.mark.parametrize("text", ["nonsense", ">=", "=>3", "3.0", ">=3.*", ">=1 <2"])
def test_what_is_no_range_is_told(text: str) -> None:
    assert read_specifiers(text) is None


@pytest.mark.parametrize("text", ["", " ", ",", " , "])
def test_an_empty_range_holds_everything(text: str) -> None:
    found = read_specifiers(text)
    assert found is not None
    assert found.contain(Version("1.0rc1"))
