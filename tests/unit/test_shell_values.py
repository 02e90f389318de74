"""Single values: arithmetic, tests, commands whose output follows from their words."""

from __future__ import annotations

import pytest

from trainrx.shell import glob, read_script
from trainrx.shell.arithmetic import evaluate
from trainrx.shell.programs import printed


def count(expression: str, **variables: str) -> int | None:
    return evaluate(expression, variables.get, lambda _name, _value: None)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("", 0),
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("a > 2 || x", 1),
        ("a == 3 && a != 4", 1),
        ("(a < 9) + 1", 2),
        ("a++", 3),
        ("-7 / 2", -3),
        ("-7 % 3", -1),
        ("++a", 4),
        ("--a", 2),
        ("a -= 1", 2),
        ("b = 5", 5),
        ("1, 2", 2),
        ("+1 - -1", 2),
        ("neg + 1", -1),
    ],
)
def test_arithmetic_counts_as_bash_does(expression, expected):
    assert count(expression, a="3", neg="-2") == expected


@pytest.mark.parametrize(
    "expression",
    [
        *["1 / 0", "1 % 0", "b + 1", "(1", "1 +", "1 2", "1 ? 2", "08", "$", "w + 1", "2 ** -1"],
        *["b++", "40#1", "1 = 2", "2 ** 3", "1 << 2", "010", "2#11", "a ? 1 : 2"],
        *[
            "!a",
            "a++ + 1",
            "~0",
            "a & 1",
            "9223372036854775807 + 1",
            "a < 2 < 3",
            "-" * 100 + "1",
            "1+" * 2000 + "1",
        ],
    ],
)
def test_arithmetic_without_a_static_value_is_unknown(expression):
    assert count(expression, w="x+1", a="3") is None


def test_an_assignment_that_fails_leaves_the_variable_unknown():
    word = read_script("n=1\n((n=M+1))\nrun $n", "x.sh").commands[0].words[1]

    assert word.unknown == ("n",)


@pytest.mark.parametrize("step", ["n=$M", "n++, n=$M", "n += $M", "++n + $M", "n = M ? 1 : 2"])
def test_a_variable_set_to_something_unknown_is_unknown(step):
    word = read_script(f"n=1\n(({step}))\nrun $n", "x.sh").commands[0].words[1]

    assert word.unknown == ("n",)


def output(stages: list[list[str]]) -> str | None:
    text = None
    for words in stages:
        text = printed(words, text, {"hosts": "a\nb\n"}.get)
        if text is None:
            return None
    return None if text is None else text.rstrip("\n")


@pytest.mark.parametrize(
    ("stages", "expected"),
    [
        ([["echo", "a", "b"]], "a b"),
        ([["echo", "-e", "a"]], "a"),
        ([["printf", "%s", "a"]], "a"),
        ([["printf", "a"]], "a"),
        ([["basename", "--", "/a/b/"]], "b"),
        ([["basename", "b.sh", ".sh"]], "b"),
        ([["dirname", "b"]], "."),
        ([["dirname", "/b"]], "/"),
        ([["expr", "3", "*", "4"]], "12"),
        ([["expr", "7", "%", "4"]], "3"),
        ([["seq", "3"]], "1\n2\n3"),
        ([["seq", "2", "3"]], "2\n3"),
        ([["seq", "4", "-2", "0"]], "4\n2\n0"),
        ([["echo", "-n", "a"], ["wc", "-l"]], "0"),
        ([["echo", "a b"], ["awk", "{print NF}"]], "2"),
        ([["echo", "a,b"], ["awk", "-F", ",", "{print NF}"]], "2"),
        ([["printf", "%s-%d\\n", "a", "1", "b", "2"]], "a-1\nb-2"),
        ([["cat", "hosts"]], "a\nb"),
        ([["wc", "-l", "hosts"]], None),
        ([["cat", "hosts"], ["wc", "-l"]], "2"),
    ],
)
def test_output_of_simple_commands_is_worked_out(stages, expected):
    assert output(stages) == expected


