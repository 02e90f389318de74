"""The parser of a program counts where it reads the command line."""

from __future__ import annotations

import pytest

from trainrx.launch.parsers.declared import declared_parser
from trainrx.launch.parsers.refusals import refusal
from trainrx.model.job import Word

MADE = "import argparse, sys\nparser = argparse.ArgumentParser()\n"
OPTION = MADE + 'parser.add_argument("--rate", type=float)\n'


def said(text: str, *words: str, unknown: str = "") -> str | None:
    parser = declared_parser(text, "train.py")
    if parser is None:
        return None
    given = [Word(text=w, line=1, unknown=("X",) if w == unknown else ()) for w in words]
    found = refusal(parser, given)
    return None if found is None else found.message


@pytest.mark.parametrize(
    "end",
    [
        "parser.parse_args()",
        "parser.parse_args(sys.argv[1:])",
        "words = sys.argv[1:]\nparser.parse_args(words)",
        "def read(words=None):\n    return parser.parse_args(words)\nread()",
        "def read(words):\n    return parser.parse_args(words)\nread(sys.argv[1:])",
        "def read(w):\n    parser.parse_args(w)\ndef main(w):\n    read(w)\nmain(sys.argv[1:])",
    ],
)
def test_a_parser_of_the_command_line_is_asked(end: str) -> None:
    assert said(OPTION + end, "--rate", "fast") == "argument --rate: invalid float value: 'fast'"


@pytest.mark.parametrize(
    "text",
    [
        OPTION,
        OPTION + 'parser.parse_args(["--rate", "1"])',
        OPTION + "parser.parse_args(read_words())",
        OPTION + "sys.argv.remove('--rate')\nparser.parse_args()",
        OPTION + "sys.argv = ['x']\nparser.parse_args()",
        OPTION + "parser.add_subparsers()\nparser.parse_args()",
        OPTION + "other = argparse.ArgumentParser()\nparser.parse_args()",
        OPTION + "parser.add_argument('--x', action=Own)\nparser.parse_args()",
    ],
)
def test_a_parser_that_is_not_understood_says_nothing(text: str) -> None:
    assert said(text, "--rate", "fast", "--unknown") is None


@pytest.mark.parametrize(
    "more",
    [
        "import deepspeed\nparser = deepspeed.add_config_arguments(parser)\n",
        "for name in names():\n    parser.add_argument(name)\n",
        "parser.add_argument('--x', **options())\n",
    ],
)
def test_of_a_parser_that_others_add_to_no_name_is_unknown(more: str) -> None:
    text = OPTION + more + "parser.parse_args()"

    assert said(text, "--unknown", "1") is None
    assert said(text, "--rate", "fast") is not None


@pytest.mark.parametrize(
    "words", [("--rate", "$X"), ("--rate=$X",), ("$X",), ("--rate", "1", "$X")]
)
def test_a_word_that_is_not_known_is_no_reason(words: tuple[str, ...]) -> None:
    unseen = next(word for word in words if "$" in word)

    assert said(OPTION + "parser.parse_args()", *words, unknown=unseen) is None
