"""The programs that change text line by line, against the real ones."""

from __future__ import annotations

import shutil
import subprocess
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.shell import read_script
from trainrx.shell.substitute import printed

_TEXT = "a,b:c d\nRANK 3 = x/y\n\n  model: Qwen/Qwen2.5  # note\n0,1,2,3\nab\tAB\tab\n"
_COMMANDS = [
    *(["tr", *words] for words in ([",", "\\n"], ["a-c", "A-C"], ["[:upper:]", "[:lower:]"])),
    *(["tr", *words] for words in (["-d", " ,"], ["-s", " "], ["-cd", "0-9"], ["-s", "a-z", "x"])),
    *(["tr", *words] for words in (["abc", "x"], ["[a-c]", "[x-z]"], ["/", "\\\\"])),
    *(["cut", *words] for words in (["-d,", "-f1"], ["-f2", "-d", ","], ["-d:", "-f2-"])),
    *(["cut", *words] for words in (["-d,", "-f-2"], ["-c2-4"], ["-c1"], ["-f2"], ["-f", "1-2"])),
    *(
        ["awk", word]
        for word in ("{print $1}", "{print $NF}", "{print NF}", "{print}", "{print $9}")
    ),
    *(["awk", word] for word in ("{ print $2, $1 }", "NR==2{print $3}", "/model:/ {print $2}")),
    *(
        ["awk", "-F,", "{print NF}"],
        ["awk", "-F", ":", "{print $2;}"],
        ["awk", "-F: ", "{print $2}"],
    ),
    *(
        ["sed", word]
        for word in ("s/a/b/", "s/a/b/g", "s|x/y|z|", "s/^a/_/", "s/b$/!/", "s/\\./-/g")
    ),
    *(["sed", word] for word in ("s/^[[:space:]]*//", "s/[[:space:]]*$//", "s/ //g", "s,/,:,")),
    ["sed", "-e", "s/a/b/g", "-e", "s/b/c/"],
    *(["grep", *words] for words in (["a"], ["-o", ","], ["-c", "a"], ["-v", "a"], ["-i", "rank"])),
    *(
        ["grep", *words]
        for words in (["^a"], ["3$"], ["-F", "model:"], ["-iv", "AB"], ["-E", "0,1"])
    ),
    ["grep", "model:[[:space:]]*Qwen"],
    *(["head", *words] for words in ([], ["-n", "2"], ["-1"])),
    *(["tail", *words] for words in ([], ["-n2"], ["-n", "+3"], ["-1"])),
    *(["wc", word] for word in ("-l", "-w", "-c")),
    ["paste", "-sd,"],
    ["paste", "-s", "-d", " ", "-"],
]
_LIST = sorted(_COMMANDS)


def by_program(words: list[str], text: str) -> str:
    found = shutil.which(words[0])
    if found is None:
        pytest.skip(f"no {words[0]} here")
    done = subprocess.run(
        [found, *words[1:]],
        input=text.encode(),
        capture_output=True,
        env={"LC_ALL": "C"},
        check=False,
    )
    assert not done.stderr
    return done.stdout.decode()


@pytest.mark.parametrize("words", _LIST, ids=" ".join)
@pytest.mark.parametrize("text", [_TEXT, _TEXT.rstrip("\n"), "x\n", "a,b"], ids=range(4))
def test_a_program_prints_what_the_real_one_prints(words, text):
    # $( ... ) takes line ends off, so that one at the end makes no difference.
    assert (printed(words, text, {}.get) or "").rstrip("\n") == by_program(words, text).rstrip("\n")


