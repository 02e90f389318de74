"""How the benchmark over public scripts counts words."""

from __future__ import annotations

import pathlib

import pytest

from trainrx.shell import read_script

_BENCHMARKS = pathlib.Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def tokens(monkeypatch):
    monkeypatch.syspath_prepend(str(_BENCHMARKS))
    import launches_static  # only here its folder is on the path

    return launches_static.Tokens()


def test_words_are_counted_by_cause(tokens):
    text = (
        "if [ $1 = a ]; then O=--x; else O=; fi\n"
        "swift sft --a $2 --b $HOME/m --c $(date) --d $RANK --e $NAME $O --f <path>\n"
    )

    tokens.add(read_script(text, "x.sh"), "you+verl")

    counted = {cause: count for (_, cause), count in tokens.counts.items()}
    assert counted == {
        "static": 8,
        "argument": 1,
        "place": 1,
        "random": 1,
        "scheduler": 1,
        "env": 1,
        "listed": 1,
        "blank": 1,
    }


def test_a_command_that_a_loop_runs_counts_once_with_its_worst_round(tokens):
    text = "for x in 1 2 3; do\n  swift sft --a $x $A\n  A=$(date)\ndone\n"

    tokens.add(read_script(text, "x.sh"), "you+verl")

    assert (tokens.number(), tokens.number("static")) == (5, 4)


def test_a_word_with_one_unknown_piece_is_not_static(tokens):
    tokens.add(read_script("swift sft --output_dir out/$1-x\n", "x.sh"), "you+verl")

    assert (tokens.number(), tokens.number("static")) == (4, 3)


def test_the_table_names_the_sets_apart(tokens):
    tokens.add(read_script("swift sft --a 1\n", "x.sh"), "you+verl")
    tokens.add(read_script("swift sft --a $1\n", "x.sh"), "me+Pai-Megatron-Patch")

    rows = [line.split("%")[0].split() for line in tokens.table().splitlines()[-3:]]

    assert [row[-2:] for row in rows] == [["4", "100.0"], ["4", "100.0"], ["8", "87.5"]]
