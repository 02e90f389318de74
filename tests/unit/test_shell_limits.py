"""Scripts are data from strangers: bounded work, no crash."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.launch.find import find_launches, looks_like_launch
from trainrx.shell import read_script

_PIECES = [
    "if",
    "then",
    "fi",
    "for",
    "in",
    "do",
    "done",
    "case",
    "esac",
    "while",
    "{",
    "}",
    "(",
    ")",
    "((",
    "))",
    '"',
    "'",
    "`",
    "$(",
    "${",
    "${x:-",
    "${x##*",
    "$((",
    "}",
    "\n",
    ";",
    ";;",
    "&",
    "|",
    "&&",
    "=",
    "x=1",
    "x+=(",
    "[[",
    "]]",
    "[ -z",
    "]",
    "function",
    "f()",
    "f",
    "<<E\n",
    "E\n",
    "<",
    ">",
    "\\\n",
    "\\ \n",
    "export",
    "eval",
    "bash -c",
    "swift",
    "sft",
    "torchrun",
    "python",
    "-m",
    "--lr",
    "1",
    "$x",
    "$1",
    "srun",
    "nohup",
    "{1..9}",
    "{a,b}",
    "#",
    "“",
    "–a",
    "\r\n",
    "set --",
    "read x",
]


def whole(text: str) -> None:
    script = read_script(text, "x.sh")
    find_launches(script)
    looks_like_launch(text)


@given(st.text())
def test_any_text_is_read(text):
    whole(text)


@given(st.lists(st.sampled_from(_PIECES), max_size=60), st.sampled_from(["", " "]))
def test_any_heap_of_shell_signs_is_read(pieces, between):
    whole(between.join(pieces))


@pytest.mark.parametrize(
    "piece",
    [
        "(",
        "{ ",
        "$(",
        "${",
        '"$(',
        "((",
        "$((",
        "a | ",
        "a && ",
        "<<E\n",
        "if x; then\n",
        "case x in\n",
        "f() ",
        "[[ ",
        "x=( ",
        "x=(1 \n",
        ")",
        "x=$x$x\n",
        "{a,",
        "\\ \n",
        "--a 1\n",
        "nohup ",
        "srun -n 1 ",
        "eval ",
        "f(){ f; f; }; f\n",
        '"a\n--x\n',
        "a@b ",
        "<a b ",
        "for i in {1..16}; do\n",
        "'",
        "`",
    ],
)
def test_a_megabyte_of_anything_takes_bounded_work(piece):
    text = (piece * (1_000_000 // len(piece) + 1))[:1_000_000]

    start = time.process_time()
    whole(text)
    taken = time.process_time() - start

    # At most 0.6 s when measured alone; the margin is for coverage and slow machines.
    assert taken < 3


def test_a_huge_script_is_read_to_the_limit_and_says_so():
    script = read_script("swift sft --lr 1\n" + "# filler\n" * 50_000, "x.sh")

    assert script.commands[0].words[0].text == "swift"
    assert script.unread[0].reason == "only the first 128 KiB are read"


@pytest.mark.parametrize(
    "text",
    [
        "( " * 500,
        "if a; then\n" * 500,
        "run " + "$((" * 500,
        "run " + "${a:-" * 500,
        "x=aaaaaaaaaa\n" + "x=$x$x\n" * 40,
        "f() { f; }\nf\n",
        "for a in {1..16}; do\n" * 6 + "run\n" + "done\n" * 6,
    ],
)
def test_runaway_scripts_are_stopped_and_say_so(text):
    script = read_script("run first\n" + text, "x.sh")

    assert script.commands[0].words[1].text == "first"
    assert script.unread


def test_a_glob_that_would_backtrack_is_matched_at_once():
    start = time.process_time()
    read_script("x=" + "a" * 5000 + "\nrun ${x##" + "*a" * 50 + "b}\n", "x.sh")

    assert time.process_time() - start < 2
