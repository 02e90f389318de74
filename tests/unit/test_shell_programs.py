"""The programs that change text line by line, against the real ones."""

from __future__ import annotations

import shutil
import subprocess
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.shell import read_script
from trainrx.shell.programs import printed

_TEXT = "a,b:c d\nRANK 3 = x/y\n\n  model: Qwen/Qwen2.5  # note\n0,1,2,3\nab\tAB\tab\n"
_COMMANDS = [
    *(["tr", *words] for words in ([",", "\\n"], ["[:upper:]", "[:lower:]"], ["abc", "x"])),
    *(["tr", *words] for words in (["/", "\\\\"], ["-", "_"], ["ab", "xyz"], ["\\t", " "])),
    *(
        ["awk", *words]
        for words in (["{print NF}"], ["-F,", "{print NF}"], ["-F", ":", "{ print NF; }"])
    ),
    ["wc", "-l"],
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


@pytest.mark.parametrize(
    "words",
    [
        *(["sed", "s/a/b/"], ["grep", "a"], ["head", "-1"], ["tail", "-1"], ["cut", "-d,", "-f1"]),
        *(["awk", "{print $1}"], ["awk", "-F|", "{print NF}"], ["bc"], ["xargs"], ["wc", "-w"]),
        *(["tr", "-d", ","], ["tr", "a-c", "A-C"], ["tr", "[:print:]", "x"], ["tr", "a"]),
        *(["tr", "\\012", "A"], ["tr", "", "x"], ["wc", "-l", "hosts"], ["paste", "-sd,"]),
    ],
)
def test_what_is_not_understood_prints_something_unknown(words):
    assert printed(words, _TEXT, {}.get) is None


def test_a_script_that_reads_a_long_text_again_and_again_comes_to_an_end():
    text = "cat t.txt | tr w W | wc -l\n" * 4000
    began = time.perf_counter()

    script = read_script(text, "x.sh", files={"t.txt": "word " * 12_000}.get)

    assert any("more work" in item.reason for item in script.unread)
    assert time.perf_counter() - began < 3


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
