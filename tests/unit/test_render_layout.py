from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.render.layout import cells, cut, line_within, near_place, pad, wrap
from trainrx.sanitizer.controls import clean


@pytest.mark.parametrize(
    ("text", "width"),
    [("abc", 3), ("显存", 4), ("显存 OOM", 8), ("é", 1), ("e\u0301", 1), ("", 0), ("，", 2)],
)
def test_chinese_takes_two_cells_and_combining_marks_none(text, width):
    assert cells(text) == width


def test_chinese_breaks_between_characters_but_no_line_begins_with_a_mark():
    lines = wrap("显存不足，请减小批大小。", 8)

    assert lines == ["显存不", "足，请减", "小批大", "小。"]


def test_an_opening_bracket_does_not_end_a_line():
    assert wrap("显存占（高）", 8) == ["显存占", "（高）"]


def test_a_long_word_stays_whole_so_that_it_can_be_copied():
    assert wrap("see /a/very/long/path/name here", 12) == ["see", "/a/very/long/path/name", "here"]


def test_a_long_word_of_a_log_is_cut_to_the_width():
    assert wrap("see abcdefghijkl", 8, hard=True) == ["see abcd", "efghijkl"]


def test_a_long_path_is_cut_behind_a_slash():
    assert wrap("/opt/conda/lib/python3.10/site-packages/x.py", 30, hard=True) == [
        "/opt/conda/lib/python3.10/",
        "site-packages/x.py",
    ]
    assert wrap("a/" + "b" * 20, 16, hard=True) == ["a/" + "b" * 14, "b" * 6]


def test_a_quoted_command_is_not_broken():
    assert wrap("please run `pip freeze` now", 14) == ["please run", "`pip freeze`", "now"]


def test_a_lone_backtick_breaks_like_any_text():
    assert wrap("one ` two three", 9) == ["one ` two", "three"]


def test_what_is_cut_shows_that_something_is_missing():
    assert cut("abcdefgh", 6) == "abc..."
    assert cut("显存不足请注意", 9) == "显存不..."
    assert cut("abc", 6) == "abc"


def test_a_text_is_cut_at_the_end_of_a_word_but_a_long_word_within():
    assert cut("an image without a cap", 18) == "an image..."
    assert cut("an " + "x" * 60, 30) == "an " + "x" * 24 + "..."


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (
            "[rank3]:[E1123 16:02:10.083 ProcessGroupNCCL.cpp:632] [Rank 3] Watchdog caught it",
            "... Watchdog caught it",
        ),
        (
            "W0312 14:22:31.105000 4100 site-packages/torch/agent/api.py:897] Sending SIGTERM",
            "... Sending SIGTERM",
        ),
        (
            '  File "/opt/conda/lib/python3.10/site-packages/a/b.py", line 7, in forward',
            '  File ".../a/b.py", line 7, in forward',
        ),
        ("x" * 50, "x" * 37 + "..."),
        ("[INFO] short", "[INFO] short"),
    ],
)
def test_of_a_long_line_of_a_log_what_it_says_is_shown(line, shown):
    assert line_within(line, 40) == shown


def test_of_a_long_path_the_name_of_the_file_is_shown():
    assert near_place("run/train.log:8") == "run/train.log:8"
    assert near_place("/mnt/data/experiments/2025-09-01/run/train.log:8") == "train.log:8"


def test_padding_counts_cells():
    assert pad("显存", 6) == "显存  "


@pytest.mark.parametrize(
    ("dirty", "sound"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]8;;http://x\x07link\x1b]8;;\x07", "link"),
        ("a\tb\x00c", "a b c"),
        ("a\u202eb", "a b"),
        ("bad \udc80 byte", "bad \ufffd byte"),
        ("正常", "正常"),
    ],
)
def test_hidden_characters_are_removed(dirty, sound):
    assert clean(dirty) == sound


@given(st.text(max_size=400), st.integers(min_value=8, max_value=120))
def test_wrapping_loses_nothing_but_spaces(text, width):
    sound = clean(text)

    lines = wrap(sound, width)
    hard = wrap(sound, width, hard=True)

    assert "".join("".join(lines).split()) == "".join(sound.split())
    assert "".join("".join(hard).split()) == "".join(sound.split())
    assert max(cells(line) for line in hard) <= width


@pytest.mark.parametrize("piece", ["a", "`", "显", " ", "` ", "\x1b[", "\x1b]", "a\u0301"])
def test_wrapping_takes_linear_time(piece):
    start = time.perf_counter()

    wrap(clean(piece * 100_000), 80, hard=True)

    assert time.perf_counter() - start < 5
