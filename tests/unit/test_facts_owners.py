"""Whose parser refused some names, where nothing else tells the framework."""

from __future__ import annotations

import pytest

from trainrx.facts.refusals import owner_facts
from trainrx.model.facts import Fact


def refused(args):
    return Fact(kind="symptom.hf-args-unused", fields=(("args", args),))


@pytest.mark.parametrize(
    ("args", "framework"),
    [
        ("['image_resolution', 'video_resolution']", ["llamafactory"]),
        ("['learning_rate']", []),
        ("['image_resolution', 'name_of_nobody']", []),
        ("['name_of_nobody']", []),
        ("[]", []),
    ],
)
def test_only_names_of_one_framework_tell_it(args, framework):
    found = owner_facts([refused(args)])

    assert [item.value for item in found] == framework


def test_another_symptom_tells_nothing():
    other = Fact(kind="symptom.remaining-argv", fields=(("args", "['image_resolution']"),))

    assert owner_facts([other]) == ()
