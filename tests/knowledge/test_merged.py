"""What was told twice is told once: the other name leads to the entry that is left."""

from __future__ import annotations

import pytest

from trainrx.entries.check import read_library
from trainrx.entries.check_causes import coinciding_causes
from trainrx.knowledge.load import find_entry
from trainrx.knowledge.places import shipped


@pytest.mark.parametrize(
    ("name", "ident"),
    [
        ("tied-weights-saved-as-safetensors", "ties-not-declared-at-save"),
        ("stored-quantised-and-quantised-again", "quantised-base-trained-whole"),
    ],
)
def test_the_name_of_a_merged_entry_still_leads_to_what_it_said(name: str, ident: str) -> None:
    entry, _ = find_entry(name)

    assert entry is not None
    assert entry.id == ident


def test_no_two_causes_have_the_same_symptoms_and_change_the_same() -> None:
    kb, rules = shipped()

    assert list(coinciding_causes(read_library([kb], [rules]).entries)) == []
