"""The arguments a message names, whatever stands in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.facts.refusals import named_by
from trainrx.model.facts import Fact

KINDS = (
    "remaining-argv",
    "hf-args-unused",
    "argparse-unrecognized",
    "argparse-invalid-choice",
    "option-unknown",
    "argument-text-unreadable",
    "model-key-refused",
    "hydra-override-error",
    "unexpected-keyword",
)
FIELDS = ("args", "program", "argument", "value", "choices", "option", "key", "model", "callee")


def seen(kind, **fields):
    return Fact(kind=f"symptom.{kind}", fields=tuple(fields.items()))


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        (seen("remaining-argv", args="['--a_b', '1', '2', '--lr=-1e-5', 'x y']"), 2),
        (seen("remaining-argv", args="['\\\\', ' ']"), 0),
        (seen("hf-args-unused", args="['one_key', 'two_key']"), 2),
        (seen("argparse-unrecognized", args="positional --beta -0.1"), 1),
        (seen("unexpected-keyword", callee="forward", keyword="x"), 0),
    ],
)
def test_each_flag_of_a_message_is_one_argument(fact, expected):
    assert len(list(named_by(fact))) == expected


def test_a_negative_number_is_a_value():
    found = next(named_by(seen("argparse-unrecognized", args="--beta -0.1")))

    assert (found.name, found.values) == ("beta", ("-0.1",))


def test_choices_that_were_cut_end_with_the_last_whole_one():
    fact = seen(
        "argparse-invalid-choice", argument="--dtype", value="'fp', ", choices="auto, half, flo"
    )

    assert next(named_by(fact)).choices == ("auto", "half")


@given(st.sampled_from(KINDS), st.dictionaries(st.sampled_from(FIELDS), st.text(max_size=80)))
def test_arbitrary_text_raises_nothing_and_names_what_could_be_a_name(kind, fields):
    for found in named_by(seen(kind, **fields)):
        assert found.name == found.name.strip()
