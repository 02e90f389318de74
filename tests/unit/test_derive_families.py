from __future__ import annotations

import re

import pytest

from trainrx.derive.families import AUDIO, FAMILY, OMNI, VISION, family_of
from trainrx.kb.catalogs import read_old_names
from trainrx.kb.load import load

NAMES = {
    name.lower()
    for names in (
        *((shape.id, *shape.aliases) for shape in load(launches=True).models),
        *((item.name, item.ms, item.hf) for item in read_old_names()),
    )
    for name in names
}


def test_looking_for_words_first_changes_no_family() -> None:
    assert len(NAMES) > 500
    for name in NAMES:
        first = next((family for family, _, words in FAMILY if re.search(words, name)), None)
        assert family_of(name) == first, name


@pytest.mark.parametrize("pattern", [VISION, OMNI, AUDIO])
def test_looking_for_words_first_changes_no_answer(pattern: re.Pattern[str]) -> None:
    source = pattern._source[0]
    for name in NAMES:
        assert bool(pattern.search(name)) == bool(re.search(source, name)), name
