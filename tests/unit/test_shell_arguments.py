"""What a script's own arguments leave open, and what they do not."""

from __future__ import annotations

import pytest

from trainrx.model.job import Script, Word
from trainrx.shell import read_script

_OPTIONS = (
    'while [[ $# -gt 0 ]]; do case $1 in\n--x) X="$2"; shift 2;;\n'
    "--y) Y=--flag; shift;;\nesac; done\n"
)


def last(text: str) -> tuple[Word, ...]:
    return read_script(text, "x.sh").commands[-1].words


def texts(text: str) -> list[str]:
    return [word.text for word in last(text)]


def why(script: Script) -> list[str]:
    return [item.reason for item in script.unread]


@pytest.mark.parametrize("before", ['X=""\n', "X=\n", "X=''\n", ""])
def test_an_option_without_a_default_is_unknown(before):
    script = read_script(f"{before}{_OPTIONS}run src/$X.py", "x.sh")

    (word,) = script.commands[-1].words[1:]
    assert (word.text, word.unknown) == ("src/$X.py", ("X",))
    assert why(script) == ["$X is an argument of the script or function"]


@pytest.mark.parametrize(
    "loop",
    [
        'while getopts "x:y" o; do case $o in\nx) X=$OPTARG;;\ny) Y=--flag;;\nesac; done\n',
        'for a in "$@"; do case $a in\n--x=*) X="${a#*=}";;\n--y) Y=--flag;;\nesac; done\n',
        "parse() {\n" + _OPTIONS + '}\nparse "$@"\n',
    ],
)
def test_every_kind_of_option_loop_leaves_its_values_open(loop):
    words = last(f"X=\nY=\nZ=3\n{loop}run $X $Y $Z")

    assert [(word.text, word.unknown) for word in words[1:]] == [("$X", ("X",)), ("3", ())]


def test_a_default_stands_where_arguments_may_change_it():
    assert texts(f"X=zero2\n{_OPTIONS}run $X") == ["run", "zero2"]
    assert texts(f"X=\n{_OPTIONS}run ${{X:-zero3}}") == ["run", "zero3"]


def test_a_switch_that_is_off_adds_nothing():
    assert texts(f'Y=""\n{_OPTIONS}run $Y a') == ["run", "a"]


def test_a_missing_option_is_no_reason_to_stop():
    text = f'A=\nX=\n{_OPTIONS}[ -z "$X" ] && exit 1\nif [ -n "$X" ]; then A="--x $X"; fi\nrun $A'

    assert texts(text) == ["run"]


@pytest.mark.parametrize(
    "test",
    [
        '[ "$OUT" == "" ]',
        '[ "$OUT" = "" ]',
        '[[ $OUT == "" ]]',
        '[ "x$OUT" = "x" ]',
        '[ -z "$OUT" ]',
        "[ -z $OUT ]",
    ],
)
def test_an_argument_kept_in_a_variable_is_empty_like_the_argument_itself(test):
    text = f"OUT=$1\nif {test}; then OUT=./output; fi\nrun $OUT"

    assert texts(text) == ["run", "./output"]


def test_an_argument_kept_in_a_variable_takes_a_default():
    assert texts("A=$1\nrun ${A:-8} ${A:+b}") == ["run", "8"]
    assert [word.unknown for word in last("A=$1\nrun ${A-8}")] == [(), ("1",)]


@pytest.mark.parametrize(
    "test",
    [
        '[ $OUT == "" ]',  # [ == "" ] is an error, which counts as false
        '[ "$OUT" == "a" ]',
        '[ "$OUT$(hostname)" == "" ]',
    ],
)
def test_a_comparison_that_bash_may_decide_otherwise_stays_open(test):
    text = f"OUT=$1\nif {test}; then OUT=a; fi\nrun $OUT"

    assert last(text)[1].unknown == ("OUT",)


@pytest.mark.parametrize("name", ["0", "HOME", "PWD"])
def test_what_every_shell_has_is_not_taken_as_empty(name):
    text = f'D=no\n[ -z "${name}" ] && D=yes\nrun ${{D}} "${{{name}:-x}}"'

    assert texts(text)[2] == f"${name}"
    assert texts(text)[1] != "yes"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("n=3\n! ((n)) && run a\nrun b", ["b"]), ("! ((0)) && run a", ["a"]), ("( (run a) )", ["a"])],
)
def test_arithmetic_behind_a_negation_is_no_subshell(text, expected):
    commands = read_script(text, "x.sh").commands

    assert [command.words[1].text for command in commands] == expected
