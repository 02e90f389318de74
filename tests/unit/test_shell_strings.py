"""Mistakes in commands that a script keeps in a text and runs later."""

from __future__ import annotations

import time

import pytest

from trainrx.shell import read_script


def places(text: str) -> list[tuple[str, int, int | None]]:
    return [(item.id, item.line, item.column) for item in read_script(text, "x.sh").defects]


_LATER = ["{0}\n$C", "{0}\neval $C", '{0}\neval "$C"', "{0}\necho $C", '{0}\nbash -c "$C"']


@pytest.mark.parametrize("later", _LATER)
@pytest.mark.parametrize(
    ("end", "expected"),
    [
        ("\\ ", ("space-after-backslash", 2, 9)),
        ("\\\t \n", ("space-after-backslash", 2, 9)),
        ("\\  # see above", ("continuation-broken", 2, 12)),
        ("\\\n   # see above", ("continuation-broken", 3, 4)),
    ],
)
def test_a_mistake_in_a_command_kept_in_a_variable_is_reported_with_its_place(later, end, expected):
    text = later.format(f'C="swift sft \\\n  --a 1 {end}\n  $MORE \\\n  --b 2"')

    if end.endswith("\n"):
        text = text.replace(" \n\n", " \n")
    assert expected in places(text)
    assert len({line for _, line, _ in places(text)}) == 1


@pytest.mark.parametrize(
    "front",
    ["bash -c ", "ssh $host ", "srun bash -lc ", "sbatch --wrap=", "docker run x bash -c ", "A="],
)
@pytest.mark.parametrize("quote", ["'", '"'])
def test_a_mistake_in_a_command_given_as_a_word_is_reported(front, quote):
    text = f"{front}{quote}cd x && \\\n  torchrun a.py \\ \n  --b 2{quote}\n"

    assert ("space-after-backslash", 2, 17) in places(text)


def test_a_value_with_line_ends_in_it_does_not_hide_a_mistake():
    text = 'A="\n  --x 1 \\\n"\nC="deepspeed \\ \n  t.py \\\n  $A \n"\neval $C\n'

    assert [(name, line) for name, line, _ in places(text)] == [("space-after-backslash", 4)]


def test_the_flags_cut_off_in_a_text_are_named():
    (defect,) = read_script('C="a --x 1 \\ \n  --b 2 \\\n  --c"\n', "x.sh").defects

    assert "--b, --c" in defect.message


@pytest.mark.parametrize(
    "text",
    [
        'echo "usage: run.sh \\ \n  --model X"\n',
        'printf "%s" "a \\\n # b\n --c"\n',
        'echo "\n /\\ \n/  \\ \n|  |"\n',
        'LOGO="\n  /\\  \n /__\\ \n"\n',
        "C='a \\\n  --b 1 \\\n  --c'\neval \"$C\"\n",
        'C="a --tag \\#1 \\\n  --b"\n',
        'C="a \\\\ \n"\n',
    ],
)
def test_a_text_that_is_only_shown_or_right_has_no_mistake(text):
    assert places(text) == []


def test_each_mistake_is_reported_once_and_with_its_column():
    text = 'bash -c "a --x 1 \\ \n  --b 2 \\\n  --c"\n'

    assert places(text) == [("space-after-backslash", 1, 18), ("continuation-broken", 2, 3)]


def test_many_quoted_texts_take_no_time():
    hostile = 'echo "a \\ \n --b" ' * 4000

    began = time.perf_counter()
    read_script(hostile, "x.sh")

    assert time.perf_counter() - began < 3