@pytest.mark.parametrize(
    "stages",
    [
        [],
        [["hostname"]],
        [["echo", "a"], ["python", "x.py"]],
        [["tr", "a", "b"]],
        [["printf", "%5.2f", "1"]],
        [["printf", "%d", "x"]],
        [["cat", "missing"]],
        [["basename"]],
        [["dirname", "-x"]],
        [["expr", "a", "+", "1"]],
        [["expr", "1", "/", "0"]],
        [["seq", "1", "0", "5"]],
        [["seq", "100000"]],
        [["seq", "x"]],
    ],
)
def test_output_of_other_commands_is_unknown(stages):
    assert output(stages) is None


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("*.y[a]ml", "a.yaml", True),
        ("[!a-c]x", "dx", True),
        ("[^a-c]x", "ax", False),
        ("[[:digit:]]*", "7b", True),
        ("a?c", "abc", True),
        ("a\\*c", "a*c", True),
        ("a\\*c", "abc", False),
        ("[z-a]", "[z-a]", False),
        ("", "", True),
        ("*", "", True),
    ],
)
def test_globs_match_whole_texts(pattern, text, expected):
    assert glob.matches(pattern, text) is expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ('[ "$X" = 1 ]', "yes"),
        ("[[ $X != 1 ]]", "no"),
        ("[ 2 -ge 3 ]", "no"),
        ("test $X -eq 1", "yes"),
        ("[ $X -eq 1 -a 2 -gt 1 ]", "yes"),
        ("[ $X -eq 2 -o 2 -gt 1 ]", "yes"),
        ("[[ $X == 1 && ! -z $X ]]", "yes"),
        ("[[ $X == 2 && ( $X == 1 ) || $X == 1 ]]", "yes no"),
        ("! [ $X = 1 ]", "no"),
        ("[ $X = 1 ] && [ $X = 2 ]", "no"),
        ("[ $X = 2 ] || [ $X = 1 ]", "yes"),
        ("[ $X ]", "yes"),
        ('[ "" ]', "no"),
        ('[ -z "$UNSET" ]', "yes"),
        ("[ -n a$UNSET ]", "yes"),
        ("[[ abc == a*c ]]", "yes"),
        ('[[ abc == "a*c" ]]', "no"),
        ("(( X > 0 ))", "yes"),
        ("[ -f x ]", "yes no"),
        ("[ -f x ] && [ $X = 1 ]", "yes no"),
        ("[ -f x ] && [ $X = 2 ]", "no"),
        ('[ "$UNSET" = 1 ]', "yes no"),
        ("[ $X -eq abc ]", "yes no"),
        ("[[ $X =~ ^1 ]]", "yes no"),
        ("[[ -v X ]]", "yes no"),
        ("[ -z $(hostname) ]", "yes no"),
        ("grep -q x y", "grep yes no"),
        ("(( NODES > 1 ))", "yes no"),
    ],
)
def test_tests_are_decided_only_when_they_can_be(condition, expected):
    script = read_script(f"X=1\nif {condition}; then yes; else no; fi", "x.sh")

    assert " ".join(command.words[0].text for command in script.commands) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("${V/#a/x}", "${V/#a/x}"),
        ("${V//b/x}", "axc.axc"),
        ("${V/%c/x}", "${V/%c/x}"),
        ("${V/b}", "ac.abc"),
        ("${V:(-3)}", "abc"),
        ("${V:1:-2}", "bc.a"),
        ("${V,,}", "abc.abc"),
        ("${V^}", "Abc.abc"),
        ("${A[-1]}", "3"),
        ("${A[$I]}", "2"),
        ("${A[*]}", "1 2 3"),
        ("${A[9]:-none}", "none"),
        ("${E[@]:-none}", "none"),
        ("${U:?must be set}", "$U"),
        ("${V/[a]/x}", "${V/[a]/x}"),
        ("${V//[ab]/x}", "${V//[ab]/x}"),
        ("${V//?c*/x}", "${V//?c*/x}"),
        ("${V/\\./x}", "abcxabc"),
        ("${V@Q}", "${V@Q}"),
        ("${!U}", "${!U}"),
        ("${-}", "$-"),
    ],
)
def test_expansions_of_parameters(word, expected):
    script = read_script(f"V=abc.abc\nA=(1 2 3)\nI=1\nrun {word}", "x.sh")

    assert " ".join(item.text for item in script.commands[0].words[1:]) == expected


def test_a_test_without_its_end_ends_with_its_line():
    script = read_script("[[ 1 == \nrun b", "x.sh")

    assert [command.words[0].text for command in script.commands] == ["run"]
    assert script.unread[0].line == 1


def ran(text: str) -> list[list[str]]:
    return [[word.text for word in one.words] for one in read_script(text, "x.sh").commands]


def test_all_arguments_can_be_shifted_away() -> None:
    assert ran('set -- a b\nshift 2\nrun "$@" end\n') == [["run", "end"]]


def test_a_status_of_256_is_success() -> None:
    assert ran("f() { return 256; }\nf && run yes\n") == [["run", "yes"]]
    assert ran("f() { return 1; }\nf && run yes\n") == []