@given(
    numbers=st.lists(st.integers(-99, 99), min_size=1, max_size=5),
    signs=st.lists(st.sampled_from("+-*/%"), min_size=4, max_size=4),
)
def test_expr_works_out_what_the_real_one_does(numbers, signs):
    words = ["expr", str(numbers[0])]
    for sign, number in zip(signs, numbers[1:], strict=False):
        words += [sign, str(number)]

    found = printed(words, None, {}.get)

    done = subprocess.run(words, capture_output=True, check=False)
    assert (found or "") == done.stdout.decode()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["seq", "-s", ",", "0", "3"], "0,1,2,3\n"),
        (["seq", "-s,", "2"], "1,2\n"),
        (["expr", "32", "/", "8", "/", "2"], "2\n"),
        (["expr", "010", "+", "1"], "11\n"),
        (["expr", "1", "+"], None),
        (["expr", "+", "1"], None),
    ],
)
def test_a_source_of_numbers_is_worked_out(words, expected):
    assert printed(words, None, {}.get) == expected


@pytest.mark.parametrize(("text", "expected"), [("2*3+4\n", "10"), ("-7/2", "-3"), ("1/0", None)])
def test_bc_works_with_whole_numbers(text, expected):
    found = printed(["bc"], text, {}.get)

    assert (found and found.rstrip("\n")) == expected


@pytest.mark.parametrize(
    "words",
    [
        ["sed", "s/a.b/c/"],
        ["sed", "s/a/[&]/"],
        ["sed", "-i", "s/a/b/"],
        ["sed", "s/a/b/; s/c/d/"],
        ["sed", "s/[[:space:]]*/x/g"],
        ["sed", "s/[[:space:]]*[[:space:]]*x//"],
        ["grep", "-m1", "a"],
        ["grep", "[a-z]"],
        ["grep", "-ov", "a"],
        ["awk", "BEGIN{print 1}"],
        ["awk", "-F|", "{print $1}"],
        ["tr", "-d", "[:print:]"],
        ["tr", "a"],
        ["cut", "-f0"],
        ["cut", "-d,", "-c1"],
        ["paste", "-d,"],
    ],
)
def test_what_is_not_understood_prints_something_unknown(words):
    assert printed(words, _TEXT, {}.get) is None


@pytest.mark.parametrize(
    "program", ["s/[[:space:]]*$//", "s/[[:space:]]*y//", "s/x[[:space:]]*y//"]
)
def test_a_pattern_with_blanks_takes_no_time_on_a_hostile_text(program):
    text = " " * 60_000 + "x" + " " * 60_000 + "x"
    began = time.perf_counter()

    assert printed(["sed", program], text, {}.get) == text
    assert time.perf_counter() - began < 0.5


def test_a_script_that_reads_a_long_text_again_and_again_comes_to_an_end():
    text = "cat t.txt | tr a-z A-Z | wc -w\n" * 4000
    began = time.perf_counter()

    script = read_script(text, "x.sh", files={"t.txt": "word " * 12_000}.get)

    assert any("more work" in item.reason for item in script.unread)
    assert time.perf_counter() - began < 3


def test_values_of_a_file_at_hand_are_looked_up():
    text = "A=$(grep 'steps:' c.yaml | head -n 1 | awk '{print $2}')\nrun --gas $A\n"

    script = read_script(text, "x.sh", files={"c.yaml": "lr: 1\nsteps: 8  # of 16\n"}.get)

    assert [word.text for word in script.commands[-1].words] == ["run", "--gas", "8"]


@pytest.mark.parametrize(
    ("text", "source", "expected"),
    [
        ('run $(basename "$0" .sh)', "a/train.sh", "train"),
        ('run $(basename "${BASH_SOURCE[0]}")', "a/train.sh", "train.sh"),
        ("run x-$(basename $0)", "pasted", "x-$(basename $0)"),
        ('#SBATCH -N 2\nrun $(basename "$0" .sh)', "a/train.sh", '$(basename "$0" .sh)'),
    ],
)
def test_a_script_knows_its_own_name_unless_a_copy_of_it_runs(text, source, expected):
    (command,) = read_script(text, source).commands

    assert command.words[1].text == expected
